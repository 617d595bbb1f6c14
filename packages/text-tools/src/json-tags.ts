import type { ToolFunctionSpec } from "@shedkit/types";
import type { TextToolFamily } from "./family.js";
import { argumentsText, type FamilyStyle, family } from "./family-style.js";
import { JsonCallReader } from "./json-call-reader.js";
import { jsonCallGrammar } from "./json-calls.js";

const OPEN = "<tool_call>";
const CLOSE = "</tool_call>";

const style: Omit<FamilyStyle, "id"> = {
  format: () => ({
    calls: [{ open: OPEN, reader: () => new JsonCallReader(OPEN, CLOSE) }],
    thinking: { open: "<think>", close: "</think>" },
  }),
  grammar: (tools, begun) => jsonCallGrammar(tools, begun?.text, { close: ` ws "${CLOSE}"` }),
  mark: OPEN,
  example: `${OPEN}\n{"name": "the tool's name", "arguments": {"its": "arguments"}}\n${CLOSE}`,
};

/**
 * Hermes, Qwen 2.5 and Qwen 3: `<tool_call>{"name", "arguments"}</tool_call>`, several in a row, results in
 * `<tool_response>` tags; tools are told as JSON schemas.
 */
export const hermes: TextToolFamily = family({ ...style, id: "hermes" });

/**
 * The same calls, with tools told by their signatures alone, `read(path)`: very small models. Parameters that need not
 * be given are not told, since such a model gives every parameter that it sees. Of tools that were found together, all
 * but the first three are told by their names alone: more would lead such a model astray.
 */
export const signatures: TextToolFamily = family({
  ...style,
  id: "signatures",
  declare(tools) {
    const lines = tools
      .slice(0, MOST_DESCRIBED)
      .map((tool) => `${tool.name}(${required(tool).join(", ")}): ${firstSentence(tool.description)}`);
    const others = tools.slice(MOST_DESCRIBED).map(({ name }) => name);
    return [...lines, ...(others.length > 0 ? [others.join(", ")] : [])].map((line) => `- ${line}`).join("\n");
  },
  spec: (tool) => ({ ...tool, parameters: requiredOnly(tool) }),
});

const MOST_DESCRIBED = 3;

/** For templates that know nothing of tools: the format of `hermes`, described in the system message. */
export const promptedTags: TextToolFamily = family({ ...style, id: "prompted", plain: true });

const FENCE = "```";
const FENCES = [`${FENCE}tool_call`, `${FENCE}tool_code`] as const;

/**
 * Gemma 2 and 3, whose templates know nothing of tools: calls are JSON in a fenced block, the way they write code.
 * `<tool_call>` tags are read as well.
 */
export const gemma3: TextToolFamily = family({
  id: "gemma-3",
  plain: true,
  format: () => ({
    calls: [
      ...FENCES.map((open) => ({ open, reader: () => new JsonCallReader(open, FENCE) })),
      { open: OPEN, reader: () => new JsonCallReader(OPEN, CLOSE) },
    ],
  }),
  grammar: (tools, begun) => {
    const close = begun?.mark === OPEN ? CLOSE : FENCE;
    return jsonCallGrammar(tools, begun?.text, { close: ` ws "${close}"` });
  },
  mark: FENCES[0],
  write: ({ function: { name, arguments: args } }) =>
    `${FENCES[0]}\n{"name": ${JSON.stringify(name)}, "arguments": ${argumentsText(args)}}\n${FENCE}`,
  example: `${FENCES[0]}\n{"name": "the tool's name", "arguments": {"its": "arguments"}}\n${FENCE}`,
});

interface Parameters {
  properties?: { [name: string]: object };
  required?: readonly string[];
}

function required(tool: ToolFunctionSpec): readonly string[] {
  return (tool.parameters as Parameters).required ?? [];
}

function requiredOnly(tool: ToolFunctionSpec): object {
  const { properties = {} } = tool.parameters as Parameters;
  const wanted = required(tool);
  return {
    ...tool.parameters,
    properties: Object.fromEntries(Object.entries(properties).filter(([name]) => wanted.includes(name))),
  };
}

function firstSentence(text: string): string {
  const line = text.trim().split("\n", 1)[0] ?? "";
  return /^.*?[.;:](?=\s|$)/.exec(line)?.[0].slice(0, -1) ?? line;
}
