import { cleanPath, type FileSystem, isFsError, locate, parentOf, quote } from "@shedkit/fs";
import { OverlayFileSystem } from "@shedkit/fs/overlay";
import type { ToolContext } from "@shedkit/tool";
import { announce } from "./announce.js";
import { assertNotElsewhere, assertNotFolder, Failure } from "./failure.js";
import { assertNotIgnored } from "./ignored.js";
import { exclusively } from "./lock.js";
import { assertFresh, seenFiles } from "./seen.js";
import { isBinary } from "./text/binary.js";
import { type TextChange, unifiedDiff } from "./text/diff.js";
import { decodeText, type Encoding } from "./text/encoding.js";
import { fingerprint, MAX_FINGERPRINTED } from "./text/hash.js";
import { bytesFor, openText } from "./text-file.js";

/** A file in a draft. */
export interface DraftFile {
  /** As it is spelled in the file system. */
  path: string;
  text: string;
  encoding: Encoding;
  /** It is no text, and can be moved and removed only. */
  opaque?: boolean | undefined;
  /** Of the content that `text` was read from or last written to. */
  version: string;
  /** `text` was not written yet. */
  changed?: boolean | undefined;
}

type DraftContext = ToolContext & { params: { readFirst: boolean; gitignore: boolean } };

/** Changes of several files that are made all together, or shown only. */
export class Draft {
  readonly #fs: FileSystem;
  readonly #ctx: DraftContext;
  readonly #overlay: OverlayFileSystem;
  readonly #files = new Map<string, DraftFile>();

  constructor(fs: FileSystem, ctx: DraftContext) {
    this.#fs = fs;
    this.#ctx = ctx;
    this.#overlay = new OverlayFileSystem(fs);
  }

