import type { ToolArguments, ToolFunctionSpec } from "@shedkit/types";
import type { CallReader } from "./answer-parser.js";
import type { TemplateMessage } from "./chat-template.js";
import type { TextEvent, TextToolFamily } from "./family.js";
import { family, withReturns } from "./family-style.js";
import { literal } from "./gbnf.js";
import { readGemmaValue } from "./gemma-value.js";
import { mayBecome } from "./marks.js";
import { GEMMA_NOTATION, GEMMA_QUOTE } from "./notation.js";
import { plainSchema } from "./plain-schema.js";
import { SchemaGrammar } from "./schema-grammar.js";
import type { Schema } from "./schema-merge.js";

const OPEN = "<|tool_call>";
const CLOSE = "<tool_call|>";

/** Gemma 4: `call:name{key:value}` between tokens of its own; strings stand between special tokens, keys are bare. */
export const gemma4: TextToolFamily = family({
  id: "gemma-4",
  format: () => ({
    calls: [{ open: OPEN, reader: () => new GemmaCallReader() }],
    thinking: { open: "<|channel>thought\n", close: "<channel|>" },
  }),
  grammar: (tools, begun) => ((begun?.text ?? "").trim() === "" ? gemmaGrammar(tools) : undefined),
  mark: OPEN,
  write: ({ function: { name, arguments: args } }) =>
    `${OPEN}call:${name}${typeof args === "string" ? args : GEMMA_NOTATION.write(args)}${CLOSE}`,
  ownResults: true,
  // What the template writes of tools would end the string that a result is.
  declare: (tools) => ({ tools }),
  spec: (tool) => withReturns({ ...tool, parameters: gemmaSchema(tool.parameters) }),
  rewrite: (messages) => withOwnResults(messages.map(textBeforeCalls)).map(withNullsMarked),
  finish: (prompt) =>
    prompt
      .replaceAll(GEMMA_QUOTE + NULL + GEMMA_QUOTE, "null")
      .replace(TEXT_BEFORE, `$1${OPEN}call:`)
      .replaceAll(MARK, ""),
  // The model begins to write the result itself where nobody stops it.
  stops: ["<|tool_response>"],
  example: `${OPEN}call:NAME{key:${GEMMA_QUOTE}text${GEMMA_QUOTE},count:3}${CLOSE}`,
});

/**
 * Results stand in the message of their calls, and what the model says next goes on with it: that is how it is
 * generated, without a new turn.
 */
function withOwnResults(messages: readonly TemplateMessage[]): TemplateMessage[] {
  const out: TemplateMessage[] = [];
  for (const message of messages) {
    const last = out.at(-1);
    const goesOn = last?.role === "assistant" && last.tool_responses !== undefined;
    if (message.role === "tool") {
      const result = { name: message.name ?? "unknown", response: message.response ?? message.content };
      if (last?.role === "assistant") last.tool_responses = [...(last.tool_responses ?? []), result];
      else out.push({ role: "assistant", content: "", tool_responses: [result] });
    } else if (message.role === "assistant" && goesOn && !message.tool_calls && last.content === "") {
      last.content = message.content;
    } else out.push({ ...message });
  }
  return out;
}

/** Marks what is mended in the prompt that the template wrote. A private character that prompts do not hold. */
const MARK = "\u{F5D1C}";
const TEXT_BEFORE = new RegExp(`${OPEN.replaceAll("|", "\\|")}call:${MARK}([^${MARK}]*)${MARK}`, "gu");

/** Stands for null in values, of which the engine writes nothing. */
const NULL = `${MARK}null${MARK}`;

function withNullsMarked(message: TemplateMessage): TemplateMessage {
  const { tool_calls: calls, tool_responses: results } = message;
  return {
    ...message,
    ...(calls && {
      tool_calls: calls.map(({ function: { name, arguments: args }, ...call }) => {
        return { ...call, function: { name, arguments: nullsMarked(args) } };
      }),
    }),
    ...(results && {
      tool_responses: results.map(({ name, response }) => ({ name, response: nullsMarked(response) })),
    }),
  };
}

function nullsMarked(value: unknown): unknown {
  if (value === null) return NULL;
  if (typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map(nullsMarked);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, nullsMarked(item)]));
}

/** Names of parameters that the template takes for keywords of a schema, and leaves out. */
const KEYWORDS = new Set(["description", "type", "properties", "required", "nullable"]);

/** A schema as declarations have it: one type in capitals each, parameters marked that are called like a keyword. */
function gemmaSchema(schema: object): object {
  return plainSchema(
    { type: "object", ...schema },
    { name: (name) => (KEYWORDS.has(name) ? name + MARK : name), type: (type) => type.toUpperCase() },
  );
}

