import { FsError } from "./error.js";
import { IgnoreRules } from "./ignore.js";
import { joinPath, quote } from "./path.js";

/** Paths that must not be reached, by patterns as in a `.gitignore`; their case does not count. */
export class DenyRules {
  readonly #rules: IgnoreRules | undefined;

  constructor(patterns: readonly string[] = []) {
    this.#rules = patterns.length === 0 ? undefined : new IgnoreRules(patterns.map(folded).join("\n"));
  }

  /** Whether there are any. */
  get any(): boolean {
    return this.#rules !== undefined;
  }

  /** Whether a path relative to the root, or a folder that it is in, is denied. */
  denies(path: string): boolean {
    if (!this.#rules || path === ".") return false;
    const parts = folded(path).split("/");
    return parts.some((_, i) => this.#rules?.test(parts.slice(0, i + 1).join("/"), true) === true);
  }

  /** The path, if it is not denied. Throws FsError `permission` for `given`. */
  checked(path: string, given: string): string {
    if (!this.denies(path)) return path;
    throw new FsError("permission", given, `${quote(given)} must not be reached: it is denied here.`);
  }

  /** The entries of a folder that are not denied. */
  visible<E extends { name: string }>(folder: string, entries: readonly E[]): E[] {
    return entries.filter(({ name }) => !this.denies(joinPath(folder, name)));
  }
}

function folded(text: string): string {
  return text.normalize("NFC").toLowerCase();
}
