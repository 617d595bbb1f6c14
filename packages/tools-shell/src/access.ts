import type { AccessRequest } from "@shedkit/tool";
import { parseCommand, type SimpleCommand } from "./parse.js";

/** Commands that run the command in their arguments. */
const WRAPPERS = new Set(
  (
    "builtin busybox chroot command doas env eval exec find flock ionice nice nohup parallel runuser setsid ssh stdbuf su " +
    "sudo taskset timeout trap unshare watch xargs"
  ).split(" "),
);
const SHELLS = new Set("ash bash dash ksh sh zsh".split(" "));
const MAX_DEPTH = 8;

/**
 * What a command line will run and write: one request for each command, with its arguments, however deep it is wrapped.
 * What cannot be told is one request whose target begins with `unknown: `, so that no permission for a command fits it.
 */
export function accessOf(command: string, depth = 0): AccessRequest[] {
  const parsed = parseCommand(command);
  if (parsed.type === "unknown") return [unknown(command, parsed.reason)];
  return parsed.commands.flatMap((simple) => accessOfSimple(simple, depth));
}

function accessOfSimple(simple: SimpleCommand, depth: number): AccessRequest[] {
  const { words, assignments, redirections } = simple;
  const writes = redirections
    .filter(({ operator, target }) => writesFile(operator, target))
    .map(({ target }): AccessRequest => ({ action: "write", target }));
  const [name] = words;
  if (name === undefined) {
    const sets = assignments.map((text): AccessRequest => ({ action: "execute", target: text }));
    return [...sets, ...writes];
  }
  // A variable may change what a command does (PATH, LD_PRELOAD): it is part of what is asked for.
  const target = [...assignments, ...words.map(shown)].join(" ");
  return [{ action: "execute", target }, ...inner(words, target, depth), ...writes];
}

/** What a command that runs another one runs. */
function inner(words: readonly string[], whole: string, depth: number): AccessRequest[] {
  const [first = "", ...rest] = words;
  const name = first.slice(first.lastIndexOf("/") + 1);
  const isShell = SHELLS.has(name) && rest.some((word) => /^-[a-z]*c/.test(word));
  if (!isShell && !WRAPPERS.has(name)) return [];
  if (name === "find") {
    return rest.some((word) => /^-(?:exec|execdir|ok|okdir)$/.test(word))
      ? [unknown(whole, "find runs a command")]
      : [];
  }
  if (depth >= MAX_DEPTH) return [unknown(whole, "too many commands within commands")];
  if (isShell) {
    const [option, script] = rest;
    if (option !== "-c" || script === undefined) return [unknown(whole, "a shell with options")];
    return accessOf(script, depth + 1);
  }
  if (name === "eval") return accessOf(rest.join(" "), depth + 1);
  if (rest.length === 0) return [];
  // Their options differ too much to be told from the command.
  const next = rest[0] ?? "";
  if (!PLAIN.has(name) || next.startsWith("-") || next.includes("=")) {
    return [unknown(whole, `${name} runs a command`)];
  }
  return accessOfSimple({ words: rest, assignments: [], redirections: [] }, depth + 1);
}

/** Of the wrappers those whose first argument, if it is no option, is the command. */
const PLAIN = new Set("builtin busybox command doas env exec nice nohup setsid stdbuf sudo xargs".split(" "));

function unknown(command: string, reason: string): AccessRequest {
  return { action: "execute", target: `unknown: ${command}`, detail: { reason } };
}

function writesFile(operator: string, target: string): boolean {
  if (!operator.includes(">")) return false;
  if (operator === ">&" && /^(?:\d+-?|-)$/.test(target)) return false; // another stream
  return !["/dev/null", "/dev/stdout", "/dev/stderr"].includes(target);
}

/** A word as one would write it. */
function shown(word: string): string {
  return /^[\w@%+=:,./*?~[\]{}^!-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
