import type { DirEntry, FileStat, FileSystem, FsOptions, ReadOptions, WriteOptions } from "./contract.js";
import { CHUNK_BYTES } from "./contract.js";
import { DenyRules } from "./deny.js";
import { FsError } from "./error.js";
import {
  entriesOf,
  type FileNode,
  type FolderNode,
  missing,
  notAFolder,
  type Place,
  statNode,
  walk,
} from "./memory/tree.js";
import { outsideError, parentOf, quote, resolvePath } from "./path.js";

/** Settings of a file system in memory. */
export interface MemoryFileSystemOptions {
  /** What stands for the root in absolute paths. Default: `"/workspace"`. */
  root?: string | undefined;
  /** Paths that are not reached and not listed, as with the real one. Default: none. */
  deny?: readonly string[] | undefined;
  /** The clock of `mtimeMs`. Default: `Date.now`. */
  now?: (() => number) | undefined;
}

/** A file system in memory that behaves as the real one: for tests, and where there is no disk. */
export class MemoryFileSystem implements FileSystem {
  readonly root: string;
  readonly #now: () => number;
  readonly #tree: FolderNode;
  readonly #deny: DenyRules;
  #versions = 0;

  /** `files` by path; missing folders are made. */
  constructor(files: { readonly [path: string]: string | Uint8Array } = {}, options: MemoryFileSystemOptions = {}) {
    this.root = options.root ?? "/workspace";
    this.#now = options.now ?? Date.now;
    this.#tree = this.#folder();
    this.#deny = new DenyRules();
    for (const [path, data] of Object.entries(files)) {
      this.#makeFolders(parentOf(this.resolve(path)));
      this.#write(path, data, {});
    }
    this.#deny = new DenyRules(options.deny);
  }

  resolve(path: string): string {
    return this.#deny.checked(resolvePath(path, { roots: [this.root] }), path);
  }

  async realpath(path: string, options?: FsOptions): Promise<string> {
    options?.signal?.throwIfAborted();
    const { folder, name } = this.#existing(path);
    return [...folder, name].join("/");
  }

