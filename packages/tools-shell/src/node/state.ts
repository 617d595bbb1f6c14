import { STATE_END } from "./script.js";

/** What a command left for the next. */
export interface ShellState {
  /** Its folder. */
  cwd: string;
  /** What a shell reads to go on as it was; empty where that is as it begins anyway. */
  script: string;
}

/** What bash sets anew each time, whatever is read. */
const OWN = new Set(
  (
    "BASH BASHOPTS BASHPID BASH_ALIASES BASH_ARGC BASH_ARGV BASH_ARGV0 BASH_CMDS BASH_COMMAND BASH_EXECUTION_STRING BASH_LINENO " +
    "BASH_LOADABLES_PATH BASH_MONOSECONDS BASH_REMATCH BASH_SOURCE BASH_SUBSHELL BASH_TRAPSIG BASH_VERSINFO BASH_VERSION " +
    "COMP_WORDBREAKS DIRSTACK EPOCHREALTIME EPOCHSECONDS EUID FUNCNAME GROUPS HISTCMD HOSTNAME HOSTTYPE IFS LINENO MACHTYPE " +
    "OPTERR OPTIND OSTYPE PIPESTATUS PPID PS4 RANDOM SECONDS SHELLOPTS SHLVL SRANDOM UID _"
  ).split(" "),
);
const FOLDERS = new Set(["PWD", "OLDPWD"]);

/**
 * Reads what the shell wrote of its state; undefined where it did not come to the end. Of bash's variables only those that
 * differ from the environment are kept: the next command would be slower for each.
 */
export function readState(written: string, env: { readonly [name: string]: string }): ShellState | undefined {
  const at = written.indexOf("\0");
  if (at < 0 || !written.endsWith(`\n${STATE_END}\n`)) return undefined;
  const text = written.slice(at + 1, -STATE_END.length - 1);
  const { kept, names, end } = declarations(text, env);
  const gone =
    names.size === 0 || text.startsWith("declare ", end)
      ? []
      : Object.keys(env).filter(
          (name) => /^[A-Za-z_]\w*$/.test(name) && !names.has(name) && !OWN.has(name) && !FOLDERS.has(name),
        );
  const unset = gone.length === 0 ? "" : `unset ${gone.join(" ")}\n`;
  const script = `${kept}${unset}${text.slice(end)}`;
  return { cwd: written.slice(0, at).replace(/\n$/, ""), script: script.trim() === "" ? "" : script };
}

/** The statements of `declare -p` at the start of a text, as far as they can be told apart. */
function declarations(
  text: string,
  env: { readonly [name: string]: string },
): { kept: string; names: ReadonlySet<string>; end: number } {
  const head = /declare -([\w-]+) ([A-Za-z_]\w*)(=|\n)/y;
  const names = new Set<string>();
  let kept = "";
  let end = 0;
  for (let match = head.exec(text); match; match = head.exec(text)) {
    const [, flags = "", name = "", sign] = match;
    const next = sign === "\n" ? head.lastIndex : endOfValue(text, head.lastIndex);
    if (next === undefined) break;
    const statement = text.slice(end, next);
    names.add(name);
    const value = Object.hasOwn(env, name) ? env[name] : undefined;
    const same = value !== undefined && !/[\\"$`]/.test(value) && statement === `declare -x ${name}="${value}"\n`;
    // One that is not exported any more would be, if it were not taken away first.
    const hidden = value !== undefined && !flags.includes("x") ? `unset ${name}\n` : "";
    if (!OWN.has(name) && !same) kept += hidden + statement;
    end = next;
    head.lastIndex = end;
  }
  return { kept, names, end };
}

/** Where the line after a value begins: one in quotes, or a list of such. Undefined where it has no end. */
function endOfValue(text: string, start: number): number | undefined {
  let quote = "";
  let depth = 0;
  for (let i = start; i < text.length; i++) {
    const character = text[i] ?? "";
    if (quote !== "") {
      if (character === "\\") i++;
      else if (character === quote) quote = "";
    } else if (character === '"') quote = '"';
    else if (character === "'") quote = "'";
    else if (character === "\\") i++;
    else if (character === "(") depth++;
    else if (character === ")") depth--;
    else if (character === "\n" && depth === 0) return i + 1;
  }
  return undefined;
}
