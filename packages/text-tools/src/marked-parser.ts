import { CallReader } from "./call-reader.js";
import type { ParserOptions, TextEvent, TextParser } from "./family.js";

/** What stands around a call. */
export interface CallMarks {
  open: string;
  close: string;
}

/** Brackets that small models write once too often behind a call. */
const STRAY = /^[\s}\]]+/;
const THINK = { open: "<think>", close: "</think>" };

/** Reads answers whose calls are JSON objects between two marks, and whose thinking stands in `<think>` tags. */
export class MarkedParser implements TextParser {
  readonly #marks: CallMarks;
  #state: "text" | "thinking" | "call" | "closing";
  #held = ""; // read, but not yet said
  #call = new CallReader();
  #blockEmpty = true; // nothing but space yet in this block of text or thinking
  #said = false; // anything but thinking
  #thoughts = "";

  constructor(marks: CallMarks, options: ParserOptions = {}) {
    this.#marks = marks;
    this.#state = options.insideThinking ? "thinking" : "text";
  }

  get callText(): string | undefined {
    if (this.#state === "call") return this.#call.text;
    return this.#state === "closing" ? this.#call.text.slice(0, this.#call.objectEnd) + this.#held : undefined;
  }

  push(text: string): TextEvent[] {
    const events: TextEvent[] = [];
    this.#held += text;
    while (this.#advance(events));
    return events;
  }

  end(): TextEvent[] {
    const events: TextEvent[] = [];
    if (this.#state === "call") this.#endOpenCall(events);
    if (this.#state === "closing") {
      const rest = this.#held.replace(STRAY, "");
      this.#held = this.#marks.close.startsWith(rest) ? "" : rest;
      this.#enter("text");
    }
    this.#say(events, this.#held.trimEnd());
    this.#held = "";
    const from = this.#thoughts.indexOf(this.#marks.open);
    if (!this.#said && from >= 0) {
      // A model that called a tool without ending its thinking meant the call.
      const inner = new MarkedParser(this.#marks);
      const calls = [...inner.push(this.#thoughts.slice(from)), ...inner.end()];
      events.push(...calls.filter((event) => event.type !== "text" && event.type !== "thinking"));
    }
    return events;
  }

  /** Takes one step on what is held; false where more text is needed. */
  #advance(events: TextEvent[]): boolean {
    switch (this.#state) {
      case "text":
        return this.#readText(events);
      case "thinking":
        return this.#readThinking(events);
      case "call":
        return this.#readCall(events);
      case "closing":
        return this.#readClose();
    }
  }

  #readText(events: TextEvent[]): boolean {
    const call = this.#held.indexOf(this.#marks.open);
    if (this.#blockEmpty && this.#held.trimStart().startsWith(THINK.open)) {
      this.#held = this.#held.trimStart().slice(THINK.open.length);
      this.#enter("thinking");
      return true;
    }
    if (call >= 0) {
      this.#say(events, this.#held.slice(0, call).trimEnd());
      this.#held = this.#held.slice(call + this.#marks.open.length);
      this.#call = new CallReader();
      this.#state = "call";
      return true;
    }
    this.#sayAllBut(events, this.#blockEmpty ? [this.#marks.open, THINK.open] : [this.#marks.open]);
    return false;
  }

  #readThinking(events: TextEvent[]): boolean {
    const close = this.#held.indexOf(THINK.close);
    if (close < 0) {
      this.#sayAllBut(events, [THINK.close]);
      return false;
    }
    this.#say(events, this.#held.slice(0, close).trimEnd());
    this.#held = this.#held.slice(close + THINK.close.length);
    this.#enter("text");
    return true;
  }

  #readCall(events: TextEvent[]): boolean {
    if (this.#held === "") return false;
    const before = this.#call.text.length;
    events.push(...this.#call.push(this.#held));
    this.#held = "";
    const end = this.#call.objectEnd;
    if (end !== undefined) {
      this.#held = this.#call.text.slice(end);
      this.#finishCall(events, this.#call.text.slice(0, end), "");
      this.#state = "closing";
      return true;
    }
    if (!this.#call.notAnObject) return false;
    const close = this.#call.text.indexOf(this.#marks.close, Math.max(0, before - this.#marks.close.length));
    if (close < 0) return false;
    this.#held = this.#call.text.slice(close + this.#marks.close.length);
    this.#finishCall(events, this.#call.text.slice(0, close), this.#marks.close);
    this.#enter("text");
    return true;
  }

  /** Behind a whole call: its closing mark, which may be missing or have a stray bracket before it. */
  #readClose(): boolean {
    const rest = this.#held.replace(STRAY, "");
    if (rest.startsWith(this.#marks.close)) {
      this.#held = rest.slice(this.#marks.close.length);
    } else if (this.#marks.close.startsWith(rest)) {
      return false; // it may still come
    } else {
      this.#held = this.#held.trimStart();
    }
    this.#call = new CallReader();
    this.#enter("text");
    return true;
  }

  #finishCall(events: TextEvent[], body: string, close: string): void {
    const calls = this.#call.finish(body);
    this.#said = true;
    if (calls.length > 0) events.push(...calls);
    else events.push({ type: "text", text: this.#marks.open + body + close });
  }

  /** The answer ended inside a call: what came may hold a call whose quotes do not match, and more behind it. */
  #endOpenCall(events: TextEvent[]): void {
    const { text } = this.#call;
    const close = text.indexOf(this.#marks.close);
    this.#finishCall(events, close < 0 ? text : text.slice(0, close), close < 0 ? "" : this.#marks.close);
    this.#call = new CallReader();
    this.#enter("text");
    if (close < 0) return;
    const rest = new MarkedParser(this.#marks);
    events.push(...rest.push(text.slice(close + this.#marks.close.length)), ...rest.end());
  }

  /** Says what is held, but for what may begin one of `marks`, and but for space, which may stand before one. */
  #sayAllBut(events: TextEvent[], marks: readonly string[]): void {
    const safe = this.#held.length - Math.max(...marks.map((mark) => overlap(this.#held, mark)));
    const text = this.#held.slice(0, safe).trimEnd();
    this.#say(events, text);
    this.#held = this.#held.slice(text.length);
  }

  #say(events: TextEvent[], raw: string): void {
    const text = this.#blockEmpty ? raw.trimStart() : raw;
    if (text === "") return;
    this.#blockEmpty = false;
    if (this.#state === "thinking") {
      this.#thoughts += text;
      events.push({ type: "thinking", text });
    } else {
      this.#said = true;
      events.push({ type: "text", text });
    }
  }

  #enter(state: "text" | "thinking"): void {
    this.#state = state;
    this.#blockEmpty = true;
  }
}

/** The length of the longest end of `text` that is a beginning of `mark`, but not all of it. */
function overlap(text: string, mark: string): number {
  for (let length = Math.min(mark.length - 1, text.length); length > 0; length--) {
    if (text.endsWith(mark.slice(0, length))) return length;
  }
  return 0;
}
