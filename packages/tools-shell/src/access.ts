import type { AccessRequest } from "@shedkit/tool";
import { canBeOpaque, isOpaque } from "./opaque.js";
import { parseCommand, type Redirection, type SimpleCommand } from "./parse.js";

/** Commands that run the command in their arguments. */
const WRAPPERS = new Set(
  (
    "at batch builtin busybox bwrap caffeinate capsh catchsegv chroot chronic chrt command csh dbus-run-session doas entr env " +
    "eval exec fakeroot firejail fish flock gtimeout hyperfine ionice ltrace nice nohup nsenter numactl parallel pkexec prlimit " +
    "proot proxychains proxychains4 pwsh rlwrap runcon runuser script setarch setpriv setsid ssh ssh-agent start-stop-daemon " +
    "stdbuf strace su sudo systemd-inhibit systemd-run taskset tcsh time timeout torify torsocks trap unbuffer unshare watch " +
    "xargs xvfb-run"
  ).split(" "),
);
/** Of the wrappers those whose first argument, if it is no option, is the command. */
const PLAIN = new Set("builtin busybox command doas env exec nice nohup setsid stdbuf sudo time xargs".split(" "));
const SHELLS = new Set("ash bash dash ksh mksh rbash sh yash zsh".split(" "));
const MAX_DEPTH = 8;

/** Commands after which nobody can tell where a relative path leads. */
const MOVES = /^(?:cd|pushd|popd)(?: |$)/;

/**
 * What a command line will run, and which files it is led from and to: one request for each command, with its arguments, however deep it is wrapped.
 * What cannot be told is one request whose target begins with `unknown: `, so that no permission for a command fits it.
 *
 * @param cwd The folder that the call names: a `cd` to it comes first, since leave for a command in one folder is none for
 *   another. Without one, relative files lie where the last command left off.
 */
export function accessOf(command: string, cwd?: string): AccessRequest[] {
  const folder = cwd?.trim().replace(/(?<=.)\/+$/, "") ?? "";
  let moved = false;
  const requests = requestsOf(command, 0).map((request) => {
    const { action, target } = request;
    if (action === "execute") moved ||= MOVES.test(target);
    if (action === "execute" || target.startsWith("/")) return request;
    if (moved) return unknown(command, `where ${target} lies depends on what ran before`);
    return folder === "" ? request : { ...request, target: `${folder === "/" ? "" : folder}/${target}` };
  });
  return folder === "" ? requests : [{ action: "execute", target: `cd ${shown(folder)}` }, ...requests];
}

function requestsOf(command: string, depth: number): AccessRequest[] {
  const parsed = parseCommand(command);
  if (parsed.type === "unknown") return [unknown(command, parsed.reason)];
  return parsed.commands.flatMap((simple) => accessOfSimple(simple, depth));
}

function accessOfSimple(simple: SimpleCommand, depth: number): AccessRequest[] {
  const { words, assignments, redirections } = simple;
  const files = redirections.flatMap(filesOf);
  const [name] = words;
  if (name === undefined) {
    const sets = assignments.map((text): AccessRequest => ({ action: "execute", target: text }));
    return [...sets, ...files];
  }
  // A variable may change what a command does (PATH, LD_PRELOAD): it is part of what is asked for.
  const bare = words.map(shown).join(" ");
  const target = [...assignments, bare].join(" ");
  const targets = assignments.length === 0 ? [target] : [target, bare];
  return [
    ...targets.map((target): AccessRequest => ({ action: "execute", target })),
    ...inner(words, target, depth),
    ...files,
  ];
}

/** What a command that runs another one runs. */
function inner(words: readonly string[], whole: string, depth: number): AccessRequest[] {
  const [first = "", ...rest] = words;
  const name = baseName(first);
  if (isOpaque(name, rest)) return [unknown(whole, `${name} may do more than its name tells`)];
  const isShell = SHELLS.has(name);
  if (!isShell && !WRAPPERS.has(name)) return [];
  if (depth >= MAX_DEPTH) return [unknown(whole, "too many commands within commands")];
  if (isShell) return ofShell(rest, whole, depth);
  if (name === "eval") return requestsOf(rest.join(" "), depth + 1);
  if (rest.length === 0) return [];
  if (name === "command" && /^-[vV]+$/.test(rest[0] ?? "")) return []; // says where it is
  const command = name === "env" ? afterEnv(rest) : name === "timeout" ? afterTimeout(rest) : rest;
  const next = command?.[0];
  // The options of others differ too much to be told from the command.
  const plain = PLAIN.has(name) || name === "timeout";
  if (!command || next === undefined || !plain || next.startsWith("-") || next.includes("=")) {
    return [unknown(whole, `${name} runs a command`)];
  }
  if (name !== "xargs") return accessOfSimple({ words: command, assignments: [], redirections: [] }, depth + 1);
  // Its input adds arguments, which nobody has seen.
  if (canBeOpaque(baseName(next)) || SHELLS.has(baseName(next)) || WRAPPERS.has(baseName(next))) {
    return [unknown(whole, `what ${next} does depends on the input`)];
  }
  return [{ action: "execute", target: `${command.map(shown).join(" ")} <input>` }];
}

function ofShell(args: readonly string[], whole: string, depth: number): AccessRequest[] {
  const [option, script] = args;
  if (option === "-c" && script !== undefined) return requestsOf(script, depth + 1);
  if (option === "--version" || option === "--help") return [];
  // Without a script it reads its commands from its input.
  if (option === undefined || option.startsWith("-") || option.startsWith("+")) {
    return [unknown(whole, "a shell with options, or with commands from its input")];
  }
  return [];
}

/** The command of `env`, where only variables stand before it. */
function afterEnv(args: readonly string[]): readonly string[] | undefined {
  const at = args.findIndex((arg) => !/^[A-Za-z_]\w*=/.test(arg));
  return at < 0 ? undefined : args.slice(at);
}

/** The command of `timeout`. */
function afterTimeout(args: readonly string[]): readonly string[] | undefined {
  let at = 0;
  for (; args[at]?.startsWith("-"); at++) {
    if (args[at] === "-k" || args[at] === "-s") at++;
    else if (!/^--(?:foreground|preserve-status|kill-after=.*|signal=.*)$/.test(args[at] ?? "")) return undefined;
  }
  return args.slice(at + 1);
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

function unknown(command: string, reason: string): AccessRequest {
  return { action: "execute", target: `unknown: ${command}`, detail: { reason } };
}

function filesOf({ operator, target }: Redirection): AccessRequest[] {
  if (operator === "<<<" || QUIET_FILES.has(target)) return [];
  if (operator.endsWith("&") && /^(?:\d+-?|-)$/.test(target)) return []; // another stream
  const read: AccessRequest[] = operator.includes("<") ? [{ action: "read", target }] : [];
  return operator.includes(">") ? [...read, { action: "write", target }] : read;
}

const QUIET_FILES = new Set(["/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr"]);

/** A word as one would write it. */
function shown(word: string): string {
  return /^[\w@%+=:,./*?~[\]{}^!-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
