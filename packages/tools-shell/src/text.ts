import type { Secrets } from "./terminal.js";

const ESC = "\u001b";
// Control sequences: OSC, DCS, APC, PM and SOS up to their end; CSI; other short ones.
const SEQUENCES =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  /\u001b[\]PX^_][^\u0007\u001b\u009c\n]*(?:\u0007|\u001b\\|\u009c)?|[\u001b\u009b]\[?[0-?]*[ -/]*[@-~]|\u001b/g;
/** A sequence at the end of which more may come. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const OPEN_SEQUENCE = /(?:\u001b\[?[0-?]*[ -/]*|\u001b[\]PX^_][^\u0007\u001b\u009c\n]*\u001b?|\r+)$/;
// Controls but tab and line feed; what turns the direction of text; what is not seen at all.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u2060\ufeff\u202a-\u202e\u2066-\u2069]/g;

/** What a command wrote, as a person would see it: colours gone, overwritten lines as they stood last, no control characters. */
export function cleanOutput(text: string): string {
  let clean = text.includes(ESC) || text.includes("\u009b") ? text.replace(SEQUENCES, "") : text;
  if (clean.includes("\r")) clean = clean.split("\n").map(lastWritten).join("\n");
  // A letter that is struck over, as in manual pages.
  if (clean.includes("\b")) clean = clean.replace(/[^\n\b][\b]/g, "");
  return clean.replace(UNSEEN, "");
}

/** What stands in a line that was written over. */
function lastWritten(line: string): string {
  let end = line.length;
  while (line[end - 1] === "\r") end--;
  return line.slice(line.lastIndexOf("\r", end - 1) + 1, end);
}

/** Bytes that come in pieces, as clean text: characters and control sequences that are cut stay whole. */
export class OutputStream {
  readonly #decoder = new TextDecoder();
  readonly #secrets: Secrets | undefined;
  #open = "";
  #begun = ""; // what may be the beginning of a secret

  constructor(secrets?: Secrets) {
    this.#secrets = secrets;
  }

  push(bytes: Uint8Array): string {
    const text = this.#open + this.#decoder.decode(bytes, { stream: true });
    const open = OPEN_SEQUENCE.exec(text.slice(-MAX_OPEN))?.[0] ?? "";
    this.#open = open;
    return this.#hidden(shown(text.slice(0, text.length - open.length)), true);
  }

  /** What is left over at the end. */
  end(): string {
    return this.#hidden(shown(this.#open + this.#decoder.decode()), false);
  }

  #hidden(text: string, more: boolean): string {
    if (!this.#secrets) return text;
    const whole = this.#secrets.hide(this.#begun + text);
    const begun = more ? this.#secrets.begun(whole) : 0;
    this.#begun = whole.slice(whole.length - begun);
    return whole.slice(0, whole.length - begun);
  }
}

const MAX_OPEN = 256; // characters of a sequence that is waited for

/** For someone who looks on: a line that is overwritten becomes a line. */
function shown(text: string): string {
  return cleanOutput(text.replace(/\r+\n/g, "\n").replaceAll("\r", "\n"));
}

/** The first and the last characters of a long text, `limit` together, cut at line ends where that loses little. */
export function headAndTail(head: string, tail: string, limit: number): { head: string; tail: string } {
  const half = Math.floor(limit / 2);
  return { head: cutEnd(head, half), tail: cutStart(tail, limit - half) };
}

function cutEnd(text: string, max: number): string {
  if (text.length <= max) return text;
  const cut = text.slice(0, isHighSurrogate(text, max - 1) ? max - 1 : max);
  const line = cut.lastIndexOf("\n");
  return line > cut.length * 0.9 ? cut.slice(0, line + 1) : cut;
}

function cutStart(text: string, max: number): string {
  if (text.length <= max) return text;
  const start = text.length - max;
  const cut = text.slice(isHighSurrogate(text, start - 1) ? start + 1 : start);
  const line = cut.indexOf("\n");
  return line >= 0 && line < cut.length * 0.1 ? cut.slice(line + 1) : cut;
}

function isHighSurrogate(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit >= 0xd800 && unit < 0xdc00;
}

/** `1234567` -> `"1,234,567"`. */
export function count(n: number): string {
  return String(n).replace(/\B(?=(?:\d{3})+$)/g, ",");
}

/** `90000` -> `"90 s"`, `1500` -> `"1.5 s"`. */
export function seconds(ms: number): string {
  return `${ms / 1000} s`;
}
