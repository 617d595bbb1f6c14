/** A path that a word of a command may be. */
export interface WordPath {
  path: string;
  /** Of the word in the command, whose name is 0. */
  at: number;
  /** As it stands it may as well be no path: `build`. */
  isName?: true | undefined;
  /** The shell makes other words of it: `*.md`. */
  isOpen?: true | undefined;
}

const MOST_PATHS = 1000;
const MOST_PLACES = 8;

/**
 * The paths that the arguments of a command may be, where nobody knows what it does: words, and what stands in them behind
 * `=`, `@`, `:`, `,` or the letter of an option; null where that cannot be told.
 *
 * @param places The folders that it may run in; undefined: nobody knows.
 */
export function wordPaths(
  words: readonly string[],
  patterns: ReadonlySet<string>,
  places: readonly string[] | undefined,
): readonly WordPath[] | null {
  const found: WordPath[] = [];
  for (let at = 1; at < words.length; at++) {
    const word = words[at] ?? "";
    const isOpen = patterns.has(word) && /[*?[]/.test(word);
    for (const part of isOpen ? [word] : partsOf(word)) {
      const path = part === word && /^~/.test(word) && !patterns.has(word) ? `./${word}` : part;
      const all = isAbsolute(path) ? [path] : places?.map((place) => inPlace(place, path));
      if (!all || found.length + all.length > MOST_PATHS) return null;
      const kind = isOpen ? { isOpen } : isPathLike(path) ? {} : { isName: true as const };
      found.push(...all.map((path) => ({ path, at, ...kind })));
    }
  }
  return found;
}

/** The folders that commands may run in after a `cd` into one, which may have failed, or been in a subshell. */
export function placesAfter(
  places: readonly string[] | undefined,
  folder: string | undefined,
): readonly string[] | undefined {
  if (folder === undefined || folder === "~-" || /[*?[]/.test(folder)) return undefined;
  const all = new Set([...(places ?? []), ...(places ?? []).map((place) => inPlace(place, folder))]);
  return places === undefined || all.size > MOST_PLACES ? undefined : [...all];
}

/** A path as it is seen from where commands begin; an empty folder is that. */
export function inPlace(folder: string, path: string): string {
  if (folder === "" || isAbsolute(path)) return path;
  return `${folder === "/" ? "" : folder}/${path}`;
}

function isAbsolute(path: string): boolean {
  return /^[/~]/.test(path);
}

function isPathLike(text: string): boolean {
  return /[./]|^~/.test(text);
}

/** In time proportional to the word. */
function partsOf(word: string): ReadonlySet<string> {
  const behind = [word.search(/[=@]/), Math.max(word.lastIndexOf("="), word.lastIndexOf("@"))];
  return new Set([
    ...(word === "" || word.startsWith("-") ? [] : [word]),
    ...behind.flatMap((at) => (at < 0 || at === word.length - 1 ? [] : [word.slice(at + 1)])),
    ...[...word.split(/[=@:,]/), /^-\w(.+)$/s.exec(word)?.[1] ?? ""].filter(
      (part) => isPathLike(part) && !part.startsWith("-"),
    ),
  ]);
}
