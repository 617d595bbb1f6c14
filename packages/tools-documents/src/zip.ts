import { type Entry, fromBuffer, type ZipFile } from "yauzl";
import { Failure } from "./failure.js";

const MAX_ENTRIES = 20_000;
const MAX_ENTRY = 8 * 1024 * 1024;
const MAX_UNPACKED = 32 * 1024 * 1024;

/** The files of a ZIP, each unpacked when it is asked for; in all no more than fits. */
export class Zip {
  readonly #zip: ZipFile;
  readonly #entries: ReadonlyMap<string, Entry>;
  #unpacked = 0;

  private constructor(zip: ZipFile, entries: ReadonlyMap<string, Entry>) {
    this.#zip = zip;
    this.#entries = entries;
  }

  /** Rejects with Failure `damaged`, `encrypted` or `too large`. */
  static open(bytes: Uint8Array): Promise<Zip> {
    return new Promise((resolve, reject) => {
      fromBuffer(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), { lazyEntries: true }, (fault, zip) => {
        if (fault) return reject(broken(fault));
        const entries = new Map<string, Entry>();
        zip.on("error", (error) => reject(broken(error)));
        zip.on("end", () => resolve(new Zip(zip, entries)));
        zip.on("entry", (entry: Entry) => {
          if (entries.size >= MAX_ENTRIES)
            return reject(new Failure("too large", `It has more than ${MAX_ENTRIES} parts.`));
          entries.set(entry.fileName, entry);
          zip.readEntry();
        });
        zip.readEntry();
      });
    });
  }

  has(name: string): boolean {
    return this.#entries.has(name);
  }

  /** The text of a file, in pieces. Rejects with Failure, or with the reason of the signal. */
  async *text(name: string, signal: AbortSignal): AsyncGenerator<string> {
    const entry = this.#entries.get(name);
    if (entry === undefined) throw new Failure("damaged", `It has no ${name}.`);
    if ((entry.generalPurposeBitFlag & 1) === 1) throw new Failure("encrypted", "It is encrypted.");
    this.#unpacked += entry.uncompressedSize;
    if (entry.uncompressedSize > MAX_ENTRY || this.#unpacked > MAX_UNPACKED) {
      throw new Failure("too large", `Unpacked it is too large: ${name} has ${entry.uncompressedSize} bytes.`);
    }
    const stream = await new Promise<NodeJS.ReadableStream>((resolve, reject) => {
      this.#zip.openReadStream(entry, (fault, opened) => (fault ? reject(broken(fault)) : resolve(opened)));
    });
    const decoder = new TextDecoder();
    try {
      for await (const chunk of stream) {
        signal.throwIfAborted();
        yield decoder.decode(chunk as Buffer, { stream: true }); // more than the size it states is an error
      }
    } catch (error) {
      signal.throwIfAborted();
      throw error instanceof Failure ? error : broken(error);
    }
    yield decoder.decode();
  }
}

function broken(fault: unknown): Failure {
  const why = fault instanceof Error ? fault.message : String(fault);
  return new Failure("damaged", `It is damaged or broken off: ${why.replace(/\.$/, "")}.`);
}
