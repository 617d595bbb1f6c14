import type { AccessRequest } from "@shedkit/tool";
import type { PermissionRequest } from "../permissions.js";
import { wordsOf } from "./command-pattern.js";
import { below, cleanAbsolute, type Places, type Where } from "./path-pattern.js";
import type { Subject } from "./rule.js";

/** One thing that a call does. */
export interface Doing {
  /** What rules are about it; none: those for the tool alone. */
  subjects: readonly Subject[];
  /** For people: `run "rm x"`. */
  what: string;
  /** The words of a command. */
  command?: readonly string[] | undefined;
  /** The command does nothing of its own: it reads what is named beside it, or runs it. */
  isHarmless?: boolean | undefined;
  path?: Where | undefined;
  /** The folder that the path is in is not known for sure. */
  isLoose?: boolean | undefined;
  host?: string | undefined;
  serverTool?: { server: string; tool: string } | undefined;
  /** The path is a pattern, or a folder with all that is in it. */
  isOpen?: boolean | undefined;
  /** The path is a word of a command that nobody knows, and counts for bans alone. */
  word?: Word | undefined;
  /** Nobody can tell what is done: it may be what a rule is about. */
  isUnclear?: boolean | undefined;
}

/** A word of a command that may be a path. */
export interface Word {
  /** Of the word in the command. */
  at: number;
  command: readonly string[];
  /** It may as well be something else. */
  isName: boolean;
}

/** Finds out what a call does, and where. */
export interface Finder extends Places {
  /** The root where it really is. */
  realRoot: string | undefined;
  realPath: ((path: string) => Promise<string>) | undefined;
  /** The words of commands that nobody knows are wanted. */
  words: boolean;
}

/** Stands for arguments that a command gets from its input. */
const INPUT = " <input>";

/** All that a call does, as far as its tool says it. */
export async function doingsOf(call: PermissionRequest, finder: Finder): Promise<Doing[]> {
  const found = await Promise.all(call.access.map((request) => ofRequest(request, call, finder)));
  const doings = found.flat();
  if (isShell(call) && doings.length === 0) {
    return [{ subjects: ["Bash"], what: `call ${call.tool}, which does not say what it runs`, isUnclear: true }];
  }
  // A tool may do more than it says of files: that it reads one is not all of a tool that changes something.
  const isRead = doings.every(({ path, subjects }) => path && subjects.includes("Read"));
  if (isRead && !isShell(call) && !call.capabilities.readOnly) doings.push({ subjects: [], what: `call ${call.tool}` });
  return doings;
}

/** Whether the tool runs commands. */
export function isShell({ kind }: PermissionRequest): boolean {
  return kind === "execute";
}

async function ofRequest(request: AccessRequest, call: PermissionRequest, finder: Finder): Promise<Doing[]> {
  const { action, target } = request;
  const detail = (request.detail ?? {}) as {
    mcpServer?: unknown;
    tool?: unknown;
    reads?: unknown;
    onlyReads?: unknown;
    words?: unknown;
  };
  if (typeof detail.mcpServer === "string" && typeof detail.tool === "string") {
    const serverTool = { server: detail.mcpServer, tool: detail.tool };
    return [{ subjects: ["MCPTool"], what: `call ${serverTool.tool} of ${serverTool.server}`, serverTool }];
  }
  switch (action) {
    case "read":
      return [await reading(target, call, finder)];
    case "write":
      return [{ ...(await placed(target, finder)), subjects: ["Edit"], what: `write ${target}` }];
    case "network":
      if (call.kind === "webFetch") return [{ subjects: ["WebFetch"], what: `load from ${target}`, host: target }];
      return [{ subjects: call.kind === "webSearch" ? ["WebSearch"] : [], what: `send to ${target}` }];
    case "execute":
      if (!isShell(call)) return [{ subjects: [], what: `run ${target}` }];
      return await running(target, detail, call, finder);
  }
}

async function running(
  target: string,
  { reads, onlyReads, words: given }: { reads?: unknown; onlyReads?: unknown; words?: unknown },
  call: PermissionRequest,
  finder: Finder,
): Promise<Doing[]> {
  const what = `run ${JSON.stringify(target.replace(/^unknown: /, ""))}`;
  const [fixed, input] = target.endsWith(INPUT) ? [target.slice(0, -INPUT.length), [INPUT]] : [target, []];
  const words = target.startsWith("unknown: ") ? undefined : wordsOf(fixed);
  const command = words && [...words, ...input];
  const files = Array.isArray(reads) ? reads.filter((path) => typeof path === "string") : [];
  const isUnclear = command === undefined || reads === null;
  const doing: Doing = { subjects: ["Bash"], what, command, isHarmless: onlyReads === true, isUnclear };
  const used = finder.words && command ? using(given, command, finder) : [];
  return [
    doing,
    ...(await Promise.all([...files.map((path) => reading(path, call, finder, /[*?[]/.test(path))), ...used])),
  ];
}

/** What the words of a command may be, as the shell tells of them. */
function using(given: unknown, command: readonly string[], finder: Finder): Promise<Doing>[] {
  const all = Array.isArray(given) ? given : given === null ? [{}] : [];
  return all.map(async ({ path, at, isName, isOpen }: { [field: string]: unknown }) => {
    const word: Word = { at: typeof at === "number" ? at : -1, command, isName: isName === true };
    if (typeof path !== "string") return { subjects: [], what: "use files that nobody can tell", word, isOpen: true };
    const { path: where } = await placed(path, finder);
    return { subjects: [], what: `use ${path}`, path: where, word, isOpen: isOpen === true };
  });
}

async function reading(target: string, { kind }: PermissionRequest, finder: Finder, isOpen = false): Promise<Doing> {
  const subjects: Subject[] = kind === "search" ? ["Read", "Search"] : ["Read"];
  return { ...(await placed(target, finder)), subjects, what: `read ${target}`, isOpen };
}

/** Where a path of a request leads. */
async function placed(target: string, finder: Finder): Promise<Pick<Doing, "path" | "isLoose">> {
  const { root, home, realRoot, realPath } = finder;
  const isHome = /^~(?:\/|$)/.test(target);
  const isRelative = !isHome && cleanAbsolute(target) === undefined;
  const full = isHome ? home && home + target.slice(1) : isRelative ? `${root}/${target}` : target;
  const isElsewhere = isRelative && target.startsWith("~"); // of another user, or where one was before
  const lexical = full === undefined || isElsewhere ? undefined : cleanAbsolute(full);
  if (full === undefined || lexical === undefined) return { path: { spellings: [] }, isLoose: true };
  const real = realPath ? await realPath(full).then(cleanAbsolute, () => undefined) : lexical;
  const inRoot = (path: string | undefined) => {
    const rest = path !== undefined && realRoot !== undefined ? below(realRoot, path) : undefined;
    return rest === undefined ? path : rest === "" ? root : `${root === "/" ? "" : root}/${rest}`;
  };
  const path: Where = { lexical: inRoot(lexical), real: inRoot(real), spellings: [lexical] };
  const spellings = [lexical, real, path.lexical, path.real].filter((spelling) => spelling !== undefined);
  return { path: { ...path, spellings }, isLoose: isRelative };
}