  async stat(path: string, options?: FsOptions): Promise<FileStat> {
    options?.signal?.throwIfAborted();
    return statNode(this.#existing(path).node);
  }

  async lstat(path: string, options?: FsOptions): Promise<FileStat> {
    options?.signal?.throwIfAborted();
    return statNode(this.#existing(path, false).node);
  }

  async readFile(path: string, options: ReadOptions = {}): Promise<Uint8Array<ArrayBuffer>> {
    options.signal?.throwIfAborted();
    return new Uint8Array(this.#range(path, options)); // a copy
  }

  async *readChunks(path: string, options: ReadOptions = {}): AsyncGenerator<Uint8Array<ArrayBuffer>> {
    options.signal?.throwIfAborted();
    const data = this.#range(path, options); // never changed in place: a write makes a new array
    for (let at = 0; at < data.length; at += CHUNK_BYTES) {
      options.signal?.throwIfAborted();
      yield data.slice(at, at + CHUNK_BYTES) as Uint8Array<ArrayBuffer>;
    }
  }

  async writeFile(path: string, data: Uint8Array | string, options: WriteOptions = {}): Promise<FileStat> {
    options.signal?.throwIfAborted();
    return statNode(this.#write(path, data, options));
  }

  async mkdir(path: string, options: FsOptions & { recursive?: boolean | undefined } = {}): Promise<void> {
    options.signal?.throwIfAborted();
    if (options.recursive) return this.#makeFolders(path);
    const place = this.#place(path, false);
    if (place.node) throw new FsError("exists", path, `${quote(path)} exists already.`);
    place.parent.entries.set(place.name, this.#folder());
  }

  async readdir(path: string, options?: FsOptions): Promise<DirEntry[]> {
    options?.signal?.throwIfAborted();
    const { node, folder, name } = this.#existing(path);
    if (node.type !== "directory") throw notAFolder(path, this.resolve(path));
    return this.#deny.visible([...folder, name].join("/"), entriesOf(node));
  }

  async rename(from: string, to: string, options: FsOptions & { overwrite?: boolean | undefined } = {}): Promise<void> {
    options.signal?.throwIfAborted();
    const source = this.#changeable(from);
    const target = this.#changeable(to, true);
    const into = [...target.folder, target.name];
    const own = [...source.folder, source.name];
    if (into.length > own.length && own.every((part, i) => into[i] === part)) {
      throw new FsError("invalidPath", to, `${quote(from)} cannot be moved into itself (${quote(to)}).`);
    }
    if (target.node && !(options.overwrite && target.node.type !== "directory")) {
      throw new FsError("exists", to, `${quote(to)} exists already.`);
    }
    if (target.node && source.node?.type === "directory") throw notAFolder(from, this.resolve(to));
    if (!source.node) throw missing(from);
    this.#assertFree(source, from);
    source.parent.entries.delete(source.name);
    target.parent.entries.set(target.name, source.node);
  }

  async remove(path: string, options: FsOptions & { recursive?: boolean | undefined } = {}): Promise<void> {
    options.signal?.throwIfAborted();
    const place = this.#changeable(path);
    const { parent, name, node } = place;
    this.#assertFree(place, path);
    if (node?.type === "directory" && node.entries.size > 0 && !options.recursive) {
      throw new FsError("notEmpty", path, `The folder ${quote(path)} is not empty.`);
    }
    parent.entries.delete(name);
  }

  /** Makes a symbolic link at `path`. `target` is kept as it is, relative to the link's folder or absolute. */
  async symlink(target: string, path: string): Promise<void> {
    const place = this.#changeable(path, true);
    if (place.node) throw new FsError("exists", path, `${quote(path)} exists already.`);
    place.parent.entries.set(place.name, { type: "symlink", target, mtimeMs: this.#now() });
  }

  #folder(): FolderNode {
    return { type: "directory", entries: new Map(), mtimeMs: this.#now() };
  }

  #place(path: string, follow: boolean): Place {
    const relative = this.resolve(path);
    const place = walk(this.#tree, relative === "." ? [] : relative.split("/"), {
      path,
      follow,
      enter: (target) => {
        const inside = resolvePath(target, { roots: [this.root] });
        return inside === "." ? [] : inside.split("/");
      },
      outside: () => {
        throw outsideError(path, this.root);
      },
    });
    this.#deny.checked([...place.folder, place.name].join("/"), path);
    return place;
  }

  /** Throws FsError `permission` where something at a place is denied. */
  #assertFree({ folder, name, node }: Place, path: string): void {
    if (!this.#deny.any || node?.type !== "directory") return;
    for (const [inner, child] of node.entries) {
      const own = [...folder, name];
      this.#deny.checked([...own, inner].join("/"), path);
      this.#assertFree({ folder: own, parent: node, name: inner, node: child }, path);
    }
  }

  #existing(path: string, follow = true): Place & { node: NonNullable<Place["node"]> } {
    const place = this.#place(path, follow);
    if (!place.node) throw missing(path);
    return { ...place, node: place.node };
  }

  /** The entry itself, for taking it away; `free` where it may be missing. Refuses the root. */
  #changeable(path: string, free = false): Place {
    if (this.resolve(path) === ".") {
      throw new FsError("invalidPath", path, "The root folder itself cannot be changed.");
    }
    return free ? this.#place(path, false) : this.#existing(path, false);
  }

  #file(path: string): FileNode {
    const { node } = this.#existing(path);
    if (node.type === "directory") throw new FsError("isADirectory", path, `${quote(path)} is a folder, not a file.`);
    return node as FileNode;
  }

  #range(path: string, options: ReadOptions): Uint8Array {
    const { data } = this.#file(path);
    const end = Math.min(options.end ?? data.length, data.length);
    return data.subarray(Math.min(Math.max(options.start ?? 0, 0), end), end);
  }

  #write(path: string, data: Uint8Array | string, options: WriteOptions): FileNode {
    if (this.resolve(path) === ".") throw new FsError("isADirectory", path, `${quote(path)} is a folder, not a file.`);
    if (this.#place(path, false).node?.type === "symlink" && !this.#place(path, true).node) {
      const text = `${quote(path)} is a symbolic link to something that does not exist.`;
      throw new FsError("notFound", path, text);
    }
    const { parent, name, node } = this.#place(path, true);
    if (node?.type === "directory") throw new FsError("isADirectory", path, `${quote(path)} is a folder, not a file.`);
    const before = node?.type === "file" ? node : undefined;
    if (options.ifVersion === null && before) throw new FsError("exists", path, `${quote(path)} exists already.`);
    if (typeof options.ifVersion === "string" && String(before?.version) !== options.ifVersion) {
      throw new FsError("changed", path, `${quote(path)} was ${before ? "changed" : "removed"} meanwhile.`);
    }
    const next: FileNode = {
      type: "file",
      data: typeof data === "string" ? new TextEncoder().encode(data) : data.slice(),
      mode: before?.mode ?? options.mode ?? 0o644,
      mtimeMs: this.#now(),
      version: ++this.#versions,
    };
    parent.entries.set(name, next);
    return next;
  }

  #makeFolders(path: string): void {
    const relative = this.resolve(path);
    const parts = relative === "." ? [] : relative.split("/");
    for (let i = 1; i <= parts.length; i++) {
      const part = parts.slice(0, i).join("/");
      const { parent, name, node } = this.#place(part, false);
      if (!node) parent.entries.set(name, this.#folder());
      else if (this.#place(part, true).node?.type !== "directory") {
        throw new FsError("notADirectory", path, `${quote(path)}: ${quote(part)} is not a folder.`);
      }
    }
  }
}
