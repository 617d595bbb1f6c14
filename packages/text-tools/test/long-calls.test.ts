import { expect, it } from "vitest";
import {
  deepseek31,
  gemma3,
  gemma4,
  glm,
  harmony,
  hermes,
  llama3,
  mistral,
  qwenCoder,
  type TextEvent,
  type TextToolFamily,
} from "../src/index.js";

const parameters = { type: "object", properties: { path: { type: "string" }, content: { type: "string" } } };
const tools = [{ name: "write", description: "", parameters }];

const json = (content: string): string => JSON.stringify({ path: "a", content });

/** How each family writes a call with one very long value. */
const CALLS: [string, TextToolFamily, (content: string) => string][] = [
  ["hermes", hermes, (text) => `<tool_call>\n{"name": "write", "arguments": ${json(text)}}\n</tool_call>`],
  ["hermes, a list", hermes, (text) => `<tool_call>[{"name": "write", "arguments": ${json(text)}}]</tool_call>`],
  [
    "qwenCoder",
    qwenCoder,
    (text) =>
      `<tool_call>\n<function=write>\n<parameter=path>\na\n</parameter>\n<parameter=content>\n${text}\n</parameter>\n</function>\n</tool_call>`,
  ],
  [
    "glm",
    glm,
    (text) =>
      `<tool_call>write\n<arg_key>path</arg_key>\n<arg_value>a</arg_value>\n<arg_key>content</arg_key>\n<arg_value>${text}</arg_value>\n</tool_call>`,
  ],
  ["gemma3", gemma3, (text) => `\`\`\`tool_call\n{"name": "write", "arguments": ${json(text)}}\n\`\`\``],
  ["gemma4", gemma4, (text) => `<|tool_call>call:write{content:<|"|>${text}<|"|>,path:<|"|>a<|"|>}<tool_call|>`],
  ["llama3", llama3, (text) => `{"name": "write", "parameters": ${json(text)}}`],
  ["llama3, in Python's way", llama3, (text) => `[write(path="a", content=${JSON.stringify(text)})]`],
  ["mistral", mistral, (text) => `[TOOL_CALLS][{"name": "write", "arguments": ${json(text)}}]`],
  [
    "deepseek31",
    deepseek31,
    (text) =>
      `<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>write<｜tool▁sep｜>${json(text)}<｜tool▁call▁end｜><｜tool▁calls▁end｜>`,
  ],
];

// Minutes where each piece has all that came before looked at again.
it.each(CALLS)(
  "a long call of %s is read piece by piece in time in proportion to it",
  (_, family, write) => {
    const content = "const x = 1; // \u{1F600} abc\n".repeat(16_000);
    const answer = write(content);
    const parser = family.parser({ tools });
    const events: TextEvent[] = [];
    for (let at = 0; at < answer.length; at += 4) events.push(...parser.push(answer.slice(at, at + 4)));
    events.push(...parser.end());
    const calls = events.filter((event) => event.type === "call");
    expect(calls.length).toBe(1);
    expect(calls[0]?.arguments?.content === content).toBe(true);
  },
  60_000,
);

it.each<[string, TextToolFamily]>([
  ["hermes", hermes],
  ["harmony", harmony],
])(
  "so are long blanks, and texts of %s without any mark",
  (_, family) => {
    const answer = `a${" \n".repeat(100_000)}b${"c d".repeat(100_000)}`;
    const parser = family.parser({ tools });
    const events: TextEvent[] = [];
    for (let at = 0; at < answer.length; at += 4) events.push(...parser.push(answer.slice(at, at + 4)));
    events.push(...parser.end());
    expect(events.map((event) => (event.type === "text" ? event.text : event.type)).join("") === answer).toBe(true);
  },
  60_000,
);
