import type { ToolFunctionSpec } from "@shedkit/types";
import type { TextToolFamily } from "./family.js";
import { family } from "./family-style.js";
import { literal } from "./gbnf.js";
import { SchemaGrammar } from "./schema-grammar.js";
import type { Schema, SchemaObject } from "./schema-merge.js";
import { TaggedCallReader, type TaggedSyntax } from "./tagged-call-reader.js";
import { textUntil } from "./text-until.js";
import { mayBeText } from "./typed-value.js";

const THINK = { open: "<think>", close: "</think>" };

const XML: TaggedSyntax = {
  open: "<tool_call>",
  name: /^\s*<function=([^>\n]+)>/,
  key: { open: "<parameter=", close: ">" },
  value: { open: "", close: "</parameter>" },
  closes: ["</function>", "</tool_call>"],
};
/** Without the outer tag, which smaller models forget. */
const BARE_XML: TaggedSyntax = { ...XML, open: "<function=", name: /^\s*([^>\n]+)>/ };

const PAIRS: TaggedSyntax = {
  open: "<tool_call>",
  name: /^\s*([^\s<{]+)(?=\s*(?:<arg_key>|<\/tool_call>|\n))/,
  key: { open: "<arg_key>", close: "</arg_key>" },
  value: { open: "<arg_value>", close: "</arg_value>" },
  closes: ["</tool_call>"],
};

/** Qwen3-Coder, Qwen 3.5 and later: `<function=name>` with a `<parameter=key>` for each argument, its value as it is. */
export const qwenCoder: TextToolFamily = family({
  id: "qwen-coder",
  format: (tools) => ({
    calls: [XML, BARE_XML].map((syntax) => ({
      open: syntax.open,
      reader: () => new TaggedCallReader(syntax, tools),
    })),
    thinking: THINK,
  }),
  grammar: (tools, begun = { mark: XML.open, text: "" }) => {
    if (begun.text.trim() !== "") return undefined;
    const head = begun.mark === XML.open ? "<function=" : "";
    return taggedGrammar(tools, {
      name: (name) => `ws ${literal(`${head}${name}>`)} nl`,
      member: (key, value) => `${literal(`<parameter=${key}>\n`)} ${value} nl`,
      end: `\n${XML.value.close}`,
      close: '"</function>" nl "</tool_call>"',
      syntax: XML,
    });
  },
  mark: XML.open,
  example: "<tool_call>\n<function=NAME>\n<parameter=KEY>\nvalue\n</parameter>\n</function>\n</tool_call>",
});

/** GLM 4.5 and later: the name, then `<arg_key>` and `<arg_value>` pairs; strings as they are, other values as JSON. */
export const glm: TextToolFamily = family({
  id: "glm",
  format: (tools) => ({
    calls: [{ open: PAIRS.open, reader: () => new TaggedCallReader(PAIRS, tools) }],
    thinking: THINK,
  }),
  grammar: (tools, begun) =>
    (begun?.text ?? "").trim() === ""
      ? taggedGrammar(tools, {
          name: (name) => `nl ${literal(name)} nl`,
          member: (key, value) => `${literal(`<arg_key>${key}</arg_key>`)} nl "<arg_value>" ${value} nl`,
          end: PAIRS.value.close,
          close: '"</tool_call>"',
          syntax: PAIRS,
        })
      : undefined,
  mark: PAIRS.open,
  example: "<tool_call>NAME\n<arg_key>key</arg_key>\n<arg_value>value</arg_value>\n</tool_call>",
});

interface TaggedGrammar {
  name(name: string): string;
  /** A key, and the rule of its value with its end. */
  member(key: string, value: string): string;
  /** What ends a value. */
  end: string;
  close: string;
  syntax: TaggedSyntax;
}

function taggedGrammar(tools: readonly ToolFunctionSpec[], parts: TaggedGrammar): string | undefined {
  if (tools.length === 0) return undefined;
  const grammar = new SchemaGrammar();
  const { rules } = grammar;
  rules.set("nl", '"\\n"?');
  const raw = textUntil(rules, parts.syntax.value.close);
  const end = literal(parts.end);
  const calls = tools.map(({ name, parameters }) => {
    const members = grammar.members(
      parameters as SchemaObject,
      `args-${name}`,
      (key, value: Schema, hint) =>
        parts.member(
          key,
          choices(value, end) ??
            (mayBeText(value) ? raw : `${grammar.schema(value, hint, parameters as Schema)} ${end}`),
        ),
      "",
    );
    return rules.add(`call-${name}`, `${parts.name(name)} ${members}`);
  });
  return rules.text(`( ${calls.join(" | ")} ) ${parts.close}`);
}

/** The values of an enum as they are written here, strings without quotes; undefined for another schema. */
function choices(schema: Schema, end: string): string | undefined {
  if (typeof schema !== "object" || schema === null || !schema.enum?.length) return undefined;
  const values = schema.enum.map((value) => literal(typeof value === "string" ? value : JSON.stringify(value)));
  return `( ${values.join(" | ")} ) ${end}`;
}
