import type { JsonSchema, JsonValue, ToolArguments } from "@shedkit/types";
import type { ToolContext } from "./impl.js";
import type { ToolCallResult } from "./result.js";

/** The kinds that are named. */
export type KnownToolKind =
  | "read"
  | "edit"
  | "write"
  | "delete"
  | "move"
  | "listDir"
  | "search"
  | "lsp"
  | "execute"
  | "webSearch"
  | "webFetch"
  | "backgroundTaskAction"
  | "waitTasksAction"
  | "killTaskAction"
  | "task"
  | "imageGen"
  | "videoGen"
  | "imageToVideo"
  | "referenceToVideo"
  | "deployApp"
  | "askUser"
  | "plan"
  | "enterPlan"
  | "exitPlan"
  | "memorySearch"
  | "memoryGet"
  | "skill"
  | "searchTool"
  | "useTool"
  | "workflow"
  | "goalUpdate"
  | "monitor"
  | "other";

/** What a tool does, coarsely: for templates, permissions, filters and labels. Any other text counts as `other`. */
export type ToolKind = KnownToolKind | (string & {});

/** What running a tool means for the world. */
export interface ToolCapabilities {
  /** Changes nothing: may run beside others. Default: by kind. */
  readOnly: boolean;
  /** Running it twice does what running it once does: may be retried. Default: `readOnly`. */
  idempotent: boolean;
  /** May destroy what cannot be brought back. Default: by kind. */
  destructive: boolean;
  scope: "read" | "write";
  /** How many calls of this tool may run at once. Default: no limit. */
  maxConcurrency?: number | undefined;
  /** How long one call may take. Default: 120,000. */
  timeoutMs: number;
  /** A longer result is cut head and tail, in bytes of UTF-8; the whole is kept under a handle. Default: 40,000. */
  maxResultBytes?: number | undefined;
  /** Names of what a call reads or changes (a path, a host): overlapping writers are run in order. Default: none. */
  touches(args: ToolArguments): readonly string[];
}

/** What a tool says itself of its capabilities; what it leaves out follows from its kind. */
export type CapabilityHints = { readonly [name in keyof ToolCapabilities]?: ToolCapabilities[name] | undefined };

/** What a call will access, as far as the tool can tell from its arguments. */
export type AccessRequest = {
  action: "read" | "write" | "execute" | "network";
  target: string;
  detail?: JsonValue | undefined;
};

/** What a description can be made of. */
export interface DescribeContext {
  /** The client name of the first tool of that kind, or of that kind and `id` (as the tool itself says it). */
  tool(kind: ToolKind, id?: string): string | undefined;
  param(kind: ToolKind, canonical: string): string | undefined;
  readonly params: JsonValue;
  readonly version: string;
}

/** What is known when a tool is asked whether it wants to be listed. */
export interface ListContext {
  readonly turnId?: string | undefined;
  readonly activeTools: readonly string[];
}

/** A way in which a tool behaves; later ones may differ in what the model sees. */
export interface BehaviorVersion {
  version: string;
  lifecycle: "active" | "deprecated" | "removalCandidate";
  replacement?: string | undefined;
}

/** Values that parameters must have. */
export type ParamRequirement = { [key: string]: JsonValue };

/** What must be in the tool set for a tool to be in it. */
export type Requirement =
  | boolean
  | { all: readonly Requirement[] }
  | { any: readonly Requirement[] }
  | { not: Requirement }
  | { tool: string; params?: ParamRequirement | undefined }
  | { kind: ToolKind; params?: ParamRequirement | undefined }
  | { kindHasParam: { kind: ToolKind; param: string } }
  | { ifParams: ParamRequirement; then: Requirement };

/** Text that is appended to results when there is something to say. */
export interface Reminder {
  id: string;
  requires?: Requirement | undefined;
  /** Higher first. Default: 0. */
  priority?: number | undefined;
  /** How many calls must pass before the same key is said again. Default: 0. */
  cooldownCalls?: number | undefined;
  maxBytes?: number | undefined;
  /** After each call: what can be told at once is best given without a promise, which costs less. */
  collect(
    ctx: ToolContext,
    result: ToolCallResult,
  ): Promise<readonly { key: string; text: string }[]> | readonly { key: string; text: string }[];
}

/** A setting that cannot be as it is. */
export interface ParamFault {
  field: string;
  message: string;
}

/** What a tool says of itself. */
export interface ToolMetadata {
  id: string;
  /** The full id is `namespace:id`. */
  namespace: string;
  kind: ToolKind;
  capabilities: ToolCapabilities;
  requires?: Requirement | undefined;
  conflicts?: readonly string[] | undefined;
  /** What `conflicts` are reported of, all at once, e.g. `file-toolset`. Default: of the tool, one by one. */
  bundle?: string | undefined;
  versions?: readonly BehaviorVersion[] | undefined;
  notifications?: readonly string[] | undefined;
  reminders?: readonly Reminder[] | undefined;
  /** The tool's settings: their schema and what they are when nobody sets them. */
  params?:
    | {
        readonly schema: JsonSchema;
        readonly defaults: JsonValue;
        /** The settings stand under the names of the tool's commands: a part of a command's leaves its others. Default: false. */
        readonly byCommand?: boolean | undefined;
        /** What the schema cannot say: which settings do not go together. */
        check?(params: JsonValue): readonly ParamFault[];
      }
    | undefined;
  /** What the tool remembers between calls. */
  state?:
    | {
        readonly schema: JsonSchema;
        /** Of its shape. */
        readonly version: number;
        initial(): JsonValue;
        /** What a memory of another version is in this one; undefined where nothing can be made of it. */
        migrate?: ((old: JsonValue, version: number) => JsonValue | undefined) | undefined;
      }
    | undefined;
  /**
   * The schemas come from elsewhere (a remote server): they are read under limits, and their patterns run on an engine
   * that takes linear time. Default: false.
   */
  foreign?: boolean | undefined;
  /**
   * The schema of the arguments under these settings: what a setting switches off is not offered. Not asked of commands of
   * a tool. Default: the definition's own.
   */
  inputFor?(params: JsonValue): JsonSchema;
  /** Writes the description for the names and settings in force. Default: the definition's own. */
  describe?(ctx: DescribeContext): string;
  /** The same of one of its commands. */
  describeCommand?(command: string, ctx: DescribeContext): string | undefined;
  /** Whether a search may return the tool now. Default: true. */
  shouldList?(ctx: ListContext): boolean;
  access?(args: ToolArguments): readonly AccessRequest[];
  /**
   * Whether a call waits for a person's answer before it runs, whatever the permissions; the tool finds the answer in
   * `userAnswers`. Default: never.
   */
  asks?(args: ToolArguments): boolean;
  /**
   * How long a call that asks waits for the answer in a session, in milliseconds, and then runs as if nothing was said. Default: as
   * long as it takes.
   */
  asksForMs?: number | undefined;
}
