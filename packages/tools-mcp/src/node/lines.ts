import { Buffer } from "node:buffer";

/** One message; a server that writes more without a line end is not one. */
const MAX_LINE = 32 * 1024 * 1024;

/** Takes bytes, and gives lines of UTF-8. Linear in what comes, however it is cut. */
export class Lines {
  readonly #onLine: (line: string) => void;
  #parts: Buffer[] = [];
  #size = 0;

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine;
  }

  /** Throws where a line gets too long, and whatever `onLine` throws. */
  push(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(0x0a); end >= 0; end = chunk.indexOf(0x0a, start)) {
      this.#keep(chunk.subarray(start, end));
      const line = Buffer.concat(this.#parts).toString("utf8");
      this.#parts = [];
      this.#size = 0;
      start = end + 1;
      this.#onLine(line);
    }
    this.#keep(chunk.subarray(start));
  }

  #keep(part: Buffer): void {
    if (part.length === 0) return;
    this.#size += part.length;
    if (this.#size > MAX_LINE) throw new Error(`it wrote a line of more than ${MAX_LINE / 1024 / 1024} MiB`);
    this.#parts.push(part);
  }
}
