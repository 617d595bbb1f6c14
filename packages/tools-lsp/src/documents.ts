import { type FileSystem, isFsError, nameOf, quote } from "@shedkit/fs";
import { Failure } from "./failure.js";
import { uriOf } from "./paths.js";
import { unlessAborted } from "./wait.js";

/** What is told to a server of its files. */
export interface DocumentSink {
  open(uri: string, language: string, version: number, text: string): Promise<void>;
  change(uri: string, version: number, text: string): Promise<void>;
  close(uri: string): Promise<void>;
}

const MOST_OPEN = 64;
const MAX_BYTES = 4 * 1024 * 1024;

interface Opened {
  uri: string;
  /** Of the file, as it was sent. */
  stamp: string;
  version: number;
  text: string;
}

/** The files that a server was shown, each as it stands in the file system. */
export class Documents {
  readonly #fs: FileSystem;
  readonly #languages: { readonly [ending: string]: string };
  readonly #sink: DocumentSink;
  readonly #open = new Map<string, Opened>();
  #queue: Promise<unknown> = Promise.resolve();

  constructor(fs: FileSystem, languages: { readonly [ending: string]: string }, sink: DocumentSink) {
    this.#fs = fs;
    this.#languages = languages;
    this.#sink = sink;
  }

  /** Shows a file to the server, and what changed of those shown before. Rejects with FsError or Failure. */
  show(path: string, signal: AbortSignal): Promise<{ uri: string; text: string }> {
    const shown = this.#inTurn(async () => {
      await this.#refresh(signal, path);
      const { uri, text } = await this.#show(path, signal);
      return { uri, text };
    });
    return unlessAborted(shown, signal);
  }

  /** Tells the server what changed of the files it was shown. Returns those that did, without those that are gone. */
  refresh(signal: AbortSignal): Promise<string[]> {
    return unlessAborted(
      this.#inTurn(() => this.#refresh(signal)),
      signal,
    );
  }

  async #refresh(signal: AbortSignal, except?: string): Promise<string[]> {
    const changed: string[] = [];
    for (const [path, { stamp }] of [...this.#open]) {
      if (path === except) continue;
      try {
        if ((await this.#fs.stat(path, { signal })).version === stamp) continue;
        await this.#show(path, signal);
        changed.push(path);
      } catch (error) {
        if (!(error instanceof Failure) && !isFsError(error)) throw error;
        await this.#close(path); // gone, or no longer to be read
      }
    }
    return changed;
  }

  async #show(path: string, signal: AbortSignal): Promise<Opened> {
    const stat = await this.#fs.stat(path, { signal });
    const known = this.#open.get(path);
    if (known?.stamp === stat.version) {
      this.#open.delete(path);
      this.#open.set(path, known); // the latest last
      return known;
    }
    if (stat.type === "directory") throw new Failure("a folder", `${quote(path)} is a folder, not a file.`);
    if (stat.size > MAX_BYTES) {
      throw new Failure("too large", `${quote(path)} is too large for a language server (${stat.size} bytes).`);
    }
    const text = new TextDecoder().decode(await this.#fs.readFile(path, { signal }));
    const uri = known?.uri ?? uriOf(this.#fs, path);
    const opened: Opened = { uri, stamp: stat.version, version: (known?.version ?? 0) + 1, text };
    this.#open.delete(path);
    this.#open.set(path, opened);
    if (known === undefined) await this.#sink.open(uri, this.#languageOf(path), opened.version, text);
    else if (known.text !== text) await this.#sink.change(uri, opened.version, text);
    for (const oldest of this.#open.keys()) {
      if (this.#open.size <= MOST_OPEN) break;
      await this.#close(oldest);
    }
    return opened;
  }

  async #close(path: string): Promise<void> {
    const known = this.#open.get(path);
    if (known === undefined) return;
    this.#open.delete(path);
    await this.#sink.close(known.uri);
  }

  #languageOf(path: string): string {
    return languageOf(this.#languages, path) ?? "plaintext";
  }

  /** One after the other: a server must be told of versions in their order. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#queue.then(work);
    this.#queue = turn.catch(() => {});
    return turn;
  }
}

/** The language of a file by the longest ending that its name has; undefined for none. */
export function languageOf(languages: { readonly [ending: string]: string }, path: string): string | undefined {
  const name = nameOf(path).toLowerCase();
  let best: [ending: string, language: string] | undefined;
  for (const entry of Object.entries(languages)) {
    if (name.endsWith(entry[0].toLowerCase()) && entry[0].length > (best?.[0].length ?? 0)) best = entry;
  }
  return best?.[1];
}
