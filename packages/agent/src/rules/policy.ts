import { AgenticError } from "@shedkit/types";
import type { PermissionPolicy, PermissionRequest, PermissionVerdict } from "../permissions.js";
import { type Doing, doingsOf, isShell, type Word } from "./doings.js";
import { below, cleanAbsolute, PathPattern, type Places, type Where } from "./path-pattern.js";
import { protection } from "./protected.js";
import { type Care, type Rule, readRule, type Subject } from "./rule.js";

/**
 * What is done about a call that no rule is about and that changes something: `ask`; `acceptEdits`: as `ask`, but files in the
 * root are changed without asking; `dontAsk`: denied, as is whatever else would be asked; `bypass`: it runs.
 */
export type PermissionMode = "ask" | "acceptEdits" | "dontAsk" | "bypass";

/** Rules, and what they are relative to. */
export interface PermissionRules {
  /** The folder of the file tools and where commands begin, as an absolute path: what relative paths are in. */
  root: string;
  /** Default: none. */
  allow?: readonly string[] | undefined;
  /** Default: none. */
  ask?: readonly string[] | undefined;
  /** Default: none. */
  deny?: readonly string[] | undefined;
  /** Default: `ask`. */
  mode?: PermissionMode | undefined;
  /** What `~` is, as an absolute path. Without it nobody knows where such paths lead. */
  home?: string | undefined;
  /**
   * Where an absolute path leads with links followed, also of a file that is not there yet; rejects where that cannot be told.
   * `realPathOf` of `@shedkit/fs/node`. Default: links are not looked at.
   */
  realPath?: ((path: string) => Promise<string>) | undefined;
  /** More files that are never changed without asking, as paths in rules, e.g. a program's own settings. Default: none. */
  protect?: readonly string[] | undefined;
}

/** What these change is the session's own, unless they say otherwise. */
const OWN: ReadonlySet<string> = new Set(
  (
    "plan enterPlan exitPlan askUser skill memory memorySearch memoryGet searchTool goalUpdate monitor waitTasksAction " +
    "backgroundTaskAction killTaskAction"
  ).split(" "),
);
const MODES: readonly PermissionMode[] = ["ask", "acceptEdits", "dontAsk", "bypass"];
const OF_FILES: ReadonlySet<Subject | undefined> = new Set(["Read", "Search"]);
const OF_WORDS: ReadonlySet<Subject | undefined> = new Set(["Read", "Edit"]);
const OF_COMMANDS: ReadonlySet<Subject | undefined> = new Set(["Bash", "Read", "Edit", "Search"]);

/**
 * A policy of rules `Tool` or `Tool(pattern)`: what one of `deny` is about is denied, else what one of `ask` is about is asked,
 * else what those of `allow` cover runs; files in `root` are read, and commands that are known only to read are run, without
 * a rule. Files that others run or believe (`.git`, `.ssh`, startup files of shells, `/etc`) are never written without asking.
 *
 * Throws AgenticError `session` with the reason "wrong rule" where a rule cannot be read, which names it and what was
 * wanted; with "wrong root" or "wrong mode" likewise.
 */
