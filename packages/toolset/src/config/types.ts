import type { ToolKind } from "@shedkit/tool";
import { AgenticError, type JsonValue } from "@shedkit/types";
import type { CapabilityMode } from "./capability.js";

/** One tool of a set, and how this client wants it. */
export interface ToolConfig {
  /** `namespace:id`, or the id alone where only one tool has it. */
  id: string;
  /** Settings, laid over the tool's defaults key by key. */
  params?: { [key: string]: JsonValue } | undefined;
  /** The name the model calls it by. Default: the id. */
  nameOverride?: string | undefined;
  /** What the model calls its parameters: canonical name to client name. */
  paramsNameOverrides?: { [canonical: string]: string } | undefined;
  /** Replaces the description; a template too. */
  descriptionOverride?: string | undefined;
  behaviorVersion?: string | undefined;
  /** What the tool counts as, for capability modes and templates. Default: what it says itself. */
  kind?: ToolKind | undefined;
}

/** Which tools a set has, and what they may do. */
export interface ToolSetConfig {
  /** The tools, in the order in which they are listed. Empty: all that are registered, as they are. */
  tools: readonly ToolConfig[];
  /** Names the behaviour versions that tools have where their entry does not say. Default: `current`. */
  behaviorPreset?: string | undefined;
  /** Tools that may do more are left out. Default: `all`. */
  capability?: CapabilityMode | undefined;
}

/** What is wrong with a configuration. */
export interface ToolSetProblem {
  /** The id in question; `(global)` where it is none. */
  tool: string;
  message: string;
  /** Where in the entry: `params.limits.0`. */
  fieldPath?: string | undefined;
  expected?: string | undefined;
  badValue?: JsonValue | undefined;
  /** `tool_not_found`, `params_type`, `duplicate_client_name`, `requirements` ... */
  category: string;
}

/** What works, but should be known. */
export interface ToolSetWarning {
  tool: string;
  message: string;
  category: "deprecated_version" | "pruned" | "shadowed" | "template" | "state" | "schema" | "embedder";
}

/** A configuration that cannot be used. `problems` holds all of the phase that failed. */
export class ToolSetError extends AgenticError<"toolShed"> {
  override readonly name = "ToolSetError";
  readonly problems: readonly ToolSetProblem[];

  constructor(problems: readonly ToolSetProblem[]) {
    const lines = problems.map((problem) => `- ${problem.tool}: ${problem.message}`);
    super("toolShed", `The tools cannot be used as configured:\n${lines.join("\n")}`, {
      problems: problems.map((problem) => ({ ...problem })),
    });
    this.problems = problems;
  }
}
