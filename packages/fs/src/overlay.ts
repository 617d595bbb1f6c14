import type { DirEntry, FileStat, FileSystem, FsOptions, ReadOptions, WriteOptions } from "./contract.js";
import { CHUNK_BYTES } from "./contract.js";
import { FsError, isFsError } from "./error.js";
import { commitTree } from "./overlay/commit.js";
import { changesOf, type FileChange } from "./overlay/diff.js";
import { mergeEntries, type NewFile, type NewFolder, type Over, type PassedFolder, wasAt } from "./overlay/tree.js";
import { joinPath, nameOf, parentOf, quote } from "./path.js";

export type { FileChange };

/** Where a path leads. */
interface Place {
  /** Canonical. */
  path: string;
  /** What is laid over the base there. */
  over: Over | undefined;
  /** What stands there; undefined for nothing. */
  stat: FileStat | undefined;
}

const MAX_LINKS = 40;

/**
 * A file system laid over another: what is changed stays in memory until {@link commit}, the rest is seen through. The
 * changes can be looked at with {@link diff} and forgotten with {@link drop}.
 *
 * Symbolic links of the base are followed and can be removed, but not moved.
 */
export class OverlayFileSystem implements FileSystem {
  readonly root: string;
  readonly #base: FileSystem;
  readonly #now: () => number;
  #tree: PassedFolder = { type: "passed", children: new Map() };
  #versions = 0;
  /** The last of the changes under way: they are made one after the other. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(base: FileSystem, options: { now?: (() => number) | undefined } = {}) {
    this.#base = base;
    this.root = base.root;
    this.#now = options.now ?? Date.now;
  }

  /** The files that differ from the base, by path. Folders are not listed. */
  diff(options?: FsOptions): Promise<FileChange[]> {
    return changesOf(this.#base, this.#tree, options);
  }

  /**
   * Makes the changes in the base: all of them, or after a failure none. Rejects with FsError `changed` or `exists` if what
   * is changed here was changed there meanwhile. What is written is held in memory. Rejects with `io` where a failure could
   * not be taken back whole; and where all was made but what was removed could not be deleted, which then lies in a
   * `.shedkit-removed-*` beside where it was. The message tells which.
   */
  commit(options: FsOptions = {}): Promise<void> {
    return this.#change(async () => {
      const left = await commitTree(this.#base, this.#tree, options);
      this.drop();
      if (left) throw left;
    });
  }

  /** Forgets all changes. */
  drop(): void {
    this.#tree = { type: "passed", children: new Map() };
  }

  resolve(path: string): string {
    return this.#base.resolve(path);
  }

