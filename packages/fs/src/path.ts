import { FsError } from "./error.js";

const MAX_NAME_BYTES = 255; // of ext4, APFS, NTFS and most others
const MAX_PATH_BYTES = 4095; // Linux' PATH_MAX without its NUL

/** How paths are written. */
export interface PathRules {
  /** The root's spellings, absolute, with `/`: as it was given, and its real path. Errors show the first. */
  roots: readonly [string, ...string[]];
  /** Also `\` parts a path, drives and reserved names mean something, and case does not count. Default: false. */
  windows?: boolean | undefined;
}

/**
 * The guard's part that needs no disk: a path as it was given, made relative to the root and cleaned of `.`, `..` and
 * doubled `/`; `"."` for the root itself. Symbolic links are the file system's part.
 *
 * Throws FsError `outside`, `invalidPath` or `nameTooLong`.
 */
export function resolvePath(path: string, rules: PathRules): string {
  const windows = rules.windows ?? false;
  if (path.includes("\0")) throw new FsError("invalidPath", path, `${quote(path)} has a NUL character in it.`);
  if (/\p{Surrogate}/u.test(path)) {
    throw new FsError("invalidPath", path, `${quote(path)} has half a character in it (a lone surrogate).`);
  }
  const slashed = windows ? path.replaceAll("\\", "/") : path;
  if (!windows && /^(?:[A-Za-z]:[\\/]|\\\\)/.test(path)) {
    throw new FsError("outside", path, `${quote(path)} is a Windows path. ${advice(rules.roots[0])}`);
  }
  const absolute = slashed.startsWith("/") || (windows && /^[A-Za-z]:/.test(slashed));
  const parts = normalise(absolute ? slashed : `${rules.roots[0]}/${slashed}`);
  for (const root of rules.roots) {
    const rest = below(parts, normalise(root), windows);
    if (rest === undefined) continue;
    for (const part of rest) checkName(part, path, windows);
    const relative = rest.join("/");
    if (byteLength(relative) > MAX_PATH_BYTES) {
      throw new FsError("nameTooLong", path, `The path is longer than ${MAX_PATH_BYTES} bytes.`);
    }
    return relative === "" ? "." : relative;
  }
  throw outsideError(path, rules.roots[0]);
}

/** What is said of a path that leads out of the root. */
export function outsideError(path: string, root: string): FsError {
  return new FsError("outside", path, `${quote(path)} is outside the folder ${root}. ${advice(root)}`);
}

/** The folder that a relative path stands in: `"a/b.txt"` -> `"a"`, `"b.txt"` -> `"."`. */
export function parentOf(path: string): string {
  const slash = path.lastIndexOf("/");
  return slash < 0 ? "." : path.slice(0, slash);
}

/** The last part of a relative path: `"a/b.txt"` -> `"b.txt"`. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** The path of an entry of a folder: `(".", "a")` -> `"a"`, `("a", "b")` -> `"a/b"`. */
export function joinPath(folder: string, name: string): string {
  return folder === "." ? name : `${folder}/${name}`;
}

/** A path as a model wrote it: spaces around it and quotes off, and after a quoted one escaped line ends too. */
export function cleanPath(path: string): string {
  const trimmed = path.trim();
  const quoted = /^(["'])(.*)\1$/s.exec(trimmed)?.[2];
  if (quoted !== undefined) return quoted.replace(/(?:\\[nrt])+$/, "").trim();
  return trimmed.replace(/^["']|["']$/g, "").trim();
}

/** Whether a path that a model wrote begins in the home folder, as a shell would have it; `./~` is a name. */
export function startsAtHome(path: string): boolean {
  return /^~(?:[\\/]|$)/.test(cleanPath(path));
}

/** A path in double quotes, shortened in the middle where it is very long, for messages. */
export function quote(path: string): string {
  return JSON.stringify(path.length > 300 ? `${path.slice(0, 150)}...${path.slice(-140)}` : path);
}

function advice(root: string): string {
  return `Only paths inside ${root} can be used; write them relative to it, e.g. "src/main.ts".`;
}

function normalise(path: string): string[] {
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === "" || part === ".") continue;
    if (part !== "..") parts.push(part);
    else parts.pop();
  }
  return parts;
}

function below(parts: readonly string[], root: readonly string[], windows: boolean): string[] | undefined {
  const fold = (text: string | undefined) => (windows ? text?.toLowerCase() : text);
  return root.every((part, i) => fold(parts[i]) === fold(part)) ? parts.slice(root.length) : undefined;
}

function checkName(name: string, path: string, windows: boolean): void {
  if (name.length * 3 > MAX_NAME_BYTES && byteLength(name) > MAX_NAME_BYTES) {
    throw new FsError("nameTooLong", path, `The name ${quote(name)} is longer than ${MAX_NAME_BYTES} bytes.`);
  }
  if (!windows) return;
  // Windows opens a device, a second stream or another file under these names.
  if (/[<>:"|?*]|[. ]$/.test(name) || /^(?:con|prn|aux|nul|com\d|lpt\d|conin\$|conout\$)(?:\.|$)/i.test(name)) {
    throw new FsError("invalidPath", path, `Windows keeps the name ${quote(name)} for itself. Choose another name.`);
  }
}

function byteLength(text: string): number {
  return new TextEncoder().encode(text).byteLength;
}
