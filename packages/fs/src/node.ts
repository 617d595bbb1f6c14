import type { FileHandle } from "node:fs/promises";
import { lstat, mkdir, readdir, rename, rmdir, stat, unlink } from "node:fs/promises";
import { join } from "node:path";
import type { DirEntry, FileStat, FileSystem, FsOptions, ReadOptions, WriteOptions } from "./contract.js";
import { CHUNK_BYTES } from "./contract.js";
import { DenyRules } from "./deny.js";
import { FsError } from "./error.js";
import { fromNodeError } from "./node/errors.js";
import { Guard, ignoreMissing } from "./node/guard.js";
import { statOf, typeOf } from "./node/stat.js";
import { writeAtomic } from "./node/write.js";
import { quote } from "./path.js";

export { realPathOf } from "./node/real-path.js";

const READ_BYTES = 8 * 1024 * 1024; // between two looks at the signal
const MAX_BYTES = 2 ** 31 - 1; // what one read may hold in memory

/** Settings of a file system on this machine. */
export interface NodeFileSystemOptions {
  /**
   * Paths that are not reached and not listed, by patterns as in a `.gitignore` (`.env`, `keys/`), whatever their case; links to
   * them are not followed. Default: none.
   */
  deny?: readonly string[] | undefined;
}

/**
 * The real file system below one folder, which must exist. `new NodeFileSystem(".")` is the current folder at that
 * moment. Throws FsError `notFound` where the folder does not exist.
 */
export class NodeFileSystem implements FileSystem {
  readonly root: string;
  readonly #guard: Guard;

  constructor(root: string, options: NodeFileSystemOptions = {}) {
    this.#guard = new Guard(root, new DenyRules(options.deny));
    this.root = this.#guard.root;
  }

  resolve(path: string): string {
    return this.#guard.resolve(path);
  }

  realpath(path: string, options?: FsOptions): Promise<string> {
    return this.#run(path, options, async () => this.#guard.relative(await this.#guard.real(path)));
  }

  stat(path: string, options?: FsOptions): Promise<FileStat> {
    return this.#run(path, options, async () => statOf(await stat(await this.#guard.real(path), { bigint: true })));
  }

