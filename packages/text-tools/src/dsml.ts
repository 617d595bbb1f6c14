import type { TextToolFamily } from "./family.js";
import { family } from "./family-style.js";
import { literal } from "./gbnf.js";
import { TaggedCallReader, type TaggedSyntax } from "./tagged-call-reader.js";
import { taggedGrammar } from "./tagged-calls.js";

const [OPEN, CLOSE] = ["<｜DSML｜", "</｜DSML｜"];

const SYNTAX: TaggedSyntax = {
  open: `${OPEN}invoke name="`,
  name: /^([^"\n]+)"\s*>/,
  key: { open: `${OPEN}parameter name="`, close: ">" },
  keyText: /^(?<key>.*?)"(?:\s+string="(?:(?<text>true)|(?<json>false))")?\s*$/s,
  value: { open: "", close: `${CLOSE}parameter>` },
  closes: [`${CLOSE}invoke>`],
};

/** DeepSeek V3.2 and later: tags of its own, of which each parameter's says whether its value is a text or JSON. */
export const deepseekDsml: TextToolFamily = family({
  id: "deepseek-dsml",
  format: (tools) => ({
    calls: [{ open: SYNTAX.open, reader: () => new TaggedCallReader(SYNTAX, tools) }],
    thinking: { open: "<think>", close: "</think>" },
    ignored: ["function_calls>", "tool_calls>"].flatMap((name) => [OPEN + name, CLOSE + name]),
  }),
  grammar: (tools, begun) =>
    (begun?.text ?? "") === ""
      ? taggedGrammar(tools, {
          name: (name) => literal(`${name}">\n`),
          member: (key, value, isText) => `${literal(`${SYNTAX.key.open}${key}" string="${isText}">`)} ${value} nl`,
          end: SYNTAX.value.close,
          close: literal(SYNTAX.closes[0] ?? ""),
          syntax: SYNTAX,
        })
      : undefined,
  mark: SYNTAX.open,
  example: [
    `${OPEN}function_calls>`,
    `${SYNTAX.open}NAME">`,
    `${SYNTAX.key.open}KEY" string="true">value${SYNTAX.value.close}`,
    `${CLOSE}invoke>`,
    `${CLOSE}function_calls>`,
  ].join("\n"),
});
