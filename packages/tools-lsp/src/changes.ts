import type { FileSystem } from "@shedkit/fs";
import type { FileChangeNote } from "@shedkit/tool";
import { FileChangeType } from "vscode-languageserver-protocol/node";

/** What became of each file, as a server is told it: one word for each, however often it was changed. */
export function fatesOf(fs: FileSystem, changes: readonly FileChangeNote[]): Map<string, FileChangeType> {
  const fates = new Map<string, FileChangeType>();
  const add = (given: string, type: FileChangeType): void => {
    const path = inside(fs, given);
    if (path !== undefined) fates.set(path, joined(fates.get(path), type));
  };
  for (const { path, change, from } of changes) {
    if (from !== undefined) add(from, FileChangeType.Deleted);
    add(path, TYPES[change]);
  }
  return fates;
}

const TYPES: { readonly [change in FileChangeNote["change"]]: FileChangeType } = {
  created: FileChangeType.Created,
  changed: FileChangeType.Changed,
  removed: FileChangeType.Deleted,
  moved: FileChangeType.Created,
};

function joined(before: FileChangeType | undefined, now: FileChangeType): FileChangeType {
  if (before === FileChangeType.Created && now === FileChangeType.Changed) return before;
  if (before === FileChangeType.Deleted && now === FileChangeType.Created) return FileChangeType.Changed;
  return now;
}

function inside(fs: FileSystem, path: string): string | undefined {
  try {
    return fs.resolve(path);
  } catch {
    return undefined; // of another file system
  }
}