  /** A text file, with the changes that this draft has made to it. Throws as the tool `edit` does. */
  async open(path: string): Promise<DraftFile> {
    const { signal } = this.#ctx;
    const at = await locate(this.#overlay, cleanPath(path), signal);
    const key = await this.#overlay.realpath(at.path, { signal });
    const known = this.#files.get(key);
    if (known) {
      if (known.opaque) throw noText(known.path);
      return known;
    }
    await assertNotIgnored(this.#fs, at.path, this.#ctx);
    const { text, encoding } = await openText(this.#fs, at.path, at.stat, this.#ctx, this.#ctx.params.readFirst);
    const file: DraftFile = { path: at.path, text, encoding, version: at.stat.version };
    this.#files.set(key, file);
    return file;
  }

  /** Any file, to be moved or removed: text, which is opened, or not. Throws as {@link open} does. */
  async take(path: string): Promise<DraftFile> {
    const { signal } = this.#ctx;
    const at = await locate(this.#overlay, cleanPath(path), signal);
    const key = await this.#overlay.realpath(at.path, { signal });
    const known = this.#files.get(key);
    if (known) return known;
    const { stat } = at;
    const bytes =
      stat.type === "file" && (await this.#overlay.readFile(at.path, { end: MAX_FINGERPRINTED + 1, signal }));
    if (!bytes || !isBinary(bytes)) return this.open(path);
    await assertNotIgnored(this.#fs, at.path, this.#ctx);
    const whole = bytes.length <= MAX_FINGERPRINTED ? { bytes, fingerprint: fingerprint(bytes) } : undefined;
    assertFresh(at.path, seenFiles(this.#fs, this.#ctx).get(key), stat, whole, this.#ctx);
    const file: DraftFile = { path: at.path, text: "", encoding: "utf-8", opaque: true, version: stat.version };
    this.#files.set(key, file);
    return file;
  }

  /** Changes the text of a file that is open. It is written once, however often it changes. */
  change(file: DraftFile, text: string): void {
    file.text = text;
    file.changed = true;
  }

  async #write(file: DraftFile): Promise<void> {
    if (!file.changed) return;
    const bytes = bytesFor(file.path, file.text, file.encoding);
    const options = { ifVersion: file.version, signal: this.#ctx.signal };
    file.version = (await this.#overlay.writeFile(file.path, bytes, options)).version;
    file.changed = false;
  }

  async #writeAll(): Promise<void> {
    for (const file of this.#files.values()) await this.#write(file);
  }

  /** Makes a new file, with its folders. Throws Failure where something stands there. */
  async create(path: string, text: string): Promise<void> {
    assertNotFolder(path);
    const { signal } = this.#ctx;
    const place = this.#overlay.resolve(cleanPath(path));
    await assertNotIgnored(this.#fs, place, this.#ctx);
    await this.#overlay.mkdir(parentOf(place), { recursive: true, signal });
    try {
      const bytes = bytesFor(place, text, "utf-8");
      const { version } = await this.#overlay.writeFile(place, bytes, { ifVersion: null, signal });
      const key = await this.#overlay.realpath(place, { signal });
      this.#files.set(key, { path: place, text, encoding: "utf-8", version });
    } catch (error) {
      if (!isFsError(error, "exists") && !isFsError(error, "isADirectory")) throw error;
      throw existing(place);
    }
  }

  async remove(file: DraftFile): Promise<void> {
    await this.#overlay.remove(file.path, { signal: this.#ctx.signal });
    this.#forget(file);
  }

  /** Moves a file, making the folders of its new place. Throws Failure where something stands there. */
  async move(file: DraftFile, to: string): Promise<void> {
    const { signal } = this.#ctx;
    assertNotElsewhere(to);
    const place = this.#overlay.resolve(cleanPath(to));
    await assertNotIgnored(this.#fs, place, this.#ctx);
    await this.#write(file);
    await this.#overlay.mkdir(parentOf(place), { recursive: true, signal });
    await this.#overlay.rename(file.path, place, { signal }).catch((error: unknown) => {
      throw isFsError(error, "exists") ? existing(place) : error;
    });
    this.#forget(file);
    file.path = place;
    file.version = (await this.#overlay.stat(place, { signal })).version;
    this.#files.set(await this.#overlay.realpath(place, { signal }), file);
  }

  #forget(file: DraftFile): void {
    for (const [key, known] of this.#files) if (known === file) this.#files.delete(key);
  }

  /** What the draft comes to, as text. */
  async changes(): Promise<TextChange[]> {
    await this.#writeAll();
    const changes = await this.#overlay.diff({ signal: this.#ctx.signal });
    return changes.map(({ path, before, after }) => ({ path, before: textOf(before), after: textOf(after) }));
  }

  /** Makes the changes: all of them, or none. */
  async commit(): Promise<void> {
    const { signal } = this.#ctx;
    await this.#writeAll();
    const changes = await this.#overlay.diff({ signal });
    await this.#overlay.commit({ signal });
    const seen = seenFiles(this.#fs, this.#ctx);
    for (const { path, type, before, after } of changes) {
      if (!after) seen.delete(path);
      else
        seen.set(path, {
          version: (await this.#fs.stat(path)).version,
          fingerprint: fingerprint(after),
          content: after,
        });
      const texts = { ...(before && { before: textOf(before) }), ...(after && { after: textOf(after) }) };
      announce(this.#ctx, { path, change: type, ...texts });
    }
  }
}

function existing(path: string): Failure {
  return new Failure(`exists: ${quote(path)}`, `${quote(path)} exists already. Nothing was changed.`);
}

function noText(path: string): Failure {
  return new Failure(`not a text file: ${quote(path)}`, `${quote(path)} is not a text file. Nothing was changed.`);
}

function textOf(bytes: Uint8Array): string;
function textOf(bytes: Uint8Array | undefined): string | undefined;
function textOf(bytes: Uint8Array | undefined): string | undefined {
  return bytes && decodeText(bytes).text;
}

/** Runs changes of several files, no other change of which is under way meanwhile. */
export async function lockingAll<T>(
  fs: FileSystem,
  paths: readonly string[],
  ctx: ToolContext,
  work: () => Promise<T>,
): Promise<T> {
  const keys = new Set<string>();
  for (const path of paths) keys.add(await keyOf(fs, path, ctx));
  // In one order for everybody, so that two calls never wait for each other.
  const ordered = [...keys].sort();
  const next = (i: number): Promise<T> => {
    const key = ordered[i];
    return key === undefined ? work() : exclusively(fs, key, ctx.signal, () => next(i + 1));
  };
  return next(0);
}

/** The name that all spellings of a path share: where it is, if it is there. */
export async function keyOf(fs: FileSystem, path: string, ctx: ToolContext): Promise<string> {
  const clean = cleanPath(path);
  try {
    const { path: place } = await locate(fs, clean, ctx.signal);
    return await fs.realpath(place, { signal: ctx.signal });
  } catch (error) {
    if (isFsError(error, "notFound")) return fs.resolve(clean);
    throw error;
  }
}

const MAX_SHOWN = 20_000; // characters of a diff

/** A diff for a model, cut at a line end where it is long. */
export function shownDiff(changes: readonly TextChange[]): string {
  const diff = unifiedDiff(changes);
  if (diff.length <= MAX_SHOWN) return diff;
  return `${diff.slice(0, diff.lastIndexOf("\n", MAX_SHOWN))}\n[The rest of the changes is not shown.]`;
}
