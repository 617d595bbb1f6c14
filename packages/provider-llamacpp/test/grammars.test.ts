import {
  deepseek,
  deepseek31,
  deepseekDsml,
  gemma4,
  glm,
  harmony,
  hermes,
  kimi,
  llama3,
  mistral,
  mistralArgs,
  promptedTags,
  qwenCoder,
  signatures,
} from "@shedkit/text-tools";
import type { ToolFunctionSpec } from "@shedkit/types";
import { getLlama, type Llama } from "node-llama-cpp";
import { afterAll, beforeAll, expect, it } from "vitest";

let llama: Llama;
beforeAll(async () => {
  llama = await getLlama({ gpu: false, build: "never", logger: () => undefined });
});
afterAll(() => llama.dispose());

const node = { type: "object", properties: { children: { type: "array", items: { $ref: "#/$defs/node" } } } };
const tools: ToolFunctionSpec[] = [
  {
    name: "every.kind-of_it",
    description: "",
    parameters: {
      $defs: { node },
      type: "object",
      properties: {
        text: { type: "string", minLength: 1, maxLength: 200 },
        'odd "key"': { type: "string" },
        integer: { type: "integer", minimum: -20, maximum: 300 },
        number: { type: "number" },
        choice: { enum: ["a", 'b "c"', "ü 世", 3, null] },
        list: { type: "array", items: { type: "boolean" }, maxItems: 5 },
        tree: { $ref: "#/$defs/node" },
        any: {},
        either: { anyOf: [{ type: "string" }, { type: "null" }] },
      },
      required: ["text", "any"],
    },
  },
  { name: "none", description: "", parameters: { type: "object", properties: {} } },
];

const families = [
  deepseek,
  deepseek31,
  deepseekDsml,
  gemma4,
  glm,
  harmony,
  hermes,
  kimi,
  llama3,
  mistral,
  mistralArgs,
  promptedTags,
  qwenCoder,
  signatures,
];

it.each(families.map((family) => ({ id: family.id, family })))(
  "llama.cpp takes the grammar of $id",
  async ({ family }) => {
    const grammar = family.grammar(tools) ?? "";
    expect((await llama.createGrammar({ grammar })).grammar).toBe(grammar);
    const answer = family.answerGrammar(tools[0]?.parameters ?? {}, true);
    expect((await llama.createGrammar({ grammar: answer })).grammar).toBe(answer);
  },
);
