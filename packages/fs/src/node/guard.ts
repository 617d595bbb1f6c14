import { constants, existsSync, realpathSync } from "node:fs";
import { type FileHandle, lstat, open, readlink, realpath } from "node:fs/promises";
import { basename, dirname, join, resolve, sep } from "node:path";
import type { DenyRules } from "../deny.js";
import { FsError } from "../error.js";
import { joinPath, nameOf, outsideError, parentOf, quote, resolvePath } from "../path.js";

const WINDOWS = process.platform === "win32";
const O_PATH = 0o10000000; // Linux: opens a folder as a place, whatever its permissions; not in node:fs constants
const NOFOLLOW = constants.O_NOFOLLOW ?? 0; // Windows has neither
const NONBLOCK = constants.O_NONBLOCK ?? 0;

/** A place below the root: a real folder, and a name in it that is not followed. */
export interface Place {
  folder: string;
  name: string;
}

/**
 * Keeps every access below one root, by real paths. Where Linux' `/proc` is there, what was opened is asked where it
 * really is, and changes are made relative to an opened folder, so that swapping a folder for a link between check and
 * use reaches nothing outside. Elsewhere paths are checked again after opening, which narrows that gap only.
 */
export class Guard {
  /** As it was given, absolute. */
  readonly root: string;
  readonly #real: string;
  readonly #rules: Parameters<typeof resolvePath>[1];
  readonly deny: DenyRules;
  readonly #proc = process.platform === "linux" && existsSync("/proc/self/fd");

  constructor(root: string, deny: DenyRules) {
    this.deny = deny;
    this.root = resolve(root);
    try {
      this.#real = realpathSync.native(this.root);
    } catch (error) {
      throw new FsError("notFound", root, `The root folder ${quote(root)} does not exist or cannot be opened.`, error);
    }
    const slashed = (path: string) => (WINDOWS ? path.replaceAll("\\", "/") : path);
    this.#rules = { roots: [slashed(this.root), slashed(this.#real)], windows: WINDOWS };
  }

  /** The path relative to the root, by its text. */
  resolve(path: string): string {
    return this.deny.checked(resolvePath(path, this.#rules), path);
  }

  /** The real path of what stands at `path`, links followed. */
  async real(path: string): Promise<string> {
    return this.#inside(await realpath(join(this.#real, this.resolve(path))), path);
  }

  /** A real path as a path relative to the root. */
  relative(real: string): string {
    const rest = real.slice(this.#real.length + (this.#real.endsWith(sep) ? 0 : 1));
    return rest === "" ? "." : WINDOWS ? rest.replaceAll("\\", "/") : rest;
  }

  /** Where `path` stands; what stands there may be missing or a link. Refuses the root itself. */
  async place(path: string): Promise<Place> {
    const relative = this.resolve(path);
    if (relative === ".") throw new FsError("invalidPath", path, "The root folder itself cannot be changed.");
    const parent = parentOf(relative);
    const folder = await this.real(parent).catch((error: unknown) => {
      if (error instanceof FsError || ignoreMissing(error)) throw error;
      throw new FsError("notFound", path, `${quote(path)}: there is no folder ${quote(parent)}.`, error);
    });
    const name = nameOf(relative);
    this.deny.checked(joinPath(this.relative(folder), name), path); // links may lead to it
    return { folder, name };
  }

  /** Where a write to `path` goes: through a link to its target. Refuses a link to nothing. */
  async target(path: string): Promise<Place> {
    const place = await this.place(path);
    const stat = await lstat(join(place.folder, place.name)).catch(ignoreMissing);
    if (!stat?.isSymbolicLink()) return place;
    const real = await this.real(path).catch((error: unknown) => {
      if (error instanceof FsError || ignoreMissing(error)) throw error;
      throw new FsError("notFound", path, `${quote(path)} is a symbolic link to something that does not exist.`, error);
    });
    return { folder: dirname(real), name: basename(real) };
  }

  /** Opens a file for reading. A pipe or device opens without waiting; the caller looks at its type. */
  async open(path: string): Promise<FileHandle> {
    const real = await this.real(path);
    const handle = await open(real, constants.O_RDONLY | NOFOLLOW | NONBLOCK);
    try {
      await this.#check(handle, real, path);
      return handle;
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /** Runs `use` with a spelling of the real folder that stays that folder, whatever happens to its path. */
  async within<T>(folder: string, path: string, use: (base: string) => Promise<T>): Promise<T> {
    if (WINDOWS) {
      this.#inside(await realpath(folder), path);
      return use(folder);
    }
    const flags = constants.O_DIRECTORY | NOFOLLOW | (this.#proc ? O_PATH : constants.O_RDONLY);
    const handle = await open(folder, flags);
    try {
      await this.#check(handle, folder, path);
      return await use(this.#proc ? `/proc/self/fd/${handle.fd}` : folder);
    } finally {
      await handle.close();
    }
  }

  async #check(handle: FileHandle, real: string, path: string): Promise<void> {
    if (this.#proc) {
      this.#inside(await readlink(`/proc/self/fd/${handle.fd}`), path);
      return;
    }
    const [opened, there, where] = await Promise.all([handle.stat(), lstat(real), realpath(real)]);
    this.#inside(where, path);
    if (where !== real || opened.ino !== there.ino || opened.dev !== there.dev) {
      throw new FsError("changed", path, `${quote(path)} was replaced while it was being opened. Try again.`);
    }
  }

  #inside(real: string, path: string): string {
    const root = this.#real;
    if (real !== root && !real.startsWith(root.endsWith(sep) ? root : root + sep)) throw outsideError(path, this.root);
    this.deny.checked(this.relative(real), path);
    return real;
  }
}

/** For `.catch`: undefined where nothing stands there; throws what else happened. */
export function ignoreMissing(error: unknown): undefined {
  if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
  throw error;
}