/** The template writes a text behind the results of the calls that it came before; here it stands where it was. */
function textBeforeCalls(message: TemplateMessage): TemplateMessage {
  const [first, ...others] = message.tool_calls ?? [];
  if (!first || message.content === "") return message;
  const { name, ...call } = first.function;
  const marked = { ...first, function: { ...call, name: MARK + message.content.replaceAll(MARK, "") + MARK + name } };
  return { ...message, content: "", tool_calls: [marked, ...others] };
}

function gemmaGrammar(tools: readonly ToolFunctionSpec[]): string | undefined {
  if (tools.length === 0) return undefined;
  const grammar = new SchemaGrammar(GEMMA_NOTATION);
  const calls = tools.map(({ name, parameters }) => {
    const args = grammar.schema(parameters as Schema, `args-${name}`);
    return grammar.rules.add(`call-${name}`, `${literal(`call:${name}`)} ${args}`);
  });
  return grammar.rules.text(`( ${calls.join(" | ")} ) "${CLOSE}"`);
}

class GemmaCallReader implements CallReader {
  text = "";
  end: number | undefined;
  #name: string | undefined;
  #from = 0; // where the arguments begin
  #at = 0; // what comes before was looked at
  #depth = 0;
  #inString = false;
  #tail: string | undefined; // in a string: where its closing mark may have begun
  #complete: number | undefined; // behind the brace that closes the arguments

  push(text: string): TextEvent[] {
    this.text += text;
    const events: TextEvent[] = [];
    if (this.#name === undefined) {
      const match = /^\s*call:\s*([^\s{]+)\s*(?=\{)/.exec(this.text);
      if (!match?.[1]) return events;
      this.#name = match[1];
      this.#from = match[0].length;
      this.#at = this.#from;
      events.push({ type: "callStart", name: this.#name });
    }
    if (this.#tail !== undefined && !this.#mayClose(text)) return events;
    if (this.#complete === undefined) {
      this.#scan();
      if (this.#complete === undefined) return events;
      events.push(...this.#call(this.text.slice(this.#from, this.#complete)));
    }
    const rest = this.text.slice(this.#complete).trimStart();
    if (rest.startsWith(CLOSE)) this.end = this.text.length - rest.length + CLOSE.length;
    else if (!mayBecome(rest, CLOSE)) this.end = this.#complete;
    return events;
  }

  finish(): { events: TextEvent[]; end: number } {
    const end = this.text.length;
    if (this.#complete !== undefined) {
      const rest = this.text.slice(this.#complete).trimStart();
      return { events: [], end: CLOSE.startsWith(rest) ? end : end - rest.length };
    }
    if (this.#name === undefined) return { events: [{ type: "text", text: OPEN + this.text }], end };
    return { events: [{ type: "call", name: this.#name, rawArguments: this.text.slice(this.#from) }], end };
  }

  /** Whether the string ends in a piece: only then is the whole text looked at again, which copies it. */
  #mayClose(piece: string): boolean {
    const unsearched = (this.#tail ?? "") + piece;
    if (unsearched.includes(GEMMA_QUOTE)) return true;
    this.#tail = unsearched.slice(Math.max(0, unsearched.length - GEMMA_QUOTE.length + 1));
    this.#at = this.text.length - this.#tail.length;
    return false;
  }

  /** Finds the end of the arguments: braces count where no string holds them. */
  #scan(): void {
    while (this.#complete === undefined && this.#at < this.text.length) {
      if (this.#inString) {
        const quote = this.text.indexOf(GEMMA_QUOTE, this.#at);
        if (quote < 0) {
          this.#at = Math.max(this.#at, this.text.length - GEMMA_QUOTE.length + 1);
          this.#tail = this.text.slice(this.#at);
          return;
        }
        this.#inString = false;
        this.#tail = undefined;
        this.#at = quote + GEMMA_QUOTE.length;
      } else if (this.text.startsWith(GEMMA_QUOTE, this.#at)) {
        this.#inString = true;
        this.#at += GEMMA_QUOTE.length;
      } else if (this.text.startsWith(CLOSE, this.#at)) {
        this.#complete = this.#at; // brackets that do not match
      } else if (
        [GEMMA_QUOTE, CLOSE].some((mark) => mayBecome(this.text.slice(this.#at, this.#at + mark.length), mark))
      ) {
        return;
      } else {
        const char = this.text.charAt(this.#at++);
        if (char === "{" || char === "[") this.#depth++;
        else if ((char === "}" || char === "]") && --this.#depth === 0) this.#complete = this.#at;
      }
    }
  }

  #call(body: string): TextEvent[] {
    const value = readGemmaValue(body);
    const whole = typeof value === "object" && value !== null && !Array.isArray(value);
    const name = this.#name ?? "";
    if (!whole)
      return [
        { type: "callDelta", json: body },
        { type: "call", name, rawArguments: body },
      ];
    const args = value as ToolArguments;
    return [
      { type: "callDelta", json: JSON.stringify(args) },
      { type: "call", name, arguments: args },
    ];
  }
}
