import type { CallReader } from "./answer-parser.js";
import { announced, type CallEvent, parsedJson, readArguments } from "./call-events.js";
import type { TextEvent } from "./family.js";
import { wholeCall } from "./json-call-reader.js";
import { JsonScanner } from "./json-scanner.js";
import { mayBecome } from "./marks.js";

/** How a family writes a call whose name stands before the JSON of its arguments. */
export interface HeaderSyntax {
  /** What stands before the call: given back where what follows is no call. */
  open: string;
  /** Matches all before the arguments, once it is whole: group `name` (or `short`), and `id` where calls have one. */
  header: RegExp;
  /** Space and marks that may stand between the arguments and the closing mark. */
  junk?: RegExp | undefined;
  /** Empty where the arguments' own end is the call's. */
  close: string;
  /** A JSON list of `{name, arguments}` may stand in place of it all. */
  list?: boolean | undefined;
}

/** Reads a name, then the JSON object of its arguments. */
export class HeaderCallReader implements CallReader {
  text = "";
  end: number | undefined;
  readonly #syntax: HeaderSyntax;
  readonly #scanner = new JsonScanner();
  #name: string | undefined;
  #id: string | undefined;
  #offset = -1; // where the arguments begin
  #behindHeader = 0;

  constructor(syntax: HeaderSyntax) {
    this.#syntax = syntax;
  }

  // What came before a piece is not looked at again: a text that is read in places while it grows is copied each time.
  push(text: string): TextEvent[] {
    this.text += text;
    const events: TextEvent[] = [];
    let piece = text;
    if (this.#offset < 0) {
      if (!this.#begin(events)) return events;
      piece = this.text.slice(this.#offset);
    }
    const complete = this.#scanner.end !== undefined;
    const at = this.text.length - this.#offset - piece.length;
    this.#scanner.read(piece);
    const end = this.#scanner.end;
    if (!complete) events.push(...this.#stream(end === undefined ? piece : piece.slice(0, end - at)));
    if (end === undefined) return events;
    const args = this.text.slice(this.#offset);
    if (!complete) events.push(...this.#calls(args.slice(0, end)));
    this.#findClose(args.slice(end));
    return events;
  }

  finish(): { events: TextEvent[]; end: number } {
    const { length } = this.text;
    if (this.#offset < 0) {
      const events: TextEvent[] =
        this.#name === undefined
          ? [{ type: "text", text: this.#syntax.open + this.text }]
          : [this.#call({ rawArguments: "" })];
      return { events, end: length };
    }
    const args = this.text.slice(this.#offset);
    if (this.#scanner.end === undefined) {
      const events =
        this.#name === undefined ? [textOf(this.#syntax.open, this.text)] : [this.#call({ rawArguments: args })];
      return { events, end: length };
    }
    const rest = this.#withoutJunk(args.slice(this.#scanner.end));
    return { events: [], end: this.#syntax.close.startsWith(rest) ? length : length - rest.length };
  }

  /** Finds where the arguments begin; false while that is not there. */
  #begin(events: TextEvent[]): boolean {
    if (this.#syntax.list && this.text.trimStart().startsWith("[")) {
      this.#offset = this.text.indexOf("[");
      return true;
    }
    if (this.#name === undefined) {
      const match = this.#syntax.header.exec(this.text);
      if (!match) return false;
      this.#name = match.groups?.name ?? match.groups?.short ?? "";
      this.#id = match.groups?.id;
      this.#behindHeader = match[0].length;
      events.push({ type: "callStart", name: this.#name });
    }
    const start = this.text.slice(this.#behindHeader).search(/\S/);
    if (start < 0) return false;
    this.#offset = this.#behindHeader + start;
    if (this.text.charAt(this.#offset) === "{") return true;
    // No object: the call ends here, with what came as it came.
    const close = this.#syntax.close === "" ? -1 : this.text.indexOf(this.#syntax.close, this.#offset);
    if (close < 0) {
      this.#behindHeader = this.#offset;
      this.#offset = -1;
      return false;
    }
    events.push(this.#call({ rawArguments: this.text.slice(this.#offset, close).trim() }));
    this.end = close + this.#syntax.close.length;
    return false;
  }

  #stream(json: string): TextEvent[] {
    return this.#name === undefined || json === "" ? [] : [{ type: "callDelta", json }];
  }

  #calls(args: string): TextEvent[] {
    if (this.#name !== undefined) return [this.#call(readArguments(args))];
    const list = parsedJson(args);
    const calls = Array.isArray(list)
      ? list.flatMap((item) => {
          const id = typeof item === "object" && item !== null && "id" in item ? item.id : undefined;
          return wholeCall(JSON.stringify(item)).map((call) =>
            typeof id === "string" ? { ...call, providerCallId: id } : call,
          );
        })
      : [];
    return calls.length === 0 ? [textOf(this.#syntax.open, args)] : calls.flatMap(announced);
  }

  #call(args: Pick<CallEvent, "arguments" | "rawArguments">): CallEvent {
    return {
      type: "call",
      name: this.#name ?? "",
      ...args,
      ...(this.#id !== undefined && { providerCallId: this.#id }),
    };
  }

  #findClose(after: string): void {
    const { close } = this.#syntax;
    const rest = this.#withoutJunk(after);
    const at = this.text.length - rest.length;
    if (rest.startsWith(close)) this.end = close === "" ? this.text.length - after.length : at + close.length;
    else if (!mayBecome(rest, close)) this.end = this.text.length - after.length;
  }

  #withoutJunk(text: string): string {
    return this.#syntax.junk ? text.replace(this.#syntax.junk, "") : text.trimStart();
  }
}

function textOf(open: string, text: string): TextEvent {
  return { type: "text", text: open + text };
}