export function permissionRules(options: PermissionRules): PermissionPolicy {
  const { home, realPath, mode = "ask" } = options;
  const root = cleanAbsolute(options.root);
  if (root === undefined) throw wrong("root", options.root, "an absolute path");
  if (!MODES.includes(mode)) throw wrong("mode", mode, MODES.map((name) => `"${name}"`).join(", "));
  const places: Places = { root, home: home === undefined ? undefined : cleanAbsolute(home) };
  const read = (rules: readonly string[] = []) => rules.map((rule) => readRule(rule, places));
  const [allow, ask, deny] = [read(options.allow), read(options.ask), read(options.deny)];
  const protect = (options.protect ?? []).map((pattern) => pathOf(pattern, places));
  const bans = [...ask, ...deny].filter(({ fits }) => fits);
  const bansFiles = bans.some(({ subject }) => OF_FILES.has(subject));
  const bansWords = bans.some(({ subject }) => OF_WORDS.has(subject));
  const bansCommands = bans.some(({ subject }) => OF_COMMANDS.has(subject));
  let realRoot: Promise<string | undefined> | undefined;

  const isInRoot = ({ lexical, real }: Where) =>
    [lexical, real].every((path) => path !== undefined && below(root, path) !== undefined);

  const isGuarded = (doing: Doing): string | undefined => {
    if (!doing.subjects.includes("Edit") || !doing.path) return undefined;
    const { lexical, real, spellings } = doing.path;
    if (lexical === undefined || real === undefined) return `${doing.what}: nobody can tell where that leads`;
    const why = spellings.map(protection).find((found) => found !== undefined);
    if (why !== undefined) return `${doing.what}: ${why}`;
    const isOwn = protect.some((pattern) => pattern.fits({ spellings }, "wide"));
    return isOwn ? `${doing.what}: it is not changed without asking` : undefined;
  };

  /** Rules of bans may be about what cannot be told. */
  const mayBeBanned = ({ isUnclear, isOpen, word }: Doing) =>
    (isUnclear && bansCommands) || (isOpen && (word ? bansWords : bansFiles));

  /** Leave that says a word itself knows what it is: `Bash(npm test)`. */
  const isNamed = (doing: Doing, { command, at }: Word): boolean => {
    const leave = allow.filter(({ subject, fits }) => subject === "Bash" && fits?.({ ...doing, command }, "exact"));
    if (leave.length === 0) return false;
    const other = command.map((word, i) => (i === at ? "\0" : word));
    return leave.some(({ fits }) => !fits?.({ ...doing, command: other }, "exact"));
  };

  const isAllowed = (doing: Doing, call: PermissionRequest): boolean => {
    const { subjects, path, isLoose } = doing;
    if (doing.isUnclear || mayBeBanned(doing)) return false;
    if (doing.word) return true;
    const isEdit = subjects.includes("Edit");
    if (isEdit && isLoose) return false; // it may be anywhere
    if (allow.some((rule) => isAbout(rule, call, doing, "exact"))) return true;
    if (subjects.includes("Bash")) return doing.isHarmless === true;
    if (subjects.includes("Read")) return path !== undefined && isInRoot(path);
    return isEdit && mode === "acceptEdits" && path !== undefined && isInRoot(path);
  };

  const judge = (call: PermissionRequest, all: readonly Doing[]): PermissionVerdict => {
    const denied = banOf(deny, call, all) ?? wordBanOf(deny, all, true);
    if (denied) return { deny: `the rule ${denied.rule.text} forbids to ${denied.what}` };
    const doings = all.filter((doing) => !doing.word || !isNamed(doing, doing.word));
    const asked = banOf(ask, call, doings) ?? wordBanOf(ask, all, true) ?? wordBanOf(ask, doings);
    if (asked) return { ask: `the rule ${asked.rule.text} asks before it may ${asked.what}` };
    const perhaps = wordBanOf(deny, doings);
    if (perhaps) return { ask: `the rule ${perhaps.rule.text} may forbid to ${perhaps.what}` };
    const guarded = doings.map(isGuarded).find((reason) => reason !== undefined);
    if (guarded !== undefined) return { ask: `it would ${guarded}` };
    if (mode === "bypass" || allow.some((rule) => isAboutAll(rule, call))) {
      const unclear = doings.find(mayBeBanned);
      return unclear ? { ask: `a rule may be about it, which cannot be told: ${unclear.what}` } : "allow";
    }
    if (call.access.length === 0 && (OWN.has(call.kind) || call.capabilities.readOnly)) return "allow";
    return doings.every((doing) => isAllowed(doing, call)) ? "allow" : "ask";
  };

  return {
    async decide(call) {
      realRoot ??= realPath ? realPath(root).then(cleanAbsolute, () => undefined) : Promise.resolve(root);
      const doings = await doingsOf(call, { ...places, realPath, realRoot: await realRoot, words: bansWords });
      const verdict = judge(call, doings);
      if (mode !== "dontAsk" || verdict === "allow" || (typeof verdict === "object" && "deny" in verdict))
        return verdict;
      const open = doings.find((doing) => !isAllowed(doing, call))?.what ?? `call ${call.tool}`;
      const reason = verdict === "ask" ? `no rule allows to ${open}` : verdict.ask;
      return { deny: `${reason}, and nobody is asked here` };
    },
  };
}

/** The first rule that is about a part of a call. */
function banOf(rules: readonly Rule[], call: PermissionRequest, doings: readonly Doing[]) {
  for (const rule of rules) {
    if (isAboutAll(rule, call)) return { rule, what: `call ${call.tool}` };
    const doing = doings.find((doing) => isAbout(rule, call, doing, "wide"));
    if (doing) return { rule, what: doing.what };
  }
  return undefined;
}

/**
 * The first rule about files that a word of a command may be about; with `isSure` one that surely is: what looks like a path is
 * read, though nobody knows whether it is changed.
 */
function wordBanOf(rules: readonly Rule[], doings: readonly Doing[], isSure = false) {
  for (const rule of rules) {
    if (!(isSure ? rule.subject === "Read" : OF_WORDS.has(rule.subject))) continue;
    const doing = doings.find((doing) => doing.word && !(isSure && doing.word.isName) && rule.fits?.(doing, "wide"));
    if (doing) return { rule, what: doing.what };
  }
  return undefined;
}

/** Whether a rule is about a tool, whatever it is called with. */
function isAboutAll({ name, subject, fits }: Rule, call: PermissionRequest): boolean {
  return !fits && (name === call.tool || (subject === "Bash" && isShell(call)));
}

function isAbout({ subject, fits }: Rule, call: PermissionRequest, doing: Doing, care: Care): boolean {
  if (subject === undefined || !doing.subjects.includes(subject)) return false;
  if (subject === "Bash" && !isShell(call)) return false;
  return fits?.(doing, care) ?? true;
}

function pathOf(pattern: string, places: Places): PathPattern {
  const path = PathPattern.of(pattern, places);
  if (typeof path === "string") throw wrong("protect", pattern, path);
  return path;
}

function wrong(field: string, got: unknown, wanted: string): AgenticError {
  return new AgenticError("session", `permissionRules: ${field} is ${JSON.stringify(got)}; wanted: ${wanted}.`, {
    reason: `wrong ${field}`,
  });
}
