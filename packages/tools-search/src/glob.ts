import { type FileSystem, foldName, IgnoreRules, nameOf } from "@shedkit/fs";

const MOST = 64; // patterns that braces may make

/** True for a text that stands for several names. */
export function isGlob(text: string): boolean {
  return /[*?[{]/.test(text);
}

/**
 * Tells which paths a glob fits: `*.ts` in any folder, `src/*.ts` from the folder that is searched, `**` over folders, `{a,b}` one
 * of several; a name with such signs in it (`[id].ts`) is also itself. In time proportional to the path.
 */
export function globOf(glob: string): (path: string) => boolean {
  const fits = testOf(glob);
  return (path) => fits(foldName(path), false);
}

/** Likewise; with `!` before it of paths that do not fit and are in no folder that does, as ripgrep's `--glob` has it. */
export function filterOf(fs: FileSystem, glob: string): (path: string) => boolean {
  if (!glob.startsWith("!")) return globOf(relativeTo(fs, glob, "."));
  const fits = testOf(relativeTo(fs, glob.slice(1), "."));
  return (path) => {
    const folded = foldName(path);
    for (let end = folded.indexOf("/"); end >= 0; end = folded.indexOf("/", end + 1)) {
      if (fits(folded.slice(0, end), true)) return false;
    }
    return !fits(folded, false);
  };
}

function testOf(glob: string): (folded: string, isFolder: boolean) => boolean {
  const clean = foldName(glob).replace(/^\.\//, "");
  const rules = new IgnoreRules(
    withoutBraces(clean)
      .map((line) => line.replace(/^[!#]/, "\\$&"))
      .join("\n"),
  );
  const name = clean.replace(/^\//, "");
  const anchored = clean.includes("/");
  return (path, isFolder) => rules.test(path, isFolder) === true || (anchored ? path : nameOf(path)) === name;
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
