import { cleanPath, type FileSystem, isFsError, joinPath, parentOf, quote, startsAtHome } from "@shedkit/fs";
import { type AccessRequest, ToolCallResult, ToolError } from "@shedkit/tool";
import { withEnding } from "./media-type.js";

/** Where a file is to go. */
export interface Place {
  /** Relative to the root; its ending is not settled yet. */
  path: string;
  overwrite: boolean;
}

const MAX_TRIES = 1000;

/**
 * Where files of a call are to go, looked at before anything is made: it costs money. A failed result where something
 * stands there, or where that is no place for a file.
 */
export async function placeFor(
  fs: FileSystem,
  { path = "", overwrite = false }: { path?: string | undefined; overwrite?: boolean | undefined },
  standard: { folder: string; name: string },
  names: { path: string; overwrite: string; tool: string },
  signal: AbortSignal,
): Promise<Place | ToolCallResult> {
  const given = cleanPath(path);
  try {
    if (given === "") return { path: joinPath(fs.resolve(standard.folder), standard.name), overwrite: false };
    if (startsAtHome(given)) {
      const text = `${quote(given)} is in the home folder, which is not reached by ~ here; nothing was made. Give a path relative to the root folder.`;
      return ToolCallResult.failure(`home folder: ${quote(given)}`, text);
    }
    const place = fs.resolve(given);
    const there = await fs.stat(place, { signal }).catch((error: unknown) => {
      if (isFsError(error, "notFound")) return undefined;
      throw error;
    });
    const folder = there?.type === "directory" || (there === undefined && given.endsWith("/"));
    if (folder) return { path: joinPath(place, standard.name), overwrite: false };
    if (there && !overwrite) {
      const advice = `Give another ${names.path}, or ${names.overwrite} true.`;
      const text = `${quote(place)} is there already; nothing was made. ${advice}`;
      return ToolCallResult.failure(`exists: ${quote(place)}`, text);
    }
    return { path: place, overwrite };
  } catch (error) {
    throw refusedBy(error, names.tool);
  }
}

/**
 * Writes a file, with its folders, under the ending of its type. Without leave to overwrite it takes the next free
 * name (`a-2.png`). Returns its path. Throws ToolError.
 */
export async function save(
  fs: FileSystem,
  { path, overwrite }: Place,
  { data, mediaType }: { data: Uint8Array; mediaType: string },
  tool: string,
  signal: AbortSignal,
): Promise<string> {
  const wanted = withEnding(path, mediaType);
  const dot = wanted.lastIndexOf(".");
  try {
    await fs.mkdir(parentOf(wanted), { recursive: true, signal });
    if (overwrite) {
      await fs.writeFile(wanted, data, { signal });
      return wanted;
    }
    for (let i = 1; i <= MAX_TRIES; i++) {
      const free = i === 1 ? wanted : `${wanted.slice(0, dot)}-${i}${wanted.slice(dot)}`;
      if (await wrote(fs, free, data, signal)) return free;
    }
  } catch (error) {
    throw refusedBy(error, tool);
  }
  throw new ToolError(
    "execution",
    tool,
    `There are ${MAX_TRIES} files like ${quote(wanted)} already. Choose another name.`,
  );
}

async function wrote(fs: FileSystem, path: string, data: Uint8Array, signal: AbortSignal): Promise<boolean> {
  try {
    await fs.writeFile(path, data, { ifVersion: null, signal });
    return true;
  } catch (error) {
    if (isFsError(error, "exists")) return false;
    throw error;
  }
}

/** For `access`: a path as the file tools name it, or the folder where none is given. */
export function writing(fs: FileSystem, path: string | undefined, folder: string): AccessRequest {
  return { action: "write", target: absolute(fs, cleanPath(path ?? "") === "" ? folder : (path as string)) };
}

/** For `touches`: the name that the file tools give to a file. */
export function fileName(fs: FileSystem, path: string): string {
  return `file:${absolute(fs, path)}`;
}

export function absolute(fs: FileSystem, path: string): string {
  const clean = cleanPath(path);
  try {
    const relative = fs.resolve(clean);
    if (relative === ".") return fs.root;
    return `${fs.root.endsWith("/") ? fs.root.slice(0, -1) : fs.root}/${relative}`;
  } catch (error) {
    if (isFsError(error)) return clean; // refused when the call runs
    throw error;
  }
}

/** What a file system refuses, as what the model is told. */
export function refusedBy(error: unknown, tool: string): unknown {
  if (!isFsError(error)) return error;
  const { reason } = error.details;
  const kind = reason === "outside" || reason === "permission" ? "permissionDenied" : "execution";
  return new ToolError(kind, tool, error.message, { cause: error });
}

/** A name for a file, out of what it shows: letters and digits of any script, in short. */
export function slugOf(prompt: string): string {
  const words =
    prompt
      .toLowerCase()
      .normalize("NFC")
      .match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
  let slug = "";
  for (const word of words) {
    if (slug.length + word.length > 40) break;
    slug += slug === "" ? word : `-${word}`;
  }
  return slug === "" ? "untitled" : slug;
}
