import type { Care } from "./rule.js";
import { fitsStars } from "./stars.js";

/** `npm test` for that alone, `git status:*` (or `git status *`) for all that begins with these words; `*` within a word. */
export class CommandPattern {
  readonly #words: readonly string[];
  readonly #isPrefix: boolean;

  private constructor(words: readonly string[], isPrefix: boolean) {
    this.#words = words;
    this.#isPrefix = isPrefix;
  }

  /** Undefined where it is none. */
  static of(pattern: string): CommandPattern | undefined {
    const [all, head = "", prefix] = /^([\s\S]*?)(:\*|\s\*)?$/.exec(pattern) ?? [];
    const text = all === "*" ? "" : head;
    const words = wordsOf(text);
    if (!words || (words.length === 0 && all !== "*" && all !== ":*")) return undefined;
    return new CommandPattern(words, prefix !== undefined || all === "*");
  }

  fits(words: readonly string[], care: Care): boolean {
    if (care === "exact") return this.#fits(words);
    return [words, ...(words[0] === undefined ? [] : spellings(words[0], words.slice(1)))].some((w) => this.#fits(w));
  }

  #fits(words: readonly string[]): boolean {
    if (this.#isPrefix ? words.length < this.#words.length : words.length !== this.#words.length) return false;
    return this.#words.every((word, i) => fitsStars(word, words[i] ?? ""));
  }
}

/** What comes to the same command: whatever folder and case its name has, and git's own options aside. */
function spellings(name: string, args: readonly string[]): string[][] {
  const bare = name.slice(name.lastIndexOf("/") + 1).toLowerCase();
  const spelt = [[bare, ...args]];
  if (bare !== "git") return spelt;
  let at = 0;
  while (args[at]?.startsWith("-")) at += /^(?:-C|-c|--git-dir|--work-tree|--namespace)$/.test(args[at] ?? "") ? 2 : 1;
  return [...spelt, [bare, ...args.slice(at)]];
}

/**
 * The words of one command, quotes and backslashes taken off; undefined where it is more than that: operators,
 * substitutions, several lines, a quote that is not closed.
 */
export function wordsOf(text: string): string[] | undefined {
  const word = /\s*((?:'[^']*'|"(?:[^"\\$`]|\\[\s\S])*"|\\[^\n]|[^\s'"\\;&|<>()$`]+)+)/y;
  const words: string[] = [];
  for (;;) {
    const at = word.lastIndex;
    const found = word.exec(text)?.[1];
    if (found === undefined) return /^[ \t]*$/.test(text.slice(at)) ? words : undefined;
    if (/\n|\r/.test(text.slice(at, word.lastIndex - found.length))) return undefined; // the next command
    words.push(found.replace(/'([^']*)'|"((?:[^"\\]|\\[\s\S])*)"|\\([\s\S])/g, unquoted));
  }
}

function unquoted(
  _: string,
  single: string | undefined,
  double: string | undefined,
  escaped: string | undefined,
): string {
  return single ?? double?.replace(/\\([$`"\\])/g, "$1") ?? escaped ?? "";
}
