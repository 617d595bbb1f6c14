import { Lexer, type Token, Unknown, VARIABLE } from "./lexer.js";

/** A file that a command's input or output is led to or from. */
export interface Redirection {
  operator: string;
  target: string;
}

/** One command with its arguments, as the shell will run it. */
export interface SimpleCommand {
  /** The command's name and its arguments, quotes and backslashes taken off. */
  words: readonly string[];
  /** Those of the words that the shell may make other words of: by `*`, `?`, `[`, `~` and the like outside quotes. */
  patterns: readonly string[];
  /** Variables that are set for it, e.g. `A=1`. */
  assignments: readonly string[];
  redirections: readonly Redirection[];
}

/** The commands of a command line, or why they cannot be told. */
export type ParsedCommand =
  | {
      type: "commands";
      commands: readonly SimpleCommand[];
      /** True where something is put in the background with `&`. */
      background: boolean;
    }
  | { type: "unknown"; reason: string };

/** Words that begin what is more than a simple command. */
const RESERVED = new Set(
  "if then elif else fi for while until do done case esac in function select coproc [[ ]] }".split(" "),
);

/**
 * Reads a command line of a POSIX shell or bash: simple commands, joined by `;`, `&&`, `||`, `|`, `&` and line ends, in
 * groups and subshells, with redirections. What depends on anything but its own text (variables, substitutions, loops,
 * functions) is `unknown`; so is what cannot be read. It never says less than the shell will run.
 */
export function parseCommand(text: string): ParsedCommand {
  return parsed(text, false);
}

/** The same, but that `echo` may show variables such as `$HOME`, which stand in its words as they are written. */
export function parseShowing(text: string): ParsedCommand {
  return parsed(text, true);
}

function parsed(text: string, showsVariables: boolean): ParsedCommand {
  try {
    return new Parser(new Lexer(text, showsVariables).tokens()).parse();
  } catch (error) {
    if (error instanceof Unknown) return { type: "unknown", reason: error.message };
    throw error;
  }
}

class Parser {
  readonly #tokens: readonly Token[];
  readonly #commands: SimpleCommand[] = [];
  #at = 0;
  #background = false;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  parse(): ParsedCommand {
    this.#list(undefined);
    return { type: "commands", commands: this.#commands, background: this.#background };
  }

  /** Commands up to the end, or to the bracket that closes the group. */
  #list(close: ")" | "}" | undefined): void {
    let needed: string | undefined = close ? "a command in the group" : undefined;
    while (true) {
      while (this.#operator() === "\n") this.#at++;
      const operator = this.#operator();
      const closing = operator ?? (this.#word() === "}" ? "}" : undefined);
      const ended = this.#at >= this.#tokens.length;
      if (ended || (close && closing === close)) {
        if (needed) throw new Unknown(`${needed} is missing`);
        if (ended && close) throw new Unknown(`${close} is missing`);
        return;
      }
      this.#pipelinePart();
      needed = undefined;
      const after = this.#operator();
      if (after === undefined) continue; // the end, or what closes the group
      if (after === ")") continue;
      this.#at++;
      if (after === "&") this.#background = true;
      if (["&&", "||", "|", "|&"].includes(after)) needed = `a command after ${after}`;
    }
  }

  #pipelinePart(): void {
    for (let word = this.#word(); word === "!" || word === "time"; word = this.#word()) {
      this.#at++;
      if (word === "time" && this.#word() === "-p") this.#at++;
    }
    if (this.#operator() === "(" || this.#word() === "{") {
      const open = this.#operator() ?? "{";
      this.#at++;
      this.#list(open === "(" ? ")" : "}");
      this.#at++;
      const redirections: Redirection[] = [];
      this.#redirections(redirections);
      if (redirections.length > 0) this.#commands.push({ words: [], patterns: [], assignments: [], redirections });
      if (this.#at < this.#tokens.length && this.#operator() === undefined && this.#word() !== "}")
        throw new Unknown("a word after a group");
      return;
    }
    this.#simple();
  }

  #simple(): void {
    const words: string[] = [];
    const patterns: string[] = [];
    const assignments: string[] = [];
    const redirections: Redirection[] = [];
    while (true) {
      this.#redirections(redirections);
      const token = this.#tokens[this.#at];
      if (token?.type !== "word") break;
      this.#at++;
      if (token.variable && words[0] !== "echo") throw new Unknown(VARIABLE);
      if (words.length === 0 && /^[A-Za-z_]\w*\+?=/.test(token.raw)) {
        assignments.push(token.text);
        continue;
      }
      if (words.length === 0) {
        if (RESERVED.has(token.raw)) throw new Unknown(`"${token.raw}" is more than a simple command`);
        if (token.pattern) throw new Unknown("the command's name depends on the files that are there");
      }
      words.push(token.text);
      if (token.pattern) patterns.push(token.text);
    }
    const operator = this.#operator();
    if (operator === "(") throw new Unknown("a function, or a bracket where none is wanted");
    if (words.length + assignments.length + redirections.length === 0) {
      throw new Unknown(operator === undefined ? "a command is missing" : `nothing stands before ${show(operator)}`);
    }
    this.#commands.push({ words, patterns, assignments, redirections });
  }

  #redirections(into: Redirection[]): void {
    for (let token = this.#tokens[this.#at]; token?.type === "redirection"; token = this.#tokens[this.#at]) {
      const target = this.#tokens[this.#at + 1];
      if (token.heredoc) {
        this.#at += 1;
        continue;
      }
      if (target?.type !== "word") throw new Unknown(`the file after ${token.operator} is missing`);
      if (target.variable) throw new Unknown(VARIABLE);
      if (target.pattern) throw new Unknown("a redirection depends on the files that are there");
      into.push({ operator: token.operator, target: target.text });
      this.#at += 2;
    }
  }

  #operator(): string | undefined {
    const token = this.#tokens[this.#at];
    return token?.type === "operator" ? token.operator : undefined;
  }

  /** A word as it stands, quotes and all. */
  #word(): string | undefined {
    const token = this.#tokens[this.#at];
    return token?.type === "word" ? token.raw : undefined;
  }
}

function show(operator: string): string {
  return operator === "\n" ? "the line end" : operator;
}
