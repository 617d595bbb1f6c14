/** What cannot be told, and why. */
export class Unknown extends Error {}

/** Why a word with a variable cannot be told. */
export const VARIABLE = "a variable or substitution";

export type Token =
  | {
      type: "word";
      /** Quotes and backslashes taken off. */
      text: string;
      /** As it stands. */
      raw: string;
      /** True where the shell may make other words of it: `*`, `?`, `[`, `~`, braces. */
      pattern: boolean;
      /** True where it has one of the {@link VARIABLES}, which stands in `text` as it is written. */
      variable: boolean;
    }
  | { type: "operator"; operator: string }
  | { type: "redirection"; operator: string; heredoc: boolean };

const OPERATORS = ["&&", "||", "|&", ";;", "|", ";", "&", "(", ")", "\n"];
const REDIRECTIONS = ["&>>", "<<<", "<<-", "&>", ">>", "<<", ">|", ">&", "<&", "<>", ">", "<"];

/** Variables that hold no secret. */
const VARIABLES = /^(?:HOME|PWD|OLDPWD|USER|LOGNAME|SHELL|PATH|LANG|TERM|TMPDIR|HOSTNAME|\?)$/;

/** Splits a command line as a shell does. Throws Unknown for what only a running shell can tell. */
export class Lexer {
  readonly #text: string;
  readonly #tokens: Token[] = [];
  /** Here-documents whose text begins after this line. */
  #heredocs: { delimiter: string; literal: boolean; tabs: boolean }[] = [];
  readonly #knows: boolean;
  #at = 0;

  /** Throws Unknown for any variable unless some are known. */
  constructor(text: string, knowsVariables = false) {
    this.#text = text;
    this.#knows = knowsVariables;
  }

  tokens(): Token[] {
    while (this.#at < this.#text.length) this.#next();
    if (this.#heredocs.length > 0) throw new Unknown("a here-document has no text");
    return this.#tokens;
  }

  #next(): void {
    const rest = this.#text.slice(this.#at, this.#at + 3);
    const character = rest[0] ?? "";
    if (character === " " || character === "\t") this.#at++;
    else if (rest.startsWith("\\\n")) this.#at += 2;
    else if (character === "\r") throw new Unknown("a carriage return");
    else if (character === "#") {
      const end = this.#text.indexOf("\n", this.#at);
      this.#at = end < 0 ? this.#text.length : end;
    } else if (rest.startsWith("<(") || rest.startsWith(">(")) throw new Unknown("a process substitution");
    else if (rest.startsWith("((")) throw new Unknown("arithmetic");
    else {
      const redirection = REDIRECTIONS.find((operator) => rest.startsWith(operator));
      const operator = OPERATORS.find((operator) => rest.startsWith(operator));
      if (redirection) this.#redirection(redirection);
      else if (operator) this.#operator(operator);
      else this.#word();
    }
  }

  #operator(operator: string): void {
    if (operator === ";;") throw new Unknown("a case");
    this.#at += operator.length;
    this.#tokens.push({ type: "operator", operator });
    if (operator === "\n") this.#heredocTexts();
  }

