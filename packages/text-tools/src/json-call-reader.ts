import type { CallReader } from "./answer-parser.js";
import { announced, type CallEvent, parsedJson, readArguments } from "./call-events.js";
import type { TextEvent } from "./family.js";
import { JsonScanner, type Member } from "./json-scanner.js";
import { mayBecome } from "./marks.js";

const ARGUMENT_KEYS = ["arguments", "parameters", "args"];
/** Brackets that small models write once too often behind a call. */
const STRAY = /^[\s}\]]+/;

/** Reads `{"name": ..., "arguments": {...}}` up to a closing mark, which may be missing. */
export class JsonCallReader implements CallReader {
  text = "";
  end: number | undefined;
  readonly #open: string;
  readonly #close: string;
  #scanner: JsonScanner | undefined;
  #offset = 0; // where the object begins
  #complete = false;
  #shown: boolean | undefined; // whether the arguments are shown while they come
  #streamed = 0;
  #tail: string | undefined; // of a text that is no object: where a closing mark may have begun

  /** `open` is given back where what follows it is no call. */
  constructor(open: string, close: string) {
    this.#open = open;
    this.#close = close;
  }

  // What came before a piece is not looked at again: a text that is read in places while it grows is copied each time.
  push(text: string): TextEvent[] {
    const before = this.text.length;
    this.text += text;
    if (this.#complete) {
      this.#findClose();
      return [];
    }
    if (this.#tail !== undefined) return this.#readOther(text);
    if (!this.#scanner) {
      this.#offset = this.text.search(/\S/);
      if (this.#offset < 0) return [];
      if (this.text.charAt(this.#offset) !== "{") return this.#readOther(this.text);
      this.#scanner = new JsonScanner();
    }
    const from = Math.max(this.#offset - before, 0);
    this.#scanner.read(from === 0 ? text : text.slice(from));
    const events = this.#stream(this.#scanner.members, text, before - this.#offset);
    if (this.#scanner.end === undefined) return events;
    this.#complete = true;
    events.push(...this.#calls(this.text.slice(0, this.#objectEnd()), ""));
    this.#findClose();
    return events;
  }

  finish(): { events: TextEvent[]; end: number } {
    if (this.#complete) {
      const rest = this.text.slice(this.#objectEnd()).replace(STRAY, "");
      return { events: [], end: this.#close.startsWith(rest) ? this.text.length : this.text.length - rest.length };
    }
    // Quotes that do not match hide the closing mark; or the answer broke off.
    const close = this.text.indexOf(this.#close);
    return close < 0
      ? { events: this.#calls(this.text, ""), end: this.text.length }
      : { events: this.#calls(this.text.slice(0, close), this.#close), end: close + this.#close.length };
  }

  #object(): string {
    return this.#offset === 0 ? this.text : this.text.slice(this.#offset);
  }

  #objectEnd(): number {
    return this.#offset + (this.#scanner?.end ?? 0);
  }

  /** Behind a whole call: its closing mark, which may be missing or have a stray bracket before it. */
  #findClose(): void {
    const after = this.text.slice(this.#objectEnd());
    const rest = after.replace(STRAY, "");
    if (rest.startsWith(this.#close)) this.end = this.text.length - rest.length + this.#close.length;
    else if (!mayBecome(rest, this.#close)) this.end = this.#objectEnd();
  }

  /** A list of calls, or no call at all: read when its end is there. */
  #readOther(piece: string): TextEvent[] {
    const unsearched = (this.#tail ?? "") + piece;
    const close = unsearched.indexOf(this.#close);
    if (close < 0) {
      this.#tail = unsearched.slice(Math.max(0, unsearched.length - this.#close.length + 1));
      return [];
    }
    const at = this.text.length - unsearched.length + close;
    this.end = at + this.#close.length;
    return this.#calls(this.text.slice(0, at), this.#close);
  }

  /** The calls in a text between the marks, or that text itself. */
  #calls(body: string, close: string): TextEvent[] {
    const calls =
      this.#scanner?.end === undefined ? brokenCalls(body) : objectCall(this.#scanner.members, this.#object());
    if (calls.length === 0) return [{ type: "text", text: this.#open + body + close }];
    return calls.flatMap((call, i) => (i === 0 && this.#shown ? [call] : announced(call)));
  }

  /**
   * Shows arguments while they come, where the name came first and they are an object.
   *
   * @param at Where in the object the piece begins.
   */
  #stream(members: readonly Member[], piece: string, at: number): TextEvent[] {
    const [name, args] = members;
    if (this.#shown === false || name?.key !== "name" || !args || !ARGUMENT_KEYS.includes(args.key)) return [];
    const events: TextEvent[] = [];
    if (this.#shown === undefined) {
      // The first look behind the name: its own text is short, and the arguments begin in this piece.
      const text = parsedJson(this.text.slice(this.#offset + name.start, this.#offset + (name.end ?? 0)));
      this.#shown = typeof text === "string" && text !== "" && piece.charAt(args.start - at) === "{";
      if (!this.#shown) return [];
      this.#streamed = args.start;
      events.push({ type: "callStart", name: text as string });
    }
    const end = args.end ?? at + piece.length;
    if (end > this.#streamed) events.push({ type: "callDelta", json: piece.slice(this.#streamed - at, end - at) });
    this.#streamed = Math.max(end, this.#streamed);
    return events;
  }
}

function objectCall(members: readonly Member[], object: string): CallEvent[] {
  const raw = (member: Member) => object.slice(member.start, member.end).trim();
  const nameMember = members.find((member) => member.key === "name");
  const name = nameMember && parsedJson(raw(nameMember));
  if (typeof name !== "string" || name === "") return [];
  const args = members.find((member) => ARGUMENT_KEYS.includes(member.key));
  if (args) return [{ type: "call", name, ...readArguments(raw(args)) }];
  // Some models write the arguments beside the name.
  const rest = members.filter((member) => member !== nameMember && member.key !== "id" && member.key !== "type");
  const json = `{${rest.map((member) => `${JSON.stringify(member.key)}: ${raw(member)}`).join(", ")}}`;
  return [{ type: "call", name, ...readArguments(json) }];
}

/** Calls in a text that is no single whole object: a list of calls, or one that broke off or has a slip in it. */
function brokenCalls(body: string): CallEvent[] {
  const list = parsedJson(body);
  if (Array.isArray(list)) return list.flatMap((item: unknown) => wholeCall(JSON.stringify(item)));
  const name = /"name"\s*:\s*"([^"\\]+)"/.exec(body)?.[1];
  if (name === undefined || !body.trimStart().startsWith("{")) return [];
  const args = /"(?:arguments|parameters|args)"\s*:\s*/.exec(body);
  const raw = args ? body.slice(args.index + args[0].length).trim() : "";
  return [{ type: "call", name, ...readArguments(raw) }];
}

/** The call that a JSON object is; empty where it is none. */
export function wholeCall(text: string): CallEvent[] {
  if (!text.startsWith("{")) return [];
  const scanner = new JsonScanner();
  scanner.read(text);
  return scanner.end === undefined ? [] : objectCall(scanner.members, text);
}
