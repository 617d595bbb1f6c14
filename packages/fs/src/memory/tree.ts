import type { DirEntry, FileStat } from "../contract.js";
import { FsError } from "../error.js";
import { quote } from "../path.js";

export interface FileNode {
  type: "file";
  data: Uint8Array;
  mode: number;
  mtimeMs: number;
  version: number;
}

export interface FolderNode {
  type: "directory";
  entries: Map<string, Node>;
  mtimeMs: number;
}

interface LinkNode {
  type: "symlink";
  target: string;
  mtimeMs: number;
}

export type Node = FileNode | FolderNode | LinkNode;

/** Where a path leads: the folder, the name in it, and what stands there, if anything. */
export interface Place {
  /** The real path of the folder, as parts. */
  folder: readonly string[];
  parent: FolderNode;
  name: string;
  node: Node | undefined;
}

const MAX_LINKS = 40; // as Linux

/**
 * Walks the parts of a path, following links, as an operating system does.
 *
 * @param enter What an absolute link target is below the root, as parts; throws where it is outside.
 * @param outside Throws for a link that leads above the root.
 */
export function walk(
  root: FolderNode,
  parts: readonly string[],
  options: { path: string; follow: boolean; enter(target: string): string[]; outside(): never },
): Place {
  const { path } = options;
  const stack: FolderNode[] = [root];
  const names: string[] = [];
  let todo = [...parts];
  for (let links = 0; ; ) {
    const folder = stack.at(-1) ?? root;
    const part = todo.shift();
    if (part === undefined) {
      // Ended on a folder that was walked into: the root, or through `..` of a link.
      const name = names.at(-1) ?? ".";
      return { folder: names.slice(0, -1), parent: stack.at(-2) ?? root, name, node: folder };
    }
    if (part === "..") {
      if (names.length === 0) options.outside();
      stack.pop();
      names.pop();
      continue;
    }
    const node = folder.entries.get(part);
    const last = todo.length === 0;
    if (node?.type === "symlink" && !(last && !options.follow)) {
      if (++links > MAX_LINKS) {
        throw new FsError("invalidPath", path, `${quote(path)} leads through symbolic links that run in a circle.`);
      }
      if (node.target.startsWith("/")) {
        todo = [...options.enter(node.target), ...todo];
        stack.length = 1;
        names.length = 0;
      } else todo = [...node.target.split("/").filter((p) => p !== "" && p !== "."), ...todo];
      continue;
    }
    if (last) return { folder: names, parent: folder, name: part, node };
    if (!node) {
      const missing = [...names, part].join("/");
      throw new FsError("notFound", path, `${quote(path)}: there is no folder ${quote(missing)}.`);
    }
    if (node.type !== "directory") throw notAFolder(path, [...names, part].join("/"));
    stack.push(node);
    names.push(part);
  }
}

export function notAFolder(path: string, file: string): FsError {
  return new FsError("notADirectory", path, `${quote(path)}: ${quote(file)} is a file, not a folder.`);
}

export function missing(path: string): FsError {
  return new FsError("notFound", path, `There is no file or folder ${quote(path)}.`);
}

export function statNode(node: Node): FileStat {
  const { type, mtimeMs } = node;
  if (node.type === "file") {
    return { type, size: node.data.length, mtimeMs, mode: node.mode, version: String(node.version) };
  }
  const size = node.type === "symlink" ? node.target.length : 0;
  return { type, size, mtimeMs, mode: node.type === "directory" ? 0o755 : 0o777, version: String(mtimeMs) };
}

export function entriesOf(folder: FolderNode): DirEntry[] {
  const entries = [...folder.entries].map(([name, node]) => ({ name, type: node.type }));
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
}