  async realpath(path: string, options?: FsOptions): Promise<string> {
    return (await this.#existing(path, true, options)).path;
  }

  async stat(path: string, options?: FsOptions): Promise<FileStat> {
    return (await this.#existing(path, true, options)).stat;
  }

  async lstat(path: string, options?: FsOptions): Promise<FileStat> {
    return (await this.#existing(path, false, options)).stat;
  }

  async readFile(path: string, options: ReadOptions = {}): Promise<Uint8Array<ArrayBuffer>> {
    const source = await this.#source(path, options);
    if (typeof source === "string") return this.#base.readFile(source, options);
    return new Uint8Array(range(source, options));
  }

  async *readChunks(path: string, options: ReadOptions = {}): AsyncGenerator<Uint8Array<ArrayBuffer>> {
    const source = await this.#source(path, options);
    if (typeof source === "string") return yield* this.#base.readChunks(source, options);
    const data = range(source, options); // never changed in place
    for (let at = 0; at < data.length; at += CHUNK_BYTES) {
      options.signal?.throwIfAborted();
      yield new Uint8Array(data.subarray(at, at + CHUNK_BYTES));
    }
  }

  writeFile(path: string, data: Uint8Array | string, options: WriteOptions = {}): Promise<FileStat> {
    return this.#change(() => this.#writeFile(path, data, options));
  }

  async #writeFile(path: string, data: Uint8Array | string, options: WriteOptions): Promise<FileStat> {
    const link = await this.#walk(path, false, options);
    const place = link.stat?.type === "symlink" ? await this.#existing(path, true, options) : link;
    const { stat } = place;
    if (stat?.type === "directory") throw new FsError("isADirectory", path, `${quote(path)} is a folder, not a file.`);
    if (stat && stat.type !== "file") throw new FsError("notAFile", path, `${quote(path)} is not a regular file.`);
    if (options.ifVersion === null && stat) throw new FsError("exists", path, `${quote(path)} exists already.`);
    if (typeof options.ifVersion === "string" && stat?.version !== options.ifVersion) {
      throw new FsError("changed", path, `${quote(path)} was ${stat ? "changed" : "removed"} meanwhile.`);
    }
    const bytes = typeof data === "string" ? new TextEncoder().encode(data) : data.slice();
    const file = this.#file(bytes, bytes.length, stat?.mode ?? options.mode ?? 0o644);
    await this.#lay(place.path, file, options);
    return file.stat;
  }

  mkdir(path: string, options: FsOptions & { recursive?: boolean | undefined } = {}): Promise<void> {
    return this.#change(() => this.#mkdir(path, options));
  }

  async #mkdir(path: string, options: FsOptions & { recursive?: boolean | undefined }): Promise<void> {
    const parts = this.resolve(path).split("/");
    for (let i = options.recursive ? 1 : parts.length; i <= parts.length; i++) {
      const part = parts.slice(0, i).join("/");
      const place = await this.#walk(part, false, options);
      if (!place.stat) await this.#lay(place.path, this.#folder(), options);
      else if (!options.recursive) throw new FsError("exists", path, `${quote(path)} exists already.`);
      else if ((await this.#walk(part, true, options).catch(missingIsNone))?.stat?.type !== "directory") {
        throw new FsError("notADirectory", path, `${quote(path)}: ${quote(part)} is not a folder.`);
      }
    }
  }

  async readdir(path: string, options?: FsOptions): Promise<DirEntry[]> {
    const { path: folder, over, stat } = await this.#existing(path, true, options);
    if (stat.type !== "directory") throw notAFolder(path, this.resolve(path));
    const base = over?.type === "directory" ? [] : await this.#base.readdir(folder, options);
    return over && "children" in over ? mergeEntries(base, over.children) : base;
  }

  rename(from: string, to: string, options: FsOptions & { overwrite?: boolean | undefined } = {}): Promise<void> {
    return this.#change(() => this.#rename(from, to, options));
  }

  async #rename(from: string, to: string, options: FsOptions & { overwrite?: boolean | undefined }): Promise<void> {
    const source = await this.#changeable(from, options);
    const target = await this.#walk(to, false, options);
    if (target.path === ".") throw new FsError("invalidPath", to, "The root folder itself cannot be changed.");
    if (target.path.startsWith(`${source.path}/`)) {
      throw new FsError("invalidPath", to, `${quote(from)} cannot be moved into itself (${quote(to)}).`);
    }
    if (target.stat && !(options.overwrite && target.stat.type !== "directory")) {
      throw new FsError("exists", to, `${quote(to)} exists already.`);
    }
    if (target.stat && source.stat.type === "directory") throw notAFolder(from, this.resolve(to));
    if (target.path === source.path) return;
    const moved = await this.#copy(source.path, from, options);
    await this.#lay(target.path, moved, options);
    await this.#takeAway(source.path, options);
  }

  remove(path: string, options: FsOptions & { recursive?: boolean | undefined } = {}): Promise<void> {
    return this.#change(() => this.#remove(path, options));
  }

  async #remove(path: string, options: FsOptions & { recursive?: boolean | undefined }): Promise<void> {
    const place = await this.#changeable(path, options);
    if (place.stat.type === "directory" && !options.recursive && (await this.readdir(place.path, options)).length > 0) {
      throw new FsError("notEmpty", path, `The folder ${quote(path)} is not empty.`);
    }
    await this.#takeAway(place.path, options);
  }

