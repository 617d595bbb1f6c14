import type { FileStat, FileSystem, FsOptions } from "./contract.js";
import { isFsError } from "./error.js";
import { joinPath, nameOf, parentOf } from "./path.js";

/** An existing file or folder. */
export interface Located {
  /** Relative to the root, as it is spelled there. */
  path: string;
  stat: FileStat;
}

/**
 * Finds what stands at a path. A name that is missing is found too if exactly one entry differs from it only in the kind
 * of its spaces or in how accents are composed; and what an absolute path that lost its first slash means. Rejects with
 * FsError.
 */
export async function locate(fs: FileSystem, path: string, signal?: AbortSignal): Promise<Located> {
  const resolved = fs.resolve(path);
  const options = { signal };
  try {
    return { path: resolved, stat: await fs.stat(resolved, options) };
  } catch (error) {
    if (!isFsError(error, "notFound")) throw error;
    const meant = await withItsSlash(fs, resolved, options);
    if (meant) return meant;
    const wanted = foldName(nameOf(resolved));
    const alike = (await namesIn(fs, parentOf(resolved), options)).filter((name) => foldName(name) === wanted);
    const [only] = alike;
    if (only === undefined || alike.length > 1) throw error;
    const found = joinPath(parentOf(resolved), only);
    return { path: found, stat: await fs.stat(found, options) };
  }
}

/** What stands at the path that `path` is the absolute spelling of, but for the slash at its start. */
async function withItsSlash(fs: FileSystem, path: string, options: FsOptions): Promise<Located | undefined> {
  const root = fs.root.replace(/^\/+|\/+$/g, "");
  if (root === "" || !path.startsWith(`${root}/`)) return undefined;
  const rest = path.slice(root.length + 1);
  const stat = await fs.stat(rest, options).catch((error: unknown) => {
    if (!isFsError(error)) throw error;
    return undefined;
  });
  return stat && { path: rest, stat };
}

/** A name with its accents composed, and every kind of space as the plain one: names that look the same are the same. */
export function foldName(name: string): string {
  if (!/[^ -~]/.test(name)) return name;
  return name.normalize("NFC").replace(/[\u00a0\u2000-\u200a\u202f\u205f\u3000]/g, " ");
}

async function namesIn(fs: FileSystem, folder: string, options: FsOptions): Promise<string[]> {
  try {
    return (await fs.readdir(folder, options)).map((entry) => entry.name);
  } catch (error) {
    if (isFsError(error)) return [];
    throw error;
  }
}
