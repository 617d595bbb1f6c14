import type { ToolFunctionSpec } from "@shedkit/types";
import type { TextToolFamily } from "./family.js";
import { argumentsText, family } from "./family-style.js";
import { literal } from "./gbnf.js";
import { HeaderCallReader, type HeaderSyntax } from "./header-call-reader.js";
import { jsonCallGrammar } from "./json-calls.js";
import { SchemaGrammar } from "./schema-grammar.js";
import type { Schema } from "./schema-merge.js";

const THINK = { open: "<think>", close: "</think>" };

/** GBNF of a call whose name stands before its arguments. Undefined where something of it has begun. */
export function headerGrammar(
  tools: readonly ToolFunctionSpec[],
  begun: string,
  head: (name: string) => string,
  tail: string,
): string | undefined {
  if (begun.trim() !== "" || tools.length === 0) return undefined;
  const grammar = new SchemaGrammar();
  const calls = tools.map(({ name, parameters }) => {
    const args = grammar.schema(parameters as Schema, `args-${name}`);
    return grammar.rules.add(`call-${name}`, `${head(name)} ${args}`);
  });
  return grammar.rules.text(`( ${calls.join(" | ")} ) ${tail}`);
}

const MISTRAL: HeaderSyntax = {
  open: "[TOOL_CALLS]",
  header: /^\s*(?<name>[\w.-]+)\s*(?:\[CALL_ID\](?<id>[^[]*))?(?:\[ARGS\]|(?=\{))/,
  close: "",
  list: true,
};

const mistralStyle = {
  format: () => ({ calls: [{ open: MISTRAL.open, reader: () => new HeaderCallReader(MISTRAL) }] }),
  mark: MISTRAL.open,
  example: '[TOOL_CALLS][{"name": "the tool\'s name", "arguments": {"its": "arguments"}}]',
  // Its templates want ids of nine letters and digits.
  messages: {
    callId: ({ providerCallId }: { providerCallId?: string | undefined }, index: number) =>
      /^[a-zA-Z0-9]{9}$/.test(providerCallId ?? "")
        ? (providerCallId as string)
        : `call${String(index).padStart(5, "0")}`,
  },
};

/** Mistral: `[TOOL_CALLS]` and a JSON list of calls. */
export const mistral: TextToolFamily = family({
  ...mistralStyle,
  id: "mistral",
  grammar: (tools, begun) =>
    jsonCallGrammar(tools, begun?.text, {
      open: 'ws "["',
      close: ' ws "]"',
      list: true,
      more: '( "," ws "\\"id\\"" ":" ws string )?',
    }),
});

/** Newer Mistral models: `[TOOL_CALLS]name[ARGS]{...}`, some with an id between; those that think do so in brackets. */
export const mistralArgs: TextToolFamily = family({
  ...mistralStyle,
  format: () => ({ ...mistralStyle.format(), thinking: { open: "[THINK]", close: "[/THINK]" } }),
  id: "mistral-args",
  example: '[TOOL_CALLS]NAME[ARGS]{"its": "arguments"}',
  grammar: (tools, begun) =>
    headerGrammar(
      tools,
      begun?.text ?? "",
      (name) => `${literal(name)} ( "[CALL_ID]" [a-zA-Z0-9]{9} )? "[ARGS]" ws`,
      "",
    ),
});

// The bars and the low lines are characters of their own, not ASCII.
const DEEPSEEK = {
  section: ["<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"],
  open: "<｜tool▁call▁begin｜>",
  sep: "<｜tool▁sep｜>",
  close: "<｜tool▁call▁end｜>",
};

const DEEPSEEK_SYNTAX: HeaderSyntax = {
  open: DEEPSEEK.open,
  header: new RegExp(
    `^\\s*(?:function${DEEPSEEK.sep}\\s*(?<name>[^\\s{\`<]+)\\s*\`\`\`(?:json)?\\s*(?=\\{)|(?!function${DEEPSEEK.sep})(?<short>[^\\s<]+)\\s*${DEEPSEEK.sep})`,
  ),
  junk: /^[\s`]+/,
  close: DEEPSEEK.close,
};

const deepseekStyle = {
  format: () => ({
    calls: [{ open: DEEPSEEK.open, reader: () => new HeaderCallReader(DEEPSEEK_SYNTAX) }],
    thinking: THINK,
    ignored: DEEPSEEK.section,
  }),
  mark: DEEPSEEK.open,
  messages: { argumentsAsText: true },
};

/** DeepSeek V3 and R1: the arguments stand in a fenced block. */
export const deepseek: TextToolFamily = family({
  ...deepseekStyle,
  write: ({ function: { name, arguments: args } }) =>
    `${DEEPSEEK.section[0]}${DEEPSEEK.open}function${DEEPSEEK.sep}${name}\n\`\`\`json\n${argumentsText(args)}\n\`\`\`${DEEPSEEK.close}${DEEPSEEK.section[1]}`,
  id: "deepseek",
  grammar: (tools, begun) =>
    headerGrammar(
      tools,
      begun?.text ?? "",
      (name) => `"function${DEEPSEEK.sep}" ${literal(`${name}\n\`\`\`json\n`)}`,
      `"\\n\`\`\`" "\\n"? "${DEEPSEEK.close}"`,
    ),
  example: `${DEEPSEEK.section[0]}${DEEPSEEK.open}function${DEEPSEEK.sep}NAME\n\`\`\`json\n{"its": "arguments"}\n\`\`\`${DEEPSEEK.close}${DEEPSEEK.section[1]}`,
});

/** DeepSeek V3.1 and later. */
export const deepseek31: TextToolFamily = family({
  ...deepseekStyle,
  write: ({ function: { name, arguments: args } }) =>
    `${DEEPSEEK.section[0]}${DEEPSEEK.open}${name}${DEEPSEEK.sep}${argumentsText(args)}${DEEPSEEK.close}${DEEPSEEK.section[1]}`,
  id: "deepseek-3.1",
  grammar: (tools, begun) =>
    headerGrammar(tools, begun?.text ?? "", (name) => literal(name + DEEPSEEK.sep), `"${DEEPSEEK.close}"`),
  example: `${DEEPSEEK.section[0]}${DEEPSEEK.open}NAME${DEEPSEEK.sep}{"its": "arguments"}${DEEPSEEK.close}${DEEPSEEK.section[1]}`,
});

const KIMI: HeaderSyntax = {
  open: "<|tool_call_begin|>",
  header: /^\s*(?<id>(?:functions\.)?(?<name>[^\s:<]+):\d+)\s*<\|tool_call_argument_begin\|>/,
  close: "<|tool_call_end|>",
};

/** Kimi K2: calls have ids, `functions.read:0`, which say their names. */
export const kimi: TextToolFamily = family({
  id: "kimi",
  format: () => ({
    calls: [{ open: KIMI.open, reader: () => new HeaderCallReader(KIMI) }],
    thinking: THINK,
    ignored: ["<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"],
  }),
  grammar: (tools, begun) =>
    headerGrammar(
      tools,
      begun?.text ?? "",
      (name) => `${literal(`functions.${name}:`)} [0-9]{1,3} "<|tool_call_argument_begin|>"`,
      `"${KIMI.close}"`,
    ),
  mark: KIMI.open,
  example: `<|tool_calls_section_begin|>${KIMI.open}functions.NAME:0<|tool_call_argument_begin|>{"its": "arguments"}${KIMI.close}<|tool_calls_section_end|>`,
  write: ({ id, function: { arguments: args } }) =>
    `<|tool_calls_section_begin|>${KIMI.open}${id}<|tool_call_argument_begin|>${argumentsText(args)}${KIMI.close}<|tool_calls_section_end|>`,
  messages: { callId: ({ name, providerCallId }, index) => providerCallId ?? `functions.${name}:${index}` },
});
