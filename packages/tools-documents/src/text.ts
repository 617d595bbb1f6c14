import { ToolCallResult } from "@shedkit/tool";
import type { FormatFile, ReadOutput } from "@shedkit/tools-files";
import { Failure } from "./failure.js";
import type { Block } from "./image.js";

/** How large a document may be, in bytes, and how long it may take. */
const MAX_BYTES = 50 * 1024 * 1024;
export const TIMEOUT_MS = 60_000;

/** Throws Failure for a document that is too large. */
export function checkSize({ path, size }: FormatFile): void {
  if (size <= MAX_BYTES) return;
  throw new Failure("too large", `"${path}" has ${size} bytes; at most ${MAX_BYTES} of a document are read.`);
}

/** Without what is only space. */
export function tidy(text: string): string {
  return text
    .replace(/[^\S\n]+$/gm, "")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
}

/** The pages read so far, as one text, up to a size. */
export class PagedText {
  readonly #noun: string;
  readonly #total: number;
  readonly #maxBytes: number;
  readonly #parts: string[] = [];
  #bytes = 0;
  #note = "";

  constructor(noun: string, total: number, maxBytes: number) {
    this.#noun = noun;
    this.#total = total;
    this.#maxBytes = maxBytes;
  }

  /** How many more characters can be of use. */
  get room(): number {
    return Math.max(0, this.#maxBytes - this.#bytes);
  }

  /** Adds a page. False where it did not fit: no more pages do. */
  add(page: number, text: string, empty: string, param: string): boolean {
    const clean = tidy(text);
    const part = `[${this.#noun} ${page} of ${this.#total}]\n${clean === "" ? empty : clean}`;
    const bytes = new TextEncoder().encode(part);
    if (this.#bytes + bytes.length <= this.#maxBytes) {
      this.#parts.push(part);
      this.#bytes += bytes.length;
      return true;
    }
    if (this.#parts.length > 0) {
      this.#note = `${this.#noun} ${page} and what follows do not fit into one call. Go on with ${param} ${page}-.`;
      return false;
    }
    this.#parts.push(new TextDecoder().decode(bytes.subarray(0, this.#maxBytes)).replace(/\uFFFD+$/, ""));
    this.#note = `${this.#noun} ${page} is too long for one call; its end is left out.`;
    return false;
  }

  /** `pictures`: what is shown beside the text. */
  result(path: string, pictures: readonly Block[] = []): ToolCallResult {
    const content = this.#parts.join("\n\n");
    const lines = content.split("\n").length;
    const truncated = this.#note !== "";
    const output: ReadOutput = {
      path,
      content,
      firstLine: 1,
      lines,
      totalLines: lines,
      encoding: "document",
      truncated,
    };
    const text = truncated ? `${content}\n\n[${this.#note}]` : content;
    return new ToolCallResult([{ type: "text", text }, ...pictures], { output: { ...output } });
  }
}