  lstat(path: string, options?: FsOptions): Promise<FileStat> {
    return this.#run(path, options, async () => {
      if (this.#guard.resolve(path) === ".") return this.stat(path);
      const { folder, name } = await this.#guard.place(path);
      return statOf(await lstat(join(folder, name), { bigint: true }));
    });
  }

  readFile(path: string, options: ReadOptions = {}): Promise<Uint8Array<ArrayBuffer>> {
    return this.#run(path, options, async () => {
      const { handle, start, end } = await this.#openRange(path, options);
      try {
        if (end - start > MAX_BYTES) {
          const text = `${quote(path)} has ${end - start} bytes: too many to read at once. Read it in ranges.`;
          throw new FsError("tooLarge", path, text);
        }
        const bytes = new Uint8Array(end - start);
        const length = await fill(handle, bytes, start, options);
        return length === bytes.length ? bytes : bytes.slice(0, length);
      } finally {
        await handle.close();
      }
    });
  }

  async *readChunks(path: string, options: ReadOptions = {}): AsyncGenerator<Uint8Array<ArrayBuffer>> {
    const { handle, start, end } = await this.#run(path, options, () => this.#openRange(path, options));
    try {
      for (let at = start; at < end; ) {
        const bytes = new Uint8Array(Math.min(CHUNK_BYTES, end - at));
        const length = await this.#run(path, options, () => fill(handle, bytes, at, options));
        if (length === 0) return; // cut short meanwhile
        at += length;
        yield length === bytes.length ? bytes : bytes.slice(0, length);
      }
    } finally {
      await handle.close();
    }
  }

  writeFile(path: string, data: Uint8Array | string, options: WriteOptions = {}): Promise<FileStat> {
    return this.#run(path, options, () => writeAtomic(this.#guard, path, data, options));
  }

  mkdir(path: string, options: FsOptions & { recursive?: boolean | undefined } = {}): Promise<void> {
    return this.#run(path, options, async () => {
      const relative = this.#guard.resolve(path);
      if (options.recursive && (await this.#isFolder(relative))) return;
      if (relative === ".") throw new FsError("exists", path, `${quote(path)} exists already.`);
      const parts = relative.split("/");
      // One part after the other, each below the opened folder before it: no link that appears meanwhile is followed.
      for (let i = options.recursive ? 1 : parts.length; i <= parts.length; i++) {
        const part = parts.slice(0, i).join("/");
        if (i < parts.length && (await this.#isFolder(part))) continue;
        const { folder, name } = await this.#guard.place(part);
        await this.#guard
          .within(folder, path, (base) => mkdir(`${base}/${name}`))
          .catch(async (error: unknown) => {
            const code = (error as NodeJS.ErrnoException).code;
            if (code !== "EEXIST" || !options.recursive) throw error;
            if (await this.#isFolder(part)) return;
            throw new FsError("notADirectory", path, `${quote(path)}: ${quote(part)} is not a folder.`, error);
          });
      }
    });
  }

  readdir(path: string, options?: FsOptions): Promise<DirEntry[]> {
    return this.#run(path, options, async () => {
      const real = await this.#guard.real(path);
      const entries = await this.#guard.within(real, path, listFolder);
      return this.#guard.deny.visible(this.#guard.relative(real), entries).sort((a, b) => (a.name < b.name ? -1 : 1));
    });
  }

  rename(from: string, to: string, options: FsOptions & { overwrite?: boolean | undefined } = {}): Promise<void> {
    return this.#run(from, options, async () => {
      const source = await this.#guard.place(from);
      const target = await this.#run(to, options, () => this.#guard.place(to));
      await this.#guard.within(source.folder, from, (sourceBase) =>
        this.#guard.within(target.folder, to, async (targetBase) => {
          const old = `${sourceBase}/${source.name}`;
          const next = `${targetBase}/${target.name}`;
          if ((await lstat(old)).isDirectory()) await this.#assertFree(join(source.folder, source.name), from);
          const there = await lstat(next).catch(ignoreMissing);
          if (there && !(options.overwrite && !there.isDirectory())) {
            throw new FsError("exists", to, `${quote(to)} exists already.`);
          }
          await rename(old, next).catch((error: NodeJS.ErrnoException) => {
            if (error.code !== "EINVAL") throw error;
            throw new FsError("invalidPath", to, `${quote(from)} cannot be moved into itself (${quote(to)}).`, error);
          });
        }),
      );
    });
  }

  remove(path: string, options: FsOptions & { recursive?: boolean | undefined } = {}): Promise<void> {
    return this.#run(path, options, async () => {
      const { folder, name } = await this.#guard.place(path);
      await this.#guard.within(folder, path, async (base) => {
        const target = `${base}/${name}`;
        if (!(await lstat(target)).isDirectory()) return unlink(target);
        if (options.recursive) {
          await this.#assertFree(join(folder, name), path);
          await this.#empty(target, path, options);
        }
        await rmdir(target);
      });
    });
  }

  /** Throws FsError `permission` where something in a real folder is denied, which must neither go nor get another name. */
  async #assertFree(folder: string, path: string): Promise<void> {
    const { deny } = this.#guard;
    if (!deny.any) return;
    const todo = [folder];
    for (let next = todo.pop(); next !== undefined; next = todo.pop()) {
      for (const entry of await this.#guard.within(next, path, listFolder)) {
        const inner = join(next, entry.name);
        deny.checked(this.#guard.relative(inner), path);
        if (entry.type === "directory") todo.push(inner);
      }
    }
  }

  async #empty(folder: string, path: string, options: FsOptions): Promise<void> {
    await this.#guard.within(folder, path, async (base) => {
      for (const entry of await listFolder(base)) {
        options.signal?.throwIfAborted();
        const target = `${base}/${entry.name}`;
        if (entry.type !== "directory") await unlink(target);
        else {
          await this.#empty(target, path, options);
          await rmdir(target);
        }
      }
    });
  }

  async #openRange(path: string, options: ReadOptions): Promise<{ handle: FileHandle; start: number; end: number }> {
    const handle = await this.#guard.open(path);
    try {
      const found = await handle.stat();
      if (found.isDirectory()) throw new FsError("isADirectory", path, `${quote(path)} is a folder, not a file.`);
      if (!found.isFile()) {
        throw new FsError("notAFile", path, `${quote(path)} is not a regular file (a pipe or a device).`);
      }
      const end = Math.min(options.end ?? found.size, found.size);
      return { handle, start: Math.min(Math.max(options.start ?? 0, 0), end), end };
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  async #run<T>(path: string, options: FsOptions | undefined, work: () => Promise<T>): Promise<T> {
    options?.signal?.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      options?.signal?.throwIfAborted();
      if (!(error instanceof Error && "code" in error && error.code === "ENOTDIR")) throw fromNodeError(error, path);
      const file = quote(await this.#fileOn(this.#guard.resolve(path)));
      throw new FsError("notADirectory", path, `${quote(path)}: ${file} is a file, not a folder.`, error);
    }
  }

  /** The part of a path that is no folder though it should be one. */
  async #fileOn(relative: string): Promise<string> {
    const parts = relative.split("/");
    for (let i = 1; i < parts.length; i++) {
      const part = parts.slice(0, i).join("/");
      if (!(await this.#isFolder(part).catch(() => true))) return part;
    }
    return relative;
  }

  async #isFolder(path: string): Promise<boolean> {
    const found = await this.#guard.real(path).then(stat).catch(ignoreMissing);
    return found?.isDirectory() ?? false;
  }
}

/** Reads until the bytes are full or the file ends. */
async function fill(handle: FileHandle, bytes: Uint8Array, position: number, options: FsOptions): Promise<number> {
  let length = 0;
  while (length < bytes.length) {
    options.signal?.throwIfAborted();
    const wanted = Math.min(READ_BYTES, bytes.length - length);
    const { bytesRead } = await handle.read(bytes, length, wanted, position + length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return length;
}

async function listFolder(base: string): Promise<DirEntry[]> {
  const entries = await readdir(base, { withFileTypes: true });
  return entries.map((entry) => ({ name: entry.name, type: typeOf(entry) }));
}
