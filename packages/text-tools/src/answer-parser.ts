import type { TextEvent, TextParser } from "./family.js";
import { firstMark, overlap } from "./marks.js";

/** Reads one call, from behind the mark that began it. */
export interface CallReader {
  /** Everything read so far. */
  readonly text: string;
  /** Where the call is over in `text`, its closing mark included; undefined while more may belong to it. */
  readonly end: number | undefined;
  push(text: string): TextEvent[];
  /** The answer is over: what came, and where in `text` something else begins. */
  finish(): { events: TextEvent[]; end: number };
}

/** How a family writes answers. */
export interface AnswerFormat {
  /** The mark that begins a call, and what reads it. */
  calls: readonly { open: string; reader(): CallReader }[];
  thinking?: { open: string; close: string } | undefined;
  /** Marks that stand around calls and say nothing. */
  ignored?: readonly string[] | undefined;
}

/** Tells text, thinking and calls apart by their marks. */
export class AnswerParser implements TextParser {
  readonly #format: AnswerFormat;
  readonly #textMarks: readonly string[];
  #state: "text" | "thinking" | "call";
  #held = ""; // read, but not yet said
  #space = ""; // before that: not said where a mark follows it
  #call: CallReader | undefined;
  #mark = "";
  #blockEmpty = true; // nothing but space yet in this block of text or thinking
  #said = false; // anything but thinking
  #thoughts = "";

  constructor(format: AnswerFormat, insideThinking: boolean) {
    this.#format = format;
    this.#textMarks = [...format.calls.map((call) => call.open), ...(format.ignored ?? [])];
    this.#state = insideThinking && format.thinking ? "thinking" : "text";
  }

  get call(): { mark: string; text: string } | undefined {
    return this.#call && { mark: this.#mark, text: this.#call.text };
  }

  get thinking(): boolean {
    return this.#state === "thinking";
  }

  push(text: string): TextEvent[] {
    const events: TextEvent[] = [];
    this.#held += text;
    while (this.#advance(events));
    return events;
  }

  end(): TextEvent[] {
    const events: TextEvent[] = [];
    if (this.#call) {
      const { text } = this.#call;
      const { events: last, end } = this.#call.finish();
      this.#take(events, last);
      return [...events, ...this.#parse(text.slice(end))];
    }
    this.#say(events, (this.#space + this.#held).trimEnd());
    this.#held = "";
    this.#space = "";
    const begun = firstMark(
      this.#thoughts,
      this.#format.calls.map((call) => call.open),
    );
    if (!this.#said && begun) {
      // A model that called a tool without ending its thinking meant the call.
      const calls = this.#parse(this.#thoughts.slice(begun.at));
      events.push(...calls.filter((event) => event.type !== "text" && event.type !== "thinking"));
    }
    return events;
  }

  /** Takes one step on what is held; false where more text is needed. */
  #advance(events: TextEvent[]): boolean {
    if (this.#state === "text") return this.#readText(events);
    return this.#state === "thinking" ? this.#readThinking(events) : this.#readCall(events);
  }

  #readText(events: TextEvent[]): boolean {
    const thinking = this.#format.thinking?.open;
    if (thinking !== undefined && this.#blockEmpty && this.#held.trimStart().startsWith(thinking)) {
      this.#held = this.#held.trimStart().slice(thinking.length);
      this.#enter("thinking");
      return true;
    }
    const found = firstMark(this.#held, this.#textMarks);
    if (!found) {
      const marks = thinking !== undefined && this.#blockEmpty ? [...this.#textMarks, thinking] : this.#textMarks;
      this.#sayAllBut(events, marks);
      return false;
    }
    this.#say(events, (this.#space + this.#held.slice(0, found.at)).trimEnd());
    this.#held = this.#held.slice(found.at + found.mark.length);
    this.#space = "";
    this.#blockEmpty = true;
    this.#call = this.#format.calls.find((call) => call.open === found.mark)?.reader();
    if (!this.#call) return true;
    this.#mark = found.mark;
    this.#state = "call";
    return true;
  }

  #readThinking(events: TextEvent[]): boolean {
    const mark = this.#format.thinking?.close ?? "";
    const close = this.#held.indexOf(mark);
    if (close < 0) {
      this.#sayAllBut(events, [mark]);
      return false;
    }
    this.#say(events, (this.#space + this.#held.slice(0, close)).trimEnd());
    this.#held = this.#held.slice(close + mark.length);
    this.#enter("text");
    return true;
  }

  #readCall(events: TextEvent[]): boolean {
    const call = this.#call;
    if (!call || this.#held === "") return false;
    this.#take(events, call.push(this.#held));
    this.#held = "";
    if (call.end === undefined) return false;
    this.#held = call.text.slice(call.end);
    this.#call = undefined;
    this.#enter("text");
    return true;
  }

  #take(events: TextEvent[], read: readonly TextEvent[]): void {
    if (read.length > 0) this.#said = true;
    events.push(...read);
  }

  #parse(text: string): TextEvent[] {
    const parser = new AnswerParser(this.#format, false);
    return [...parser.push(text), ...parser.end()];
  }

  /** Says what is held, but for what may begin one of `marks`, and but for space, which may stand before one. */
  #sayAllBut(events: TextEvent[], marks: readonly string[]): void {
    const safe = this.#held.length - Math.max(0, ...marks.map((mark) => overlap(this.#held, mark)));
    const text = this.#held.slice(0, safe).trimEnd();
    if (text !== "") {
      this.#say(events, this.#space + text);
      this.#space = "";
    }
    this.#space += this.#held.slice(text.length, safe);
    this.#held = this.#held.slice(safe);
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
    this.#space = "";
    this.#blockEmpty = true;
  }
}
