import { type FileSystem, foldName, isFsError, joinPath, locate, nameOf, parentOf, quote } from "@shedkit/fs";
import { enumerate } from "./text/format.js";

/** Where something stands that is to be taken away itself, be it a link. Rejects with FsError. */
export async function placeOf(fs: FileSystem, path: string, signal: AbortSignal): Promise<string> {
  const resolved = fs.resolve(path);
  try {
    await fs.lstat(resolved, { signal });
    return resolved;
  } catch (error) {
    if (!isFsError(error, "notFound")) throw error;
    return (await locate(fs, resolved, signal)).path;
  }
}

/** Says that nothing stands at a path, and what might have been meant. */
export async function notFoundText(fs: FileSystem, path: string, signal: AbortSignal): Promise<string> {
  const resolved = fs.resolve(path);
  const link = await fs.lstat(resolved, { signal }).catch(() => undefined);
  signal.throwIfAborted();
  if (link?.type === "symlink") return `${quote(resolved)} is a symbolic link to something that does not exist.`;
  const [scheme] = URL_LIKE.exec(resolved) ?? [];
  if (scheme !== undefined && !(await isFolder(fs, scheme, signal))) return urlText(fs, resolved, signal);
  let folder = parentOf(resolved);
  let wanted = nameOf(resolved);
  let text = `There is no file or folder ${quote(resolved)}.`;
  while (folder !== "." && !(await isFolder(fs, folder, signal))) {
    wanted = nameOf(folder);
    text = `There is no file or folder ${quote(resolved)}: the folder ${quote(folder)} does not exist.`;
    folder = parentOf(folder);
  }
  const inside = resolved.startsWith("~/") ? await insideLike(fs, resolved.slice(2), signal) : undefined;
  if (inside !== undefined) return `${text} Did you mean ${quote(inside)}?`;
  const alike = nearest(wanted, await namesIn(fs, folder, signal));
  if (alike.length > 0) {
    return `${text} Did you mean ${enumerate(alike.map((name) => quote(joinPath(folder, name))))}?`;
  }
  return `${text} List the folder ${quote(folder)} to see what is there.`;
}

/** For a path outside the root: one inside it that ends the same and exists, e.g. `/config.ini` -> `config.ini`. */
export async function insideLike(fs: FileSystem, path: string, signal: AbortSignal): Promise<string | undefined> {
  const parts = path.split(/[\\/]/).filter((part) => part !== "" && part !== "." && part !== "..");
  for (const tail of parts.slice(-6).map((_, i, last) => last.slice(i).join("/"))) {
    const found = await fs.stat(tail, { signal }).catch(() => undefined);
    if (found) return tail;
  }
  return undefined;
}

const URL_LIKE = /^(?:file|https?|ftp):(?=\/)/i;

/** What is said of a URL that was given as a path. */
async function urlText(fs: FileSystem, url: string, signal: AbortSignal): Promise<string> {
  const path = /^file:(.*)$/is.exec(url)?.[1];
  const text = `${quote(url)} is a URL.`;
  const meant = path === undefined ? undefined : await placeIn(fs, decoded(path), signal);
  if (meant !== undefined) return `${text} Give the path alone: ${quote(meant)}.`;
  return `${text} Give the path of a file in ${fs.root}, e.g. "src/main.ts".`;
}

/** An absolute path as one in the root. */
async function placeIn(fs: FileSystem, path: string, signal: AbortSignal): Promise<string | undefined> {
  try {
    return fs.resolve(path);
  } catch (error) {
    if (!isFsError(error)) throw error;
    return insideLike(fs, path, signal);
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const MOST_HINTS = 3;

/** The names most like the one wanted: the same but for case, one part of the other, or a slip of the keyboard away. */
function nearest(wanted: string, names: readonly string[]): string[] {
  const scored = names.flatMap((name) => {
    const score = likeness(foldName(wanted).toLowerCase(), foldName(name).toLowerCase());
    return score === undefined ? [] : [{ name, score }];
  });
  scored.sort((a, b) => a.score - b.score || (a.name < b.name ? -1 : 1));
  const same = scored.filter(({ score }) => score === 0);
  return (same.length > 0 ? same : scored).slice(0, MOST_HINTS).map(({ name }) => name);
}

function likeness(wanted: string, name: string): number | undefined {
  if (wanted === name) return 0;
  const [a, b] = [stem(wanted), stem(name)];
  if (a === b) return 1;
  const slips = distance(wanted, name, wanted.length < 5 ? 1 : 2);
  if (slips !== undefined) return 1 + slips;
  if (a.length >= 2 && b.includes(a)) return 4;
  return b.length >= 4 && a.includes(b) ? 5 : undefined;
}

function stem(name: string): string {
  const dot = name.lastIndexOf(".");
  return dot > 0 ? name.slice(0, dot) : name;
}

/** How many letters must be changed, added, left out or swapped with their neighbour, if at most `max`. */
function distance(a: string, b: string, max: number): number | undefined {
  if (Math.abs(a.length - b.length) > max || a.length > 255) return undefined;
  let older: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let best = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        best = Math.min(best, (older[j - 2] ?? 0) + 1);
      row.push(best);
    }
    older = last;
    last = row;
  }
  const slips = last[b.length] ?? 0;
  return slips <= max ? slips : undefined;
}

async function namesIn(fs: FileSystem, folder: string, signal: AbortSignal): Promise<string[]> {
  try {
    return (await fs.readdir(folder, { signal })).map((entry) => entry.name);
  } catch (error) {
    if (isFsError(error)) return [];
    throw error;
  }
}

async function isFolder(fs: FileSystem, path: string, signal: AbortSignal): Promise<boolean> {
  try {
    return (await fs.stat(path, { signal })).type === "directory";
  } catch (error) {
    if (isFsError(error)) return false;
    throw error;
  }
}
