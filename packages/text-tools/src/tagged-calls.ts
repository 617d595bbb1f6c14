import type { ToolFunctionSpec } from "@shedkit/types";
import type { TemplateMessage } from "./chat-template.js";
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
  ownLines: true,
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
  rewrite: (messages) => messages.map(withNullsAsText),
  example: "<tool_call>\n<function=NAME>\n<parameter=KEY>\nvalue\n</parameter>\n</function>\n</tool_call>",
});

/** Its template makes a text of each value, which our engine cannot of null; the grammar writes it so, too. */
function withNullsAsText(message: TemplateMessage): TemplateMessage {
  if (!message.tool_calls) return message;
  const calls = message.tool_calls.map(({ function: { name, arguments: args }, ...call }) => {
    const entries = typeof args === "object" && args !== null ? Object.entries(args) : undefined;
    const told = entries ? Object.fromEntries(entries.map(([key, value]) => [key, value ?? "null"])) : args;
    return { ...call, function: { name, arguments: told } };
  });
  return { ...message, tool_calls: calls };
}

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
  efforts: { low: "high", medium: "high", high: "max" },
  // The form that its template has for tools that a result brings.
  declare: (tools, written) => `<tools>\n${(written.length > 0 ? written : tools.map(asJson)).join("\n")}\n</tools>`,
  example: "<tool_call>NAME\n<arg_key>key</arg_key>\n<arg_value>value</arg_value>\n</tool_call>",
});

function asJson({ name, description, parameters }: ToolFunctionSpec): string {
  return JSON.stringify({ name, description, parameters });
}

interface TaggedGrammar {
  name(name: string): string;
  /** A key, and the rule of its value with its end; `isText`: the value is a string without quotes. */
  member(key: string, value: string, isText: boolean): string;
  /** What ends a value. */
  end: string;
  close: string;
  syntax: TaggedSyntax;
}

/** GBNF of a call whose arguments stand in tags. Undefined without tools. */
export function taggedGrammar(tools: readonly ToolFunctionSpec[], parts: TaggedGrammar): string | undefined {
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
      (key, value: Schema, hint) => {
        const texts = textChoices(value);
        if (texts) return parts.member(key, `${texts} ${end}`, true);
        if (mayBeText(value) && !hasChoices(value)) return parts.member(key, raw, true);
        return parts.member(key, `${grammar.schema(value, hint, parameters as Schema)} ${end}`, false);
      },
      "",
    );
    return rules.add(`call-${name}`, `${parts.name(name)} ${members}`);
  });
  return rules.text(`( ${calls.join(" | ")} ) ${parts.close}`);
}

function hasChoices(schema: Schema): schema is SchemaObject & { enum: readonly unknown[] } {
  return typeof schema === "object" && schema !== null && (schema.enum?.length ?? 0) > 0;
}

/** The values of an enum of texts as they are written here, without quotes; undefined for another schema. */
function textChoices(schema: Schema): string | undefined {
  if (!hasChoices(schema)) return undefined;
  const texts = schema.enum.filter((value) => typeof value === "string");
  return texts.length === schema.enum.length ? `( ${texts.map(literal).join(" | ")} )` : undefined;
}