  #change<T>(work: () => Promise<T>): Promise<T> {
    const change = this.#last.then(work);
    this.#last = change.catch(() => undefined);
    return change;
  }

  /** Walks a path over both layers, following links. Rejects where a folder on the way is missing. */
  async #walk(path: string, follow: boolean, options?: FsOptions): Promise<Place> {
    options?.signal?.throwIfAborted();
    const resolved = this.resolve(path);
    let todo = resolved === "." ? [] : resolved.split("/");
    let at = ".";
    let over: Over | undefined = this.#tree;
    let stat: FileStat | undefined = folderStat(0);
    for (let links = 0; todo.length > 0; ) {
      if (stat === undefined) throw new FsError("notFound", path, `${quote(path)}: there is no folder ${quote(at)}.`);
      if (stat.type !== "directory") throw notAFolder(path, at);
      const part: string = todo.shift() ?? "";
      const bare: boolean = over?.type === "directory";
      at = joinPath(at, part);
      over = over && "children" in over ? over.children.get(part) : undefined;
      stat = over ? statOf(over) : bare ? undefined : await wasStat(this.#base, at, options);
      if (stat?.type !== "symlink" || (todo.length === 0 && !follow)) continue;
      if (++links > MAX_LINKS) {
        throw new FsError("invalidPath", path, `${quote(path)} leads through symbolic links that run in a circle.`);
      }
      const target = await this.#base.realpath(at, options);
      todo = [...(target === "." ? [] : target.split("/")), ...todo];
      at = ".";
      over = this.#tree;
      stat = folderStat(0);
    }
    if (at === ".") stat = await this.#base.stat(".", options);
    return { path: at, over, stat };
  }

  async #existing(path: string, follow: boolean, options?: FsOptions): Promise<Place & { stat: FileStat }> {
    const place = await this.#walk(path, follow, options);
    if (!place.stat) throw new FsError("notFound", path, `There is no file or folder ${quote(path)}.`);
    return { ...place, stat: place.stat };
  }

  async #changeable(path: string, options: FsOptions): Promise<Place & { stat: FileStat }> {
    if (this.resolve(path) === ".") throw new FsError("invalidPath", path, "The root folder itself cannot be changed.");
    return this.#existing(path, false, options);
  }

  /** The bytes of a file, or the path in the base that has them. */
  async #source(path: string, options: ReadOptions): Promise<Uint8Array | string> {
    const { path: real, over, stat } = await this.#existing(path, true, options);
    if (stat.type === "directory") throw new FsError("isADirectory", path, `${quote(path)} is a folder, not a file.`);
    if (over?.type !== "file") return real;
    return over.data instanceof Uint8Array ? over.data : over.data.base;
  }

  /** Lays something over the base at a canonical path whose folder exists. */
  async #lay(path: string, over: NewFile | NewFolder, options: FsOptions): Promise<void> {
    const { children, bare } = this.#childrenOf(parentOf(path));
    const old = children.get(nameOf(path));
    if (bare) over.was = undefined;
    else if (old && old.type !== "passed") over.was = old.was;
    else over.was = await wasAt(this.#base, path, options);
    children.set(nameOf(path), over);
  }

  async #takeAway(path: string, options: FsOptions): Promise<void> {
    const { children, bare } = this.#childrenOf(parentOf(path));
    const old = children.get(nameOf(path));
    const was = bare ? undefined : old && old.type !== "passed" ? old.was : await wasAt(this.#base, path, options);
    if (was) children.set(nameOf(path), { type: "removed", was });
    else children.delete(nameOf(path));
  }

  /** What is laid over in an existing folder, made ready to take more; `bare` where the base is not seen in it. */
  #childrenOf(folder: string): { children: Map<string, Over>; bare: boolean } {
    let node: PassedFolder | NewFolder = this.#tree;
    for (const part of folder === "." ? [] : folder.split("/")) {
      let next: Over | undefined = node.children.get(part);
      if (!next || !("children" in next)) {
        next = { type: "passed", children: new Map() };
        node.children.set(part, next);
      }
      node = next;
    }
    return { children: node.children, bare: node.type === "directory" };
  }

  /** A folder or file as something new, its bytes still in the base where they are. */
  async #copy(path: string, given: string, options: FsOptions): Promise<NewFile | NewFolder> {
    const { over, stat } = await this.#existing(path, false, options);
    if (stat.type === "directory") {
      const folder = this.#folder();
      for (const { name } of await this.readdir(path, options)) {
        folder.children.set(name, await this.#copy(joinPath(path, name), given, options));
      }
      return folder;
    }
    if (stat.type !== "file") {
      throw new FsError("notAFile", given, `${quote(path)} is a link or a device, which cannot be moved here.`);
    }
    const data = over?.type === "file" ? over.data : { base: path };
    return this.#file(data, stat.size, stat.mode);
  }

  #file(data: NewFile["data"], size: number, mode: number): NewFile {
    const stat = { type: "file" as const, size, mode, mtimeMs: this.#now(), version: `overlay-${++this.#versions}` };
    return { type: "file", data, stat, was: undefined };
  }

  #folder(): NewFolder {
    return { type: "directory", children: new Map(), mtimeMs: this.#now(), was: undefined };
  }
}

function statOf(over: Over): FileStat | undefined {
  if (over.type === "removed") return undefined;
  return over.type === "file" ? over.stat : folderStat(over.type === "directory" ? over.mtimeMs : 0);
}

function folderStat(mtimeMs: number): FileStat {
  return { type: "directory", size: 0, mtimeMs, mode: 0o755, version: `overlay-folder-${mtimeMs}` };
}

async function wasStat(base: FileSystem, path: string, options?: FsOptions): Promise<FileStat | undefined> {
  return base.lstat(path, options).catch(missingIsNone);
}

function missingIsNone(error: unknown): undefined {
  if (isFsError(error, "notFound")) return undefined;
  throw error;
}

function notAFolder(path: string, file: string): FsError {
  return new FsError("notADirectory", path, `${quote(path)}: ${quote(file)} is a file, not a folder.`);
}

function range(data: Uint8Array, options: ReadOptions): Uint8Array {
  const end = Math.min(options.end ?? data.length, data.length);
  return data.subarray(Math.min(Math.max(options.start ?? 0, 0), end), end);
}
