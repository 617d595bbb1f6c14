import type { JsonValue, ToolFunctionSpec } from "@shedkit/types";
import type { CallReader } from "./answer-parser.js";
import { parsedJson } from "./call-events.js";
import type { TextEvent } from "./family.js";
import { JsonCallReader } from "./json-call-reader.js";
import { mayBecome } from "./marks.js";
import type { Schema } from "./schema-merge.js";
import { parameterSchema, typedValue } from "./typed-value.js";

/** How a family writes a call whose arguments stand in tags, each value as it is. */
export interface TaggedSyntax {
  /** What stands before the call: given back where what follows is no call. */
  open: string;
  /** Matches the name at the start of a text, once it is whole. */
  name: RegExp;
  /** What stands around a key, and around its value. */
  key: { open: string; close: string };
  value: { open: string; close: string };
  /** What stands between the marks of a key, where that is not the key alone: `text` or `json` say what the value is. */
  keyText?: RegExp | undefined;
  /** A line break at either end of a value is no part of it. */
  ownLines?: boolean | undefined;
  /** The marks that end the call: all but the last may be followed by the next, and the last may be missing. */
  closes: readonly string[];
}

/** Reads calls whose arguments stand in tags. Types come from the tools' schemas. */
export class TaggedCallReader implements CallReader {
  text = "";
  end: number | undefined;
  readonly #syntax: TaggedSyntax;
  readonly #tools: readonly ToolFunctionSpec[];
  #json: JsonCallReader | undefined; // some models write JSON all the same
  #at = 0; // what comes before was read
  #name: string | undefined;
  #key: string | undefined;
  #written: "text" | "json" | undefined; // how the value is written, where its key says so
  #searched = 0;
  #tail: string | undefined; // in a value: where its closing mark may have begun
  #closed = 0; // how many of the closing marks came
  #said = false;
  readonly #args: [key: string, value: JsonValue][] = [];

  constructor(syntax: TaggedSyntax, tools: readonly ToolFunctionSpec[]) {
    this.#syntax = syntax;
    this.#tools = tools;
  }

