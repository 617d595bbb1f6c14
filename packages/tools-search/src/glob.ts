import { type FileSystem, foldName, IgnoreRules } from "@shedkit/fs";

const MOST = 64; // patterns that braces may make

/** True for a text that stands for several names. */
export function isGlob(text: string): boolean {
  return /[*?[{]/.test(text);
}

/**
 * Tells which paths a glob fits: `*.ts` in any folder, `src/*.ts` from the folder that is searched, `**` over folders, `{a,b}` one
 * of several. In time proportional to the path.
 */
export function globOf(glob: string): (path: string) => boolean {
  const lines = withoutBraces(foldName(glob).replace(/^\.\//, "")).map((line) => line.replace(/^[!#]/, "\\$&"));
  const rules = new IgnoreRules(lines.join("\n"));
  return (path) => rules.test(foldName(path), false) === true;
}

/** `a.{ts,js}` -> `a.ts`, `a.js`. What has too many, or braces within braces, stays as it is from there on. */
function withoutBraces(glob: string): string[] {
  let done = [""];
  let rest = glob;
  while (rest !== "") {
    const found = /^([^{]*)\{([^{}]*,[^{}]*)\}/s.exec(rest);
    const parts = found?.[2]?.split(",") ?? [];
    if (!found || done.length * parts.length > MOST) break;
    done = done.flatMap((begun) => parts.map((part) => begun + found[1] + part));
    rest = rest.slice(found[0].length);
  }
  return done.map((begun) => begun + rest);
}

/** A pattern as it is below a folder; it may be written as an absolute path. */
export function relativeTo(fs: FileSystem, pattern: string, folder: string): string {
  const root = fs.root.endsWith("/") ? fs.root : `${fs.root}/`;
  const whole = folder === "." ? root : `${root}${folder}/`;
  return pattern.startsWith(whole) ? pattern.slice(whole.length) : pattern;
}
