import type { ToolFunctionSpec } from "@shedkit/types";
import { type AnswerFormat, AnswerParser } from "./answer-parser.js";
import { announced, type CallEvent, readArguments } from "./call-events.js";
import type { TextEvent, TextParser, TextToolFamily } from "./family.js";
import { family } from "./family-style.js";
import { literal } from "./gbnf.js";
import { HeaderCallReader, type HeaderSyntax } from "./header-call-reader.js";
import { headerGrammar } from "./header-calls.js";
import { wholeCall } from "./json-call-reader.js";
import { jsonCallGrammar } from "./json-calls.js";
import { JsonScanner } from "./json-scanner.js";
import { pythonCalls } from "./python-calls.js";

const PYTHON_TAG = "<|python_tag|>";
const FUNCTION: HeaderSyntax = {
  open: "<function=",
  header: /^(?<name>[^>\s]+)>/,
  close: "</function>",
};
const FORMAT: AnswerFormat = {
  calls: [{ open: FUNCTION.open, reader: () => new HeaderCallReader(FUNCTION) }],
  ignored: [PYTHON_TAG],
};

/**
 * Llama 3.1 to 3.3: a bare JSON object, `{"name", "parameters"}`, as the whole answer; the smaller ones write a list of
 * calls in Python's way, `[name(key="value")]`, too. It is a call only where the name is a known tool's: all else is an
 * answer. Their templates take one call a message.
 */
export const llama3: TextToolFamily = family({
  id: "llama-3",
  format: () => FORMAT,
  parser: (options) => new Llama3Parser(options.tools ?? []),
  grammar(tools, begun) {
    if (begun?.mark === FUNCTION.open) {
      return headerGrammar(tools, begun.text, (name) => `${literal(`${name}>`)} ws`, literal(FUNCTION.close));
    }
    const named = begun && NAMED.exec(begun.text);
    if (!named) return jsonCallGrammar(tools, begun?.text, { key: "parameters" });
    const rest = begun.text.slice(named[0].length);
    const called = tools.filter(({ name }) => name === named[1]);
    return KEY.startsWith(rest)
      ? headerGrammar(called, "", () => literal(KEY.slice(rest.length)), 'ws "}"')
      : undefined;
  },
  mark: PYTHON_TAG,
  example: '{"name": "the tool\'s name", "parameters": {"its": "arguments"}}',
  messages: { oneCallEach: true },
});

const KEY = ', "parameters": ';
const NAMED = /^\s*\{\s*"name"\s*:\s*"([^"\\]+)"/;

class Llama3Parser implements TextParser {
  readonly thinking = false;
  readonly #tools: readonly ToolFunctionSpec[];
  readonly #parser = new AnswerParser(FORMAT, false);
  #json: string | undefined = ""; // what may be a call; undefined: the answer is none
  #begun = false; // how it begins is known, and that it may be a call

  constructor(tools: readonly ToolFunctionSpec[]) {
    this.#tools = tools;
  }

  /** The JSON of a known tool's call counts as one from its name on; until then it may be an answer. */
  get call(): { mark: string; text: string } | undefined {
    if (this.#json === undefined) return this.#parser.call;
    const name = NAMED.exec(this.#json)?.[1];
    return this.#tools.some((tool) => tool.name === name) ? { mark: "", text: this.#json } : undefined;
  }

  push(text: string): TextEvent[] {
    if (this.#json === undefined) return this.#parser.push(text);
    this.#json += text;
    if (this.#begun) return [];
    const start = this.#json.trimStart();
    if (PYTHON_TAG.startsWith(start)) return [];
    const call = start.startsWith(PYTHON_TAG) ? start.slice(PYTHON_TAG.length).trimStart() : start;
    this.#begun = call.startsWith("{") || (call.includes("(") && this.#mayBePython(call));
    if (call === "" || this.#begun || this.#mayBePython(call)) return [];
    const held = this.#json;
    this.#json = undefined;
    return this.#parser.push(held);
  }

  end(): TextEvent[] {
    if (this.#json === undefined) return this.#parser.end();
    const text = this.#json.trim().replace(PYTHON_TAG, "").trim();
    const calls = this.#calls(text);
    if (calls.length > 0) return calls.flatMap(announced);
    return text === "" ? [] : [{ type: "text", text }];
  }

  #mayBePython(text: string): boolean {
    const [, name = "", open] = /^\[\s*([\w.-]*)\s*(\(|$)/.exec(text) ?? [];
    if (open === undefined) return false;
    return this.#tools.some((tool) => (open === "(" ? tool.name === name : tool.name.startsWith(name)));
  }

  /** The calls that the whole text is, one or several with semicolons between them; else none. */
  #calls(text: string): CallEvent[] {
    if (text.startsWith("[")) {
      const { calls: listed = [] } = pythonCalls(text) ?? {};
      return listed.every(({ name }) => this.#tools.some((tool) => tool.name === name)) ? listed : [];
    }
    const calls: CallEvent[] = [];
    for (let rest = text; rest !== ""; ) {
      const scanner = new JsonScanner();
      scanner.read(rest);
      const { end } = scanner;
      const object = rest.slice(0, end);
      const [call] = end === undefined ? brokenOff(object) : wholeCall(object);
      if (!call || !this.#tools.some((tool) => tool.name === call.name)) return [];
      calls.push(call);
      rest = end === undefined ? "" : rest.slice(end).replace(/^\s*;?\s*/, "");
    }
    return calls;
  }
}

/** A call that did not come to its end. Its arguments may have. */
function brokenOff(text: string): CallEvent[] {
  const name = NAMED.exec(text)?.[1];
  const args = /"(?:parameters|arguments)"\s*:\s*/.exec(text);
  if (name === undefined) return [];
  return [{ type: "call", name, ...readArguments(args ? text.slice(args.index + args[0].length).trim() : "") }];
}
