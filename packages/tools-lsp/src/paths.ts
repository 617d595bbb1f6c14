import { posix, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { FileSystem } from "@shedkit/fs";

/** What a server calls a file of ours. */
export function uriOf(fs: FileSystem, path: string): string {
  return pathToFileURL(path === "." ? fs.root : `${fs.root}/${path}`).href;
}

/** The URI of a file as {@link uriOf} writes it: servers encode other letters. */
export function sameUri(uri: string): string {
  try {
    return pathToFileURL(fileURLToPath(uri)).href;
  } catch {
    return uri;
  }
}

/** The path of a file that a server names: relative to the root where it is inside it, else absolute, or the URI itself. */
export function pathOf(fs: FileSystem, uri: string): string {
  let path: string;
  try {
    path = fileURLToPath(uri);
  } catch {
    return uri;
  }
  const root = fs.root.endsWith("/") ? fs.root : `${fs.root}/`;
  const slashed = sep === "\\" ? path.replaceAll("\\", "/") : path;
  return slashed.startsWith(root) ? posix.normalize(slashed.slice(root.length)) : slashed;
}

/** True for a path that {@link pathOf} found inside the root. */
export function isInside(path: string): boolean {
  return !posix.isAbsolute(path) && !/^[a-z][a-z0-9+.-]*:/i.test(path);
}
