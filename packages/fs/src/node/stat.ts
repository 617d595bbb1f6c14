import type { BigIntStats, Dirent } from "node:fs";
import type { FileStat, FileType } from "../contract.js";

export function statOf(stat: BigIntStats): FileStat {
  return {
    type: typeOf(stat),
    size: Number(stat.size),
    mtimeMs: Number(stat.mtimeNs) / 1e6,
    mode: Number(stat.mode) & 0o7777,
    // ctime too: copying tools set mtime back.
    version: `${stat.mtimeNs}-${stat.ctimeNs}-${stat.size}-${stat.ino}`,
  };
}

export function typeOf(entry: BigIntStats | Dirent): FileType {
  if (entry.isFile()) return "file";
  if (entry.isDirectory()) return "directory";
  return entry.isSymbolicLink() ? "symlink" : "other";
}
