import type { FileSystem, FsOptions } from "../contract.js";
import { joinPath } from "../path.js";
import { bytesOf } from "./commit.js";
import type { Over } from "./tree.js";

/** A file that is not as it is in the base. */
export interface FileChange {
  path: string;
  type: "created" | "changed" | "removed";
  /** Its bytes in the base; absent for a created file. */
  before?: Uint8Array | undefined;
  /** Its bytes now; absent for a removed one. */
  after?: Uint8Array | undefined;
}

/** The files that differ, by path. A file whose bytes are the same is none. */
export async function changesOf(base: FileSystem, root: Over, options?: FsOptions): Promise<FileChange[]> {
  const before = new Set<string>();
  const after = new Map<string, () => Promise<Uint8Array>>();
  collect(base, root, ".", before, after, options);
  const changes: FileChange[] = [];
  for (const path of [...new Set([...before, ...after.keys()])].sort()) {
    const old = before.has(path) ? await base.readFile(path, options) : undefined;
    const now = await after.get(path)?.();
    if (old && now) {
      if (!equal(old, now)) changes.push({ path, type: "changed", before: old, after: now });
    } else if (old) changes.push({ path, type: "removed", before: old });
    else if (now) changes.push({ path, type: "created", after: now });
  }
  return changes;
}

function collect(
  base: FileSystem,
  over: Over,
  path: string,
  before: Set<string>,
  after: Map<string, () => Promise<Uint8Array>>,
  options?: FsOptions,
): void {
  if (over.type !== "passed" && over.was) {
    if (over.was.stat.type === "file") before.add(path);
    for (const [inner, stat] of over.was.contents) if (stat.type === "file") before.add(inner);
  }
  if (over.type === "file") after.set(path, () => bytesOf(base, over, options));
  if ("children" in over) {
    for (const [name, child] of over.children) collect(base, child, joinPath(path, name), before, after, options);
  }
}

function equal(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}
