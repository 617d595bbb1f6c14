import type { ByteSource } from "./byte-source.js";
import { modelError } from "./error.js";

/** Why a file is not read further; the caller knows its name. */
export class NotReadable extends Error {
  readonly problem: "truncated" | "damaged";
  constructor(problem: "truncated" | "damaged", message: string) {
    super(message);
    this.problem = problem;
  }
}

const CHUNK = 1024 * 1024;
const MOST_CHUNK = 16 * CHUNK;

/**
 * Reads a file's values from front to back. `has` says whether the next bytes are at hand; only where they are not
 * must `need` be awaited, so that a vocabulary of a million entries costs no million awaits.
 */
export class GgufReader {
  /** Of the next byte. */
  position = 0;
  readonly #source: ByteSource;
  #bytes: Uint8Array = new Uint8Array();
  #view = new DataView(this.#bytes.buffer);
  #at = 0;
  #chunk = CHUNK;

  constructor(source: ByteSource) {
    this.#source = source;
  }

  /** Bytes from here to the end of the file. */
  get left(): number {
    return this.#source.size - this.position;
  }

  has(count: number): boolean {
    return this.#at + count <= this.#bytes.length;
  }

  /** Throws NotReadable where the file ends before. */
  async need(count: number): Promise<void> {
    if (this.has(count)) return;
    if (count > this.left) throw new NotReadable("truncated", "it ends inside its header");
    let bytes = this.#bytes.subarray(this.#at);
    while (bytes.length < count) {
      const wanted = Math.max(count - bytes.length, this.#chunk);
      const more = await this.#source.read(this.position + bytes.length, wanted);
      if (more.length === 0) throw new NotReadable("truncated", "it ends inside its header");
      this.#chunk = Math.min(MOST_CHUNK, this.#chunk * 2); // over a network few requests cost less than many
      bytes = joined(bytes, more);
    }
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#at = 0;
  }

  /** Passes over bytes, without reading those that are not at hand. */
  skip(count: number): void {
    if (count > this.left) throw new NotReadable("truncated", "it ends inside its header");
    const at = this.#at + count;
    this.position += count;
    if (at <= this.#bytes.length) {
      this.#at = at;
      return;
    }
    this.#bytes = new Uint8Array();
    this.#at = 0;
  }

  u32(): number {
    const value = this.#view.getUint32(this.#at, true);
    this.#pass(4);
    return value;
  }

  /** A length, a count or an offset. */
  u64(): number {
    const value = this.#view.getUint32(this.#at, true) + this.#view.getUint32(this.#at + 4, true) * 2 ** 32;
    if (value > Number.MAX_SAFE_INTEGER) throw new NotReadable("damaged", `it names a length of ${value}`);
    this.#pass(8);
    return value;
  }

  /** What a function reads from the next `count` bytes. */
  take<T>(count: number, read: (view: DataView, at: number) => T): T {
    const value = read(this.#view, this.#at);
    this.#pass(count);
    return value;
  }

  async text(): Promise<string> {
    await this.need(8);
    const length = this.u64();
    await this.need(length);
    const value = decoder.decode(this.#bytes.subarray(this.#at, this.#at + length));
    this.#pass(length);
    return value;
  }

  #pass(count: number): void {
    this.#at += count;
    this.position += count;
  }
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array {
  if (a.length === 0) return b;
  const both = new Uint8Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}

const decoder = new TextDecoder();

/** An error about a file, from one of {@link NotReadable}. */
export function readError(name: string, error: NotReadable) {
  const text =
    error.problem === "truncated"
      ? `${name} is cut short: ${error.message}. Delete it and fetch it again.`
      : `${name} is damaged: ${error.message}. Fetch it again.`;
  return modelError(error.problem, text, { cause: error });
}
