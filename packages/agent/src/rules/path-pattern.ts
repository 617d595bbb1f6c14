import { IgnoreRules } from "@shedkit/fs";
import type { Care } from "./rule.js";

/** What paths are relative to. */
export interface Places {
  /** Absolute, clean: the folder that relative paths and patterns are in. */
  root: string;
  /** What `~` is. Absent: nobody knows. */
  home?: string | undefined;
}

/** Where a path leads. */
export interface Where {
  /** By its text, absolute and clean. Undefined where nobody can tell. */
  lexical?: string | undefined;
  /** Links followed; as `lexical` where links are not looked at, undefined where they could not be followed. */
  real?: string | undefined;
  /** All that is known to lead there. */
  spellings: readonly string[];
}

/**
 * A path as in a `.gitignore`: `src/**`, `*.env` (at any depth), below the root, or below `/` or `~/` where it begins so.
 * What it fits it fits with all that is below.
 */
export class PathPattern {
  readonly #base: string;
  readonly #rules: { readonly [care in Care]: IgnoreRules } | undefined;

  /** `pattern` relative to `base`; undefined: everything. */
  private constructor(base: string, pattern: string | undefined) {
    this.#base = base;
    this.#rules =
      pattern === undefined
        ? undefined
        : { exact: new IgnoreRules(escapedStart(pattern)), wide: new IgnoreRules(escapedStart(foldPath(pattern))) };
  }

  /** What was wanted, where it is none. */
  static of(pattern: string, { root, home }: Places): PathPattern | string {
    const text = /^[A-Za-z]:\\/.test(pattern) ? pattern.replaceAll("\\", "/") : pattern.replace(/^\.\//, "");
    const [start] = /^(?:~\/|~$|[A-Za-z]:\/|\/)/.exec(text) ?? [];
    if (text.split("/").includes("..") || (text.startsWith("~") && start === undefined)) {
      return "a path from the root folder, from / or from ~/, without ..";
    }
    if (/\\$|\[(?!.+\])/s.test(text.replace(/\\[\s\S]/g, "x"))) return "a path whose [ is closed, or written as \\[";
    if (start?.startsWith("~") && home === undefined) return "a path without ~, since no `home` is given";
    const base = start === undefined ? root : start.startsWith("~") ? (home ?? "") : start === "/" ? "/" : start;
    const rest = text.slice(start?.length ?? 0).replace(/\/+$/, "");
    const folder = rest.replace(/(?:^|\/)\*\*$/, "");
    if (folder === "" || folder === ".") return new PathPattern(base, undefined);
    const anchored = start !== undefined || rest.includes("/");
    return new PathPattern(base, anchored ? `/${folder}` : folder);
  }

  /** Leave is for a path that fits by its text and where it leads; a ban for one that does either, whatever its case. */
  fits({ lexical, real, spellings }: Where, care: Care): boolean {
    if (care === "wide") return spellings.some((path) => this.#covers(path, care));
    return [lexical, real].every((path) => path !== undefined && this.#covers(path, care));
  }

  #covers(path: string, care: Care): boolean {
    const rest = care === "exact" ? below(this.#base, path) : below(foldPath(this.#base), foldPath(path));
    if (rest === undefined) return false;
    if (!this.#rules) return true;
    if (rest === "") return false;
    const parts = rest.split("/");
    return parts.some((_, i) => this.#rules?.[care].test(parts.slice(0, i + 1).join("/"), true) === true);
  }
}

/** A path relative to a folder, "" for itself; undefined where it is not in it. */
export function below(folder: string, path: string): string | undefined {
  if (path === folder) return "";
  const start = folder.endsWith("/") ? folder : `${folder}/`;
  return path.startsWith(start) ? path.slice(start.length) : undefined;
}

/** An absolute path without `.`, `..` and doubled `/`, `\` of Windows turned; undefined where it is none. */
export function cleanAbsolute(path: string): string | undefined {
  const slashed = /^[A-Za-z]:[\\/]|^\\\\/.test(path) ? path.replaceAll("\\", "/") : path;
  const [start] = /^(?:[A-Za-z]:)?\//.exec(slashed) ?? [];
  if (start === undefined || slashed.includes("\0")) return undefined;
  const parts: string[] = [];
  for (const part of slashed.slice(start.length).split("/")) {
    if (part === "" || part === ".") continue;
    if (part === "..") parts.pop();
    else parts.push(part);
  }
  return start + parts.join("/");
}

/**
 * A path in the form that file systems may take for the same: compatible characters, case, characters that do not show,
 * and at the end of a name dots, spaces and what Windows takes for another stream of the file.
 */
export function foldPath(path: string): string {
  return path
    .normalize("NFKC")
    .replace(/\p{Default_Ignorable_Code_Point}/gu, "")
    .toUpperCase()
    .toLowerCase()
    .split("/")
    .map((name) => (/^\.{1,2}$/.test(name) ? name : name.replace(/(?<=[^*]):.*$/, "").replace(/[. ]+$/, "")))
    .join("/");
}

/** Of a `.gitignore` only the patterns count, not its comments and exceptions. */
function escapedStart(pattern: string): string {
  return pattern.replace(/^[!#]/, "\\$&");
}
