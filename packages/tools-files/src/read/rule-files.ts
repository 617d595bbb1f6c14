import { type FileSystem, isFsError, joinPath, parentOf, quote } from "@shedkit/fs";
import { enumerate } from "../text/format.js";

const MOST_FOLDERS = 10; // looked at, from the file's own upwards

/**
 * A sentence on files of rules (such as `AGENTS.md`) in the folder of a file and those above it, of which `told` has none yet; empty
 * where there are none. They are told from then on.
 */
export async function ruleFilesNote(
  fs: FileSystem,
  path: string,
  names: readonly string[],
  told: Set<string>,
  signal: AbortSignal,
): Promise<string> {
  const found: string[] = [];
  let folder = path;
  for (let i = 0; i < MOST_FOLDERS && folder !== "."; i++) {
    folder = parentOf(folder);
    for (const name of names) {
      const file = joinPath(folder, name);
      if (told.has(file)) continue;
      told.add(file); // where there is none, it is not looked for again
      if (file !== path && (await isFile(fs, file, signal))) found.push(file);
    }
  }
  if (found.length === 0) return "";
  const files = enumerate(found.toReversed().map(quote));
  return `Rules for this file are in ${files}: read ${found.length === 1 ? "it" : "them"} before you change it.`;
}

async function isFile(fs: FileSystem, path: string, signal: AbortSignal): Promise<boolean> {
  try {
    return (await fs.stat(path, { signal })).type === "file";
  } catch (error) {
    if (isFsError(error)) return false;
    throw error;
  }
}