  #redirection(operator: string): void {
    this.#at += operator.length;
    const heredoc = operator === "<<" || operator === "<<-";
    if (!heredoc) {
      this.#tokens.push({ type: "redirection", operator, heredoc });
      return;
    }
    while (/[ \t]/.test(this.#text[this.#at] ?? "")) this.#at++;
    const { text, raw, variable } = this.#readWord();
    if (variable) throw new Unknown(VARIABLE);
    if (raw === "") throw new Unknown("a here-document without its end word");
    this.#heredocs.push({ delimiter: text, literal: raw !== text, tabs: operator === "<<-" });
    this.#tokens.push({ type: "redirection", operator, heredoc });
  }

  /** Passes over the texts of here-documents. */
  #heredocTexts(): void {
    for (const { delimiter, literal, tabs } of this.#heredocs) {
      for (let ended = false; !ended; ) {
        if (this.#at >= this.#text.length) throw new Unknown(`the here-document does not end with ${delimiter}`);
        const end = this.#text.indexOf("\n", this.#at);
        const line = this.#text.slice(this.#at, end < 0 ? undefined : end);
        this.#at = end < 0 ? this.#text.length : end + 1;
        ended = (tabs ? line.replace(/^\t+/, "") : line) === delimiter;
        if (!ended && !literal && /[$`\\]/.test(line)) throw new Unknown("a here-document with substitutions");
      }
    }
    this.#heredocs = [];
  }

  #word(): void {
    const word = this.#readWord();
    // The number before a redirection belongs to it.
    if (/^\d+$/.test(word.raw) && /[<>]/.test(this.#text[this.#at] ?? "")) return;
    this.#tokens.push({ type: "word", ...word });
  }

  #readWord(): { text: string; raw: string; pattern: boolean; variable: boolean } {
    const start = this.#at;
    let text = "";
    let pattern = false;
    let variable = false;
    while (this.#at < this.#text.length) {
      const character = this.#text[this.#at] ?? "";
      if (/[ \t\r\n;&|()<>]/.test(character)) break;
      if (character === "$" || character === "`") {
        text += this.#variable();
        variable = true;
      } else if (character === "'") text += this.#until("'");
      else if (character === '"') {
        const quoted = this.#doubleQuoted();
        text += quoted.text;
        variable ||= quoted.variable;
      } else if (character === "\\") {
        const next = this.#text[this.#at + 1];
        if (next === undefined) throw new Unknown("a backslash at the end");
        if (next !== "\n") text += next;
        this.#at += 2;
      } else {
        if (/[*?[\]{}~!^]/.test(character)) pattern = true;
        text += character;
        this.#at++;
      }
    }
    const raw = this.#text.slice(start, this.#at);
    if (bracesOf(raw)) throw new Unknown("braces that make several words");
    return { text, raw, pattern: pattern && raw !== "{" && raw !== "}" && raw !== "!" && raw !== "[", variable };
  }

  /** What stands up to a closing quote. */
  #until(quote: string): string {
    const end = this.#text.indexOf(quote, this.#at + 1);
    if (end < 0) throw new Unknown("a quote is not closed");
    const inner = this.#text.slice(this.#at + 1, end);
    this.#at = end + 1;
    return inner;
  }

  #doubleQuoted(): { text: string; variable: boolean } {
    let text = "";
    let variable = false;
    for (this.#at++; ; this.#at++) {
      const character = this.#text[this.#at];
      if (character === undefined) throw new Unknown("a quote is not closed");
      if (character === '"') break;
      if (character === "$" || character === "`") {
        text += this.#variable();
        variable = true;
        this.#at--;
        continue;
      }
      const next = this.#text[this.#at + 1];
      if (character === "\\" && next !== undefined && '$`"\\\n'.includes(next)) {
        this.#at++;
        if (next !== "\n") text += next;
      } else text += character;
    }
    this.#at++;
    return { text, variable };
  }

  /** One of the {@link VARIABLES}, as it is written. Throws Unknown for any other. */
  #variable(): string {
    const rest = this.#text.slice(this.#at, this.#at + 100);
    const [written, braced, plain] = /^\$(?:\{(\w+|\?)\}|(\w+|\?))/.exec(rest) ?? [];
    if (!this.#knows || written === undefined || !VARIABLES.test(braced ?? plain ?? "")) throw new Unknown(VARIABLE);
    this.#at += written.length;
    return written;
  }
}

/** Whether a word has braces that stand for several, outside quotes: `{a,b}`, `{1..3}`. */
function bracesOf(raw: string): boolean {
  const bare = raw.replace(/\\[\s\S]|'[^']*'|"(?:\\[\s\S]|[^"\\])*"/g, "x");
  const [open, close] = [bare.indexOf("{"), bare.lastIndexOf("}")];
  return open >= 0 && /,|\.\./.test(bare.slice(open, Math.max(open, close)));
}
