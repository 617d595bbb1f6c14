interface Rule {
  pattern: RegExp;
  /** Takes back what an earlier rule ignored. */
  keeps: boolean;
  foldersOnly: boolean;
}

/** The rules of one `.gitignore` file, as git reads them. */
export class IgnoreRules {
  readonly #rules: readonly Rule[];

  constructor(text: string) {
    this.#rules = text
      .replace(/^\ufeff/, "")
      .split("\n")
      .flatMap(ruleOf);
  }

  /**
   * Whether a path, relative to the folder of the file, is ignored; undefined where no rule is about it. What is in an
   * ignored folder is ignored too, which is for the caller to see to, as he goes from folder to folder.
   */
  test(path: string, isFolder: boolean): boolean | undefined {
    const last = this.#rules.findLast((rule) => (isFolder || !rule.foldersOnly) && rule.pattern.test(path));
    return last && !last.keeps;
  }
}

function ruleOf(line: string): Rule[] {
  let pattern = line.replace(/\r$/, "").replace(/(?<!\\)((?:\\\\)*) +$/, "$1");
  if (pattern === "" || pattern.startsWith("#")) return [];
  const keeps = pattern.startsWith("!");
  if (keeps) pattern = pattern.slice(1);
  const foldersOnly = pattern.endsWith("/");
  if (foldersOnly) pattern = pattern.slice(0, -1);
  const anchored = pattern.includes("/");
  const source = globSource(pattern.replace(/^\//, ""));
  if (pattern === "" || source === undefined) return [];
  return [{ pattern: new RegExp(`^${anchored ? "" : "(?:.*/)?"}${source}$`, "su"), keeps, foldersOnly }];
}

/** A regular expression for a pattern; undefined for one that matches nothing. */
function globSource(glob: string): string | undefined {
  const tokens = tokensOf(glob);
  if (tokens === undefined) return undefined;
  let source = "";
  let groups = 0;
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i] ?? "";
    if (token !== STAR) {
      source += token;
      continue;
    }
    let piece = "";
    while (tokens[i + 1] !== undefined && tokens[i + 1] !== STAR && tokens[i + 1] !== "/") piece += tokens[++i];
    // Between two stars the first place that fits is as good as any other: with a group that is not entered again, a
    // pattern of many stars takes no more than time in proportion to the name.
    source += tokens[i + 1] === STAR ? `(?=([^/]*?${piece}))\\${++groups}` : `[^/]*${piece}`;
  }
  return source;
}

const STAR = "*";

/** Regular expressions for the parts of a pattern, with `*` and `/` as they are. */
function tokensOf(glob: string): string[] | undefined {
  const tokens: string[] = [];
  for (let i = 0; i < glob.length; ) {
    const rest = glob.slice(i);
    const atPart = i === 0 || glob[i - 1] === "/";
    const [stars = ""] = /^\*+/.exec(rest) ?? [];
    if (stars.length === 2 && atPart && rest[2] === "/") {
      tokens.push("(?:.*/)?");
      i += 3;
    } else if (stars.length === 2 && atPart && rest.length === 2) {
      tokens.push(i === 0 ? ".*" : ".+");
      i += 2;
    } else if (stars !== "") {
      tokens.push(STAR);
      i += stars.length;
    } else if (rest.startsWith("?")) {
      tokens.push("[^/]");
      i++;
    } else if (rest.startsWith("[")) {
      const set = setSource(rest);
      if (set === undefined) return undefined;
      tokens.push(set.source);
      i += set.length;
    } else {
      if (rest === "\\") return undefined;
      const { character, next } = member(rest, 0);
      tokens.push(escaped(character));
      i += next;
    }
  }
  return tokens;
}

const NAMED: { readonly [name: string]: string } = {
  alnum: "0-9A-Za-z",
  alpha: "A-Za-z",
  blank: " \\t",
  digit: "0-9",
  lower: "a-z",
  upper: "A-Z",
  space: " \\t-\\r",
  xdigit: "0-9A-Fa-f",
  punct: "!-\\/:-@\\[-`\\{-~",
};

function setSource(rest: string): { source: string; length: number } | undefined {
  let i = 1;
  const negated = rest[i] === "!" || rest[i] === "^";
  if (negated) i++;
  let inner = "";
  for (let first = true; ; first = false) {
    const at = rest[i];
    if (at === undefined) return undefined;
    if (at === "]" && !first) break;
    const named = /^\[:(\w+):\]/.exec(rest.slice(i));
    if (named) {
      const members = NAMED[named[1] ?? ""];
      if (members === undefined) return undefined;
      inner += members;
      i += named[0].length;
      continue;
    }
    const from = member(rest, i);
    i = from.next;
    if (rest[i] === "-" && rest[i + 1] !== "]" && rest[i + 1] !== undefined) {
      const to = member(rest, i + 1);
      i = to.next;
      if (from.character <= to.character) inner += `${escaped(from.character)}-${escaped(to.character)}`;
    } else inner += escaped(from.character);
  }
  const source = negated ? `(?!/)[^${inner}]` : inner === "" ? "(?!)" : `(?!/)[${inner}]`;
  return { source, length: i + 1 };
}

function member(rest: string, at: number): { character: string; next: number } {
  const place = rest[at] === "\\" ? at + 1 : at;
  const character = String.fromCodePoint(rest.codePointAt(place) ?? 0);
  return { character, next: place + character.length };
}

function escaped(character: string): string {
  if (character === "-") return "\\x2d"; // has no other escape outside a set
  return /[\^$\\.*+?()[\]{}|]/.test(character) ? `\\${character}` : character;
}
