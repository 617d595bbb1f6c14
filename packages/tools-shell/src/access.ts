import type { AccessRequest } from "@shedkit/tool";
import { canBeOpaque, isOpaque } from "./opaque.js";
import { parseShowing, type Redirection, type SimpleCommand } from "./parse.js";
import { type Reading, readingOf } from "./reading.js";
import { inPlace, placesAfter, wordPaths } from "./words.js";

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
const THROUGH = new Set("builtin command eval nice nohup stdbuf time timeout".split(" "));
const NOTHING: Reading = { reads: [], only: true };
const SHELLS = new Set("ash bash dash ksh mksh rbash sh yash zsh".split(" "));
const MAX_DEPTH = 8;

/** Commands after which nobody can tell where a relative path leads. */
const MOVES = /^(?:cd|pushd|popd)(?: |$)/;

/**
 * What a command line will run, and which files it is led from and to: one request for each command, with its arguments, however deep it is wrapped.
 * What cannot be told is one request whose target begins with `unknown: `, so that no permission for a command fits it.
 *
 * The `detail` of a command that is known to read files has them as `reads`, null where that depends on what ran before; and
 * `onlyReads` where it does nothing else. That of any other has as `words` the paths that its arguments may be, null where
 * that cannot be told.
 *
 * @param cwd The folder that the call names: a `cd` to it comes first, since leave for a command in one folder is none for
 *   another. Without one, relative files lie where the last command left off.
 */
export function accessOf(command: string, cwd?: string): AccessRequest[] {
  const folder = cwd?.trim().replace(/(?<=.)\/+$/, "") ?? "";
  let moved = false;
  let places: readonly string[] | undefined = [folder];
  const requests = requestsOf(command, 0).map((request) => {
    const { action, target } = request;
    if (action === "execute") {
      const placed = inFolder(request, folder, moved, places);
      if (MOVES.test(target)) places = placesAfter(places, target === "pushd" ? undefined : request.reading?.reads[0]);
      moved ||= MOVES.test(target);
      return placed;
    }
    if (target.startsWith("/")) return request;
    if (moved) return unknown(command, `where ${target} lies depends on what ran before`);
    return { ...request, target: inPlace(folder, target) };
  });
  if (folder === "") return requests;
  const detail = { reads: [folder], onlyReads: true }; // for this call alone
  return [{ action: "execute", target: `cd ${shown(folder)}`, detail }, ...requests];
}

/** A command with the files that it reads, or may use, where they are. */
function inFolder(
  request: CommandRequest,
  folder: string,
  moved: boolean,
  places: readonly string[] | undefined,
): AccessRequest {
  const { reading, simple, ...rest } = request;
  if (simple) {
    const words = wordPaths(simple.words, new Set(simple.patterns), places);
    return words?.length === 0 ? rest : { ...rest, detail: { words: words?.map((word) => ({ ...word })) ?? null } };
  }
  if (!reading) return rest;
  const only = reading.only && !(reading.isHere && folder !== "");
  const isPlain = (path: string) => /^[/~]/.test(path);
  if (moved && (reading.isHere || !reading.reads.every(isPlain))) return { ...rest, detail: { reads: null } };
  const reads = reading.reads.map((path) => inPlace(folder, path));
  return { ...rest, detail: { reads, ...(only && { onlyReads: true }) } };
}

/** Before it is known where relative files are. */
interface CommandRequest extends AccessRequest {
  reading?: Reading | undefined;
  /** Where nobody knows what it reads. */
  simple?: Pick<SimpleCommand, "words" | "patterns"> | undefined;
}

function requestsOf(command: string, depth: number): CommandRequest[] {
  const parsed = parseShowing(command);
  if (parsed.type === "unknown") return [unknown(command, parsed.reason)];
  return parsed.commands.flatMap((simple) => accessOfSimple(simple, depth));
}

function accessOfSimple(simple: SimpleCommand, depth: number): CommandRequest[] {
  const { words, patterns, assignments, redirections } = simple;
  const files = redirections.flatMap(filesOf);
  const [name] = words;
  if (name === undefined) {
    const sets = assignments.map((text): AccessRequest => ({ action: "execute", target: text }));
    return [...sets, ...files];
  }
  // A variable may change what a command does (PATH, LD_PRELOAD): it is part of what is asked for.
  const bare = words.map(shown).join(" ");
  const target = [...assignments, bare].join(" ");
  const reading = readingOf(name, words.slice(1), new Set(patterns)) ?? (isPlainly(words) ? NOTHING : undefined);
  return [
    ...(assignments.length === 0 ? [] : [{ action: "execute", target } as const]),
    { action: "execute", target: bare, ...(reading ? { reading } : { simple }) },
    ...inner(words, patterns, target, depth),
    ...files,
  ];
}

/** Whether a command does no more than those that are told of beside it: it changes neither who runs them nor how. */
function isPlainly([name = "", first = ""]: readonly string[]): boolean {
  if (SHELLS.has(name)) return first === "-c";
  return name === "env" ? !first.includes("=") : THROUGH.has(name);
}

/** What a command that runs another one runs. */
function inner(words: readonly string[], patterns: readonly string[], whole: string, depth: number): CommandRequest[] {
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
  if (name !== "xargs")
    return accessOfSimple({ words: command, patterns, assignments: [], redirections: [] }, depth + 1);
  // Its input adds arguments, which nobody has seen.
  if (canBeOpaque(baseName(next)) || SHELLS.has(baseName(next)) || WRAPPERS.has(baseName(next))) {
    return [unknown(whole, `what ${next} does depends on the input`)];
  }
  const isKnown = readingOf(next, command.slice(1), new Set(patterns)) !== undefined;
  const detail = isKnown ? { reads: null } : { words: null };
  return [{ action: "execute", target: `${command.map(shown).join(" ")} <input>`, detail }];
}

function ofShell(args: readonly string[], whole: string, depth: number): CommandRequest[] {
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
