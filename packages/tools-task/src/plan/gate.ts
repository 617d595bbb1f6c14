import type { AccessRequest, CallGate, GatedCall, ToolKind } from "@shedkit/tool";
import { onlyReads } from "./read-only-commands.js";

/** What may be done while a plan is made. */
export interface PlanModeOptions {
  /**
   * The one file that may be written and edited while a plan is made, below the root of the file tools or as an
   * absolute path. Default: none.
   */
  planFile?: string | undefined;
  /**
   * What waits until the plan is agreed to. `files`: calls of tools that edit, write, delete and move files, and
   * sub-agents, which have such tools; shells and foreign tools go on, as leave for them is asked elsewhere. `changes`:
   * every call but those that are known to change nothing. Default: `files`.
   */
  holds?: "changes" | "files" | undefined;
}

const FILE_CHANGES: ReadonlySet<string> = new Set(["edit", "write", "delete", "move"] satisfies ToolKind[]);

/**
 * What these change is the session's own: its list of work, what it remembers, whom it asks, what it started and may
 * end.
 */
const OWN: ReadonlySet<string> = new Set([
  "plan",
  "enterPlan",
  "exitPlan",
  "askUser",
  "skill",
  "memory",
  "searchTool",
  "goalUpdate",
  "monitor",
  "waitTasksAction",
  "backgroundTaskAction",
  "killTaskAction",
] satisfies ToolKind[]);

/** Of tools with several commands those that only look, or end something. */
const LOOKING: { readonly [kind: string]: ReadonlySet<string> } = {
  task: new Set(["check", "result", "pause", "stop"]),
  videoGen: new Set(["check", "cancel"]),
  schedule: new Set(["list"]),
};

/** Refuses what must wait until the plan is agreed to. */
export function planGate(isActive: () => boolean, options: PlanModeOptions): CallGate {
  return (call) => {
    const active = isActive();
    if (call.kind === "exitPlan" && !active) return { deny: "no plan is being made; go on with the work" };
    if (!active || waits(call, options) === undefined) return undefined;
    return { deny: `a plan is being made, and ${waits(call, options)}` };
  };
}

/** Why a call must wait; undefined where it need not. */
function waits(call: GatedCall, { planFile, holds = "files" }: PlanModeOptions): string | undefined {
  const { kind, capabilities, access } = call;
  if (FILE_CHANGES.has(kind)) {
    if (planFile !== undefined && (kind === "edit" || kind === "write") && isOn(planFile, call)) return undefined;
    return `no file${planFile === undefined ? "" : ` but ${planFile}`} is changed until the user has agreed to it`;
  }
  const looks = LOOKING[kind]?.has(String(call.arguments.command)) ?? false;
  if (kind === "task" && !looks) {
    return "no sub-agent is started until the user has agreed to it: it might change something";
  }
  if (holds === "files" || OWN.has(kind)) return undefined;
  if (kind === "execute") {
    if (access.length > 0 && access.every(isReading)) return undefined;
    return "no command is run until the user has agreed to it but those that are known only to read, such as ls, grep or git diff";
  }
  if (capabilities.readOnly || looks) return undefined;
  return "nothing that may change something, as this tool may, is done until the user has agreed to it; read and search on";
}

function isReading({ action, target }: AccessRequest): boolean {
  return action === "read" || (action === "execute" && onlyReads(target));
}

/**
 * Whether a call is on that file alone: by the path that it was given, or by where that is. A patch is not: it may delete
 * the file as well.
 */
function isOn(planFile: string, { access, arguments: args }: GatedCall): boolean {
  const [only, ...others] = access;
  if (only === undefined || others.length > 0 || args.patch !== undefined) return false;
  const wanted = clean(planFile);
  if (clean(only.target) === wanted) return true;
  return typeof args.path === "string" && clean(args.path) === wanted && clean(only.target).endsWith(`/${wanted}`);
}

/** A path without its quotes, `.` and `..`. */
function clean(path: string): string {
  const bare = path.trim().replace(/^(["'])(.*)\1$/s, "$2");
  const parts: string[] = [];
  for (const part of bare.split("/")) {
    if (part === "" || part === ".") continue;
    if (part === ".." && parts.length > 0 && parts.at(-1) !== "..") parts.pop();
    else parts.push(part);
  }
  return `${bare.startsWith("/") ? "/" : ""}${parts.join("/")}`;
}