  push(text: string): TextEvent[] {
    this.text += text;
    if (this.#json) return this.#pushJson(text);
    if (this.#tail !== undefined && !this.#mayClose(text)) return [];
    const events: TextEvent[] = [];
    while (this.end === undefined && this.#step(events));
    return events;
  }

  finish(): { events: TextEvent[]; end: number } {
    if (this.#json) return this.#json.finish();
    const rest = this.text.slice(this.#at);
    if (this.#name === undefined) {
      return { events: [{ type: "text", text: this.#syntax.open + this.text }], end: this.text.length };
    }
    if (this.#closed > 0) return { events: [], end: this.text.length - (this.#mayGoOn(rest) ? 0 : rest.length) };
    if (this.#key === undefined) {
      const complete = this.#mayGoOn(rest.trimStart());
      const events = complete ? this.#complete() : this.#broken("");
      return { events, end: this.text.length };
    }
    return {
      events: this.#broken(`${this.#separator()}${JSON.stringify(this.#key)}: ${unclosed(rest)}`),
      end: this.text.length,
    };
  }

  /** Reads one thing more; false where more text is needed. */
  #step(events: TextEvent[]): boolean {
    if (this.#name === undefined) return this.#readName(events);
    if (this.#key !== undefined) return this.#readValue(events);
    return this.#closed > 0 ? this.#readClose() : this.#readKey(events);
  }

  #readName(events: TextEvent[]): boolean {
    const start = this.text.search(/\S/);
    if (start >= 0 && this.text.charAt(start) === "{") {
      this.#json = new JsonCallReader(this.#syntax.open, this.#syntax.closes.at(-1) ?? "");
      events.push(...this.#pushJson(this.text));
      return false;
    }
    const match = this.#syntax.name.exec(this.text);
    if (!match?.[1]) return false;
    this.#name = match[1].trim();
    this.#at = match[0].length;
    events.push({ type: "callStart", name: this.#name });
    return true;
  }

  #pushJson(text: string): TextEvent[] {
    const events = this.#json?.push(text) ?? [];
    this.end = this.#json?.end;
    return events;
  }

  /** The next key, or the first of the closing marks. Anything else is passed over. */
  #readKey(events: TextEvent[]): boolean {
    const { key, value, closes } = this.#syntax;
    this.#skipSpace();
    const rest = this.text.slice(this.#at);
    if (rest.startsWith(key.open)) {
      const close = rest.indexOf(key.close, key.open.length);
      if (close < 0) return false;
      const after = rest.slice(close + key.close.length);
      const gap = value.open === "" ? 0 : (/^\s*/.exec(after)?.[0].length ?? 0);
      const opening = after.slice(gap);
      if (!opening.startsWith(value.open)) {
        if (mayBecome(opening, value.open)) return false;
      }
      this.#nameKey(rest.slice(key.open.length, close).trim());
      this.#at += close + key.close.length + (opening.startsWith(value.open) ? gap + value.open.length : 0);
      this.#searched = this.#at;
      return true;
    }
    const closing = closes.findIndex((mark) => rest.startsWith(mark));
    if (closing >= 0) {
      events.push(...this.#complete());
      this.#closed = closing + 1;
      this.#at += (closes[closing] ?? "").length;
      if (this.#closed === closes.length) this.end = this.#at;
      return true;
    }
    if (rest === "" || this.#mayGoOn(rest)) return false;
    this.#at++;
    return true;
  }

  #nameKey(text: string): void {
    const { key = text, json, text: isText } = this.#syntax.keyText?.exec(text)?.groups ?? {};
    this.#key = key;
    this.#written = isText !== undefined ? "text" : json !== undefined ? "json" : undefined;
  }

  #readValue(events: TextEvent[]): boolean {
    const { close } = this.#syntax.value;
    const end = this.text.indexOf(close, this.#searched);
    if (end < 0) {
      this.#searched = Math.max(this.#at, this.text.length - close.length + 1);
      this.#tail = this.text.slice(this.#searched);
      return false;
    }
    this.#tail = undefined;
    const [key = "", name = ""] = [this.#key, this.#name];
    const value = this.#value(this.text.slice(this.#at, end), parameterSchema(this.#tools, name, key));
    events.push({ type: "callDelta", json: `${this.#separator()}${JSON.stringify(key)}: ${JSON.stringify(value)}` });
    this.#args.push([key, value]);
    this.#key = undefined;
    this.#at = end + close.length;
    return true;
  }

  /** Whether the value ends in a piece: only then is the whole text looked at again, which copies it. */
  #mayClose(piece: string): boolean {
    const { close } = this.#syntax.value;
    const unsearched = (this.#tail ?? "") + piece;
    if (unsearched.includes(close)) return true;
    this.#tail = unsearched.slice(Math.max(0, unsearched.length - close.length + 1));
    this.#searched = this.text.length - this.#tail.length;
    return false;
  }

  #value(written: string, schema: Schema): JsonValue {
    const raw = this.#syntax.ownLines ? written.replace(/^\r?\n/, "").replace(/\r?\n$/, "") : written;
    if (this.#written === "text") return raw;
    return (this.#written === "json" ? parsedJson(raw) : undefined) ?? typedValue(raw, schema);
  }

  /** Behind the first closing mark: the next, which may be missing. */
  #readClose(): boolean {
    const next = this.#syntax.closes[this.#closed] ?? "";
    const rest = this.text.slice(this.#at).trimStart();
    if (rest.startsWith(next)) {
      this.#at = this.text.length - rest.length + next.length;
      this.#closed++;
      if (this.#closed === this.#syntax.closes.length) this.end = this.#at;
      return true;
    }
    if (mayBecome(rest, next)) return false;
    this.end = this.#at;
    return true;
  }

  #complete(): TextEvent[] {
    if (this.#said) return [];
    this.#said = true;
    const args = Object.fromEntries(this.#args);
    const end = this.#args.length === 0 ? "{}" : "}";
    return [
      { type: "callDelta", json: end },
      { type: "call", name: this.#name ?? "", arguments: args },
    ];
  }

  /** A call that broke off: its arguments as the beginning of an object, so that nothing of it runs. */
  #broken(more: string): TextEvent[] {
    this.#said = true;
    const known = this.#args.map(([key, value]) => `${JSON.stringify(key)}: ${JSON.stringify(value)}`).join(", ");
    return [{ type: "call", name: this.#name ?? "", rawArguments: `{${known}${more.replace(/^\{/, "")}` }];
  }

  #separator(): string {
    return this.#args.length === 0 ? "{" : ", ";
  }

  #skipSpace(): void {
    while (/\s/.test(this.text.charAt(this.#at))) this.#at++;
  }

  #mayGoOn(rest: string): boolean {
    return [this.#syntax.key.open, ...this.#syntax.closes].some((mark) => mark.startsWith(rest));
  }
}

/** The beginning of a JSON string. */
function unclosed(text: string): string {
  return JSON.stringify(text).slice(0, -1);
}
