import type { DirEntry, FileStat, FileSystem, FsOptions } from "../contract.js";
import { FsError, isFsError } from "../error.js";
import { joinPath, quote } from "../path.js";

/** What the base has at a changed path. */
export interface Was {
  stat: FileStat;
  /** Of a folder: all in it, by path, with its version. */
  contents: ReadonlyMap<string, FileStat>;
}

/** A folder of the base in which something is changed. */
export interface PassedFolder {
  type: "passed";
  children: Map<string, Over>;
}

/** A new folder, or one that stands in place of something of the base: nothing of the base is seen in it. */
export interface NewFolder {
  type: "directory";
  children: Map<string, Over>;
  mtimeMs: number;
  was: Was | undefined;
}

export interface NewFile {
  type: "file";
  /** Its bytes, or the file of the base that has them. */
  data: Uint8Array | { base: string };
  stat: FileStat;
  was: Was | undefined;
}

interface Removed {
  type: "removed";
  was: Was;
}

/** What is laid over the base at one path. */
export type Over = PassedFolder | NewFolder | NewFile | Removed;

/** Everything in a folder of the base, links not followed, with paths and stats. */
async function contentsOf(base: FileSystem, folder: string, options?: FsOptions): Promise<Map<string, FileStat>> {
  const found = new Map<string, FileStat>();
  const todo = [folder];
  for (let next = todo.pop(); next !== undefined; next = todo.pop()) {
    for (const { name, type } of await base.readdir(next, options)) {
      const path = joinPath(next, name);
      found.set(path, await base.lstat(path, options));
      if (type === "directory") todo.push(path);
    }
  }
  return found;
}

/** What the base has at a path; undefined for nothing. */
export async function wasAt(base: FileSystem, path: string, options?: FsOptions): Promise<Was | undefined> {
  try {
    const stat = await base.lstat(path, options);
    return { stat, contents: stat.type === "directory" ? await contentsOf(base, path, options) : new Map() };
  } catch (error) {
    if (isFsError(error, "notFound")) return undefined;
    throw error;
  }
}

/** Throws FsError `changed` or `exists` where the base has something else at a path than it had. */
export async function checkUnchanged(
  base: FileSystem,
  path: string,
  was: Was | undefined,
  options?: FsOptions,
): Promise<void> {
  const now = await wasAt(base, path, options);
  if (!was && now) throw new FsError("exists", path, `${quote(path)} was made by something else meanwhile.`);
  if (was && !now) throw new FsError("changed", path, `${quote(path)} was removed by something else meanwhile.`);
  if (!was || !now) return;
  const same =
    isSame(was.stat, now.stat) &&
    was.contents.size === now.contents.size &&
    [...was.contents].every(([inner, stat]) => isSame(stat, now.contents.get(inner)));
  if (!same) throw new FsError("changed", path, `${quote(path)} was changed by something else meanwhile.`);
}

function isSame(before: FileStat, now: FileStat | undefined): boolean {
  return before.type === now?.type && (before.type === "directory" || before.version === now.version);
}

/** The entries of a folder of the base with those laid over it. */
export function mergeEntries(base: readonly DirEntry[], children: ReadonlyMap<string, Over>): DirEntry[] {
  const merged = new Map(base.map((entry) => [entry.name, entry]));
  for (const [name, over] of children) {
    if (over.type === "removed") merged.delete(name);
    else merged.set(name, { name, type: over.type === "file" ? "file" : "directory" });
  }
  return [...merged.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}
