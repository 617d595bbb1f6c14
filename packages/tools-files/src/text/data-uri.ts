import { count } from "./format.js";

const MARK = ";base64,";
/** How much of a data URI's base64 is shown, in characters; of more, nothing. */
const MAX_SHOWN = 256;
const LONG = new RegExp(`${MARK}([A-Za-z0-9+/_-]{${MAX_SHOWN + 1},}=*)`, "g");

/** A text without the base64 of its data URIs, where that is long. */
export function withoutData(text: string): { text: string; cut: number } {
  let cut = 0;
  const shown = text.replace(LONG, (_, data: string) => {
    cut++;
    return `${MARK}[${count(data.length)} characters left out]`;
  });
  return { text: shown, cut };
}

/** True for a text with what stands in the place of data. */
export function hasGap(text: string): boolean {
  return /base64,\[[\d,]+ characters left out\]/.test(text);
}

export const GAP_TEXT = '"[... characters left out]" stands for the base64 of a data URI, which is not shown.';

/** What is said of a text that data was cut from. */
export const DATA_NOTE =
  "The base64 of data URIs is left out; what stands in its place is not in the file, and must not be written to one.";

const MARK_BYTES = new TextEncoder().encode(MARK);

/** Which bytes can stand in base64. */
const IS_DATA = Uint8Array.from({ length: 256 }, (_, byte) =>
  Number(/[A-Za-z0-9+/_-]/.test(String.fromCharCode(byte))),
);

/** Counts bytes that {@link withoutData} leaves out, in a text that comes in pieces. */
export class DataCount {
  /** How many bytes of the mark are there, before the data begins. */
  #marked = 0;
  #run = 0;

  /** How many of these bytes are left out, all but the first {@link MAX_SHOWN} of each. */
  add(bytes: Uint8Array, start: number, end: number): number {
    let left = 0;
    for (let at = start; at < end; ) {
      if (this.#marked === MARK_BYTES.length) {
        const begin = at;
        while (at < end && IS_DATA[bytes[at] ?? 0] === 1) at++;
        const before = Math.max(this.#run, MAX_SHOWN);
        this.#run += at - begin;
        left += Math.max(this.#run - before, 0);
        if (at < end) this.#marked = this.#run = 0;
      } else if (this.#marked === 0) {
        const mark = bytes.indexOf(MARK_BYTES[0] ?? 0, at);
        if (mark < 0 || mark >= end) return left;
        this.#marked = 1;
        at = mark + 1;
      } else if (bytes[at] === MARK_BYTES[this.#marked]) {
        this.#marked++;
        at++;
      } else this.#marked = 0; // looked at again, as the first
    }
    return left;
  }
}
