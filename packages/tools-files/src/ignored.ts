import { type FileSystem, IgnoreRules, isFsError, joinPath, nameOf, parentOf, quote } from "@shedkit/fs";
import type { ToolContext } from "@shedkit/tool";
import { Failure } from "./failure.js";

export const GITIGNORE = ".gitignore";

/** The rules of one folder's `.gitignore`. */
export interface FolderRules {
  folder: string;
  rules: IgnoreRules;
}

/** The rules of a folder itself: none, or one. */
export async function rulesIn(fs: FileSystem, folder: string, signal: AbortSignal): Promise<FolderRules[]> {
  try {
    const text = new TextDecoder().decode(await fs.readFile(joinPath(folder, GITIGNORE), { signal }));
    return [{ folder, rules: new IgnoreRules(text) }];
  } catch (error) {
    if (isFsError(error)) return []; // there is none, or it cannot be read
    throw error;
  }
}

/** The rules of the folders that a file or folder is in, the nearest first. */
export async function rulesAbove(fs: FileSystem, path: string, signal: AbortSignal): Promise<FolderRules[]> {
  const rules: FolderRules[] = [];
  for (let folder = path; folder !== "."; ) {
    folder = parentOf(folder);
    rules.push(...(await rulesIn(fs, folder, signal)));
  }
  return rules;
}

/** Whether the rules of the folders above, the nearest first, leave out a path. */
export function isIgnored(rules: readonly FolderRules[], path: string, isFolder: boolean): boolean {
  for (const { folder, rules: own } of rules) {
    const relative = folder === "." ? path : path.slice(folder.length + 1);
    const ignored = own.test(relative, isFolder);
    if (ignored !== undefined) return ignored;
  }
  return false;
}

/**
 * Throws Failure where a `.gitignore` names a file or folder, or a folder that it is in, if the tool keeps to these.
 *
 * @param isFolder Of what stands at the path.
 */
export async function assertNotIgnored(
  fs: FileSystem,
  path: string,
  ctx: ToolContext & { params: { gitignore: boolean } },
  isFolder = false,
): Promise<void> {
  if (!ctx.params.gitignore) return;
  const real = await realOf(fs, path, ctx.signal);
  for (const one of new Set([path, real])) await check(fs, one, isFolder, ctx.signal);
}

/** Where a path leads, through links, also where nothing stands there yet. */
async function realOf(fs: FileSystem, path: string, signal: AbortSignal): Promise<string> {
  try {
    return await fs.realpath(path, { signal });
  } catch (error) {
    if (!isFsError(error)) throw error;
    return path === "." ? path : joinPath(await realOf(fs, parentOf(path), signal), nameOf(path));
  }
}

async function check(fs: FileSystem, path: string, folder: boolean, signal: AbortSignal): Promise<void> {
  const all = await rulesAbove(fs, path, signal);
  for (let at = path, isFolder = folder; at !== "."; at = parentOf(at), isFolder = true) {
    const above = all.filter(({ folder }) => folder === "." || at.startsWith(`${folder}/`));
    if (!isIgnored(above, at, isFolder)) continue;
    const text = `${quote(path)} is left alone here: a ${GITIGNORE} file names ${at === path ? "it" : `the folder ${quote(at)}`}. Work on another file.`;
    throw new Failure(`ignored: ${quote(path)}`, text);
  }
}
