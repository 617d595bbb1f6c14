import type { ToolArguments } from "@shedkit/types";
import type { KnownToolKind, ToolKind, ToolMetadata } from "./metadata.js";

/** Exhaustive, so that a new kind cannot be forgotten. */
const LABELS: { readonly [kind in KnownToolKind]: string } = {
  read: "Read",
  edit: "Edit",
  write: "Write",
  delete: "Delete",
  move: "Move",
  listDir: "List files",
  search: "Search",
  lsp: "Code intelligence",
  execute: "Run command",
  webSearch: "Web search",
  webFetch: "Web fetch",
  backgroundTaskAction: "Background task",
  waitTasksAction: "Wait for tasks",
  killTaskAction: "Stop task",
  task: "Sub-agent",
  imageGen: "Make image",
  videoGen: "Make video",
  imageToVideo: "Image to video",
  referenceToVideo: "Reference to video",
  deployApp: "Deploy app",
  askUser: "Ask user",
  plan: "Plan",
  enterPlan: "Enter plan",
  exitPlan: "Exit plan",
  memorySearch: "Search memory",
  memoryGet: "Read memory",
  skill: "Skill",
  searchTool: "Find tools",
  useTool: "Use tool",
  workflow: "Workflow",
  goalUpdate: "Update goal",
  monitor: "Monitor",
  other: "Tool",
};

/** What a person reads of a kind, in a few words. A kind that is not named here has that of `other`. */
export function kindLabel(kind: ToolKind): string {
  return Object.hasOwn(LABELS, kind) ? LABELS[kind as KnownToolKind] : LABELS.other;
}

/** What a host shows and logs of a call: the same for tools of any maker, and small. */
export interface CallInfo {
  /** Of this shape. */
  version: 1;
  /** The client's name of the tool. */
  name: string;
  kind: ToolKind;
  namespace: string;
  label: string;
  readOnly: boolean;
  /** Those of the arguments that say what the call is about, by canonical name; absent where there are none. */
  input?: CallInput | undefined;
}

/** Never what is written, sent or replaced: texts longer than 300 characters are cut. */
export interface CallInput {
  path?: string | undefined;
  offset?: number | undefined;
  limit?: number | undefined;
  command?: string | undefined;
  description?: string | undefined;
  directory?: string | undefined;
  pattern?: string | undefined;
  query?: string | undefined;
  url?: string | undefined;
}

const FIELDS: { readonly [field in keyof Required<CallInput>]: "string" | "number" } = {
  path: "string",
  offset: "number",
  limit: "number",
  command: "string",
  description: "string",
  directory: "string",
  pattern: "string",
  query: "string",
  url: "string",
};
const MAX_CHARACTERS = 300;

/** What to show of a call. `args` are those the tool runs with; undefined where they do not fit. */
export function callInfo(
  name: string,
  { kind, namespace, capabilities }: Pick<ToolMetadata, "kind" | "namespace" | "capabilities">,
  args?: ToolArguments | undefined,
): CallInfo {
  const said = Object.entries(FIELDS).flatMap(([field, type]): [string, string | number][] => {
    const value: unknown = args !== undefined && Object.hasOwn(args, field) ? args[field] : undefined;
    if (type === "number" && typeof value === "number") return [[field, value]];
    return type === "string" && typeof value === "string" ? [[field, shortened(value)]] : [];
  });
  const input: CallInput | undefined = said.length === 0 ? undefined : Object.fromEntries(said);
  const info = { version: 1 as const, name, kind, namespace, label: kindLabel(kind), readOnly: capabilities.readOnly };
  return input === undefined ? info : { ...info, input };
}

/** Never ends within a surrogate pair. */
function shortened(text: string): string {
  if (text.length <= MAX_CHARACTERS) return text;
  return `${text.slice(0, MAX_CHARACTERS - 3).replace(/[\uD800-\uDBFF]$/, "")}...`;
}
