import type { KnownToolKind, ToolCapabilities, ToolKind } from "@shedkit/tool";

/**
 * What the tools of a set may do. `readOnly` is part of `readWrite` and of `execute`, and both are part of `all`;
 * neither of the two is part of the other.
 */
export type CapabilityMode = "readOnly" | "readWrite" | "execute" | "all";

const WITHIN: { readonly [mode in CapabilityMode]: readonly CapabilityMode[] } = {
  readOnly: ["readOnly"],
  readWrite: ["readOnly", "readWrite"],
  execute: ["readOnly", "execute"],
  all: ["readOnly", "readWrite", "execute", "all"],
};

/** All of them. */
export const MODES = Object.keys(WITHIN) as readonly CapabilityMode[];

/** Whether what `inner` allows is no more than what `outer` allows: a fork may not get more. */
export function isWithin(inner: CapabilityMode, outer: CapabilityMode): boolean {
  return WITHIN[outer].includes(inner);
}

/** The least mode, or modes, that a kind is in. Exhaustive, so that a new kind cannot be forgotten. */
const LEAST: { readonly [kind in KnownToolKind]: CapabilityMode | readonly CapabilityMode[] } = {
  read: "readOnly",
  listDir: "readOnly",
  search: "readOnly",
  lsp: "readOnly",
  webSearch: "readOnly",
  webFetch: "readOnly",
  memorySearch: "readOnly",
  memoryGet: "readOnly",
  askUser: "readOnly",
  plan: "readOnly",
  enterPlan: "readOnly",
  exitPlan: "readOnly",
  skill: "readOnly",
  searchTool: "readOnly",
  goalUpdate: "readOnly",
  edit: "readWrite",
  write: "readWrite",
  delete: "readWrite",
  move: "readWrite",
  imageGen: "readWrite",
  videoGen: "readWrite",
  imageToVideo: "readWrite",
  referenceToVideo: "readWrite",
  deployApp: "readWrite",
  useTool: ["readWrite", "execute"],
  execute: "execute",
  backgroundTaskAction: "execute",
  waitTasksAction: "execute",
  killTaskAction: "execute",
  task: "execute",
  monitor: "execute",
  workflow: "execute",
  other: "all",
};

/**
 * Whether a set of that mode may hold a tool. Its kind decides; where that says nothing (`other`, or one that is not known
 * here), a tool that says it only reads is taken at its word, and any other may be in `all` alone.
 */
export function allows(mode: CapabilityMode, { kind, capabilities }: CapabilityClaims): boolean {
  const least = leastOf(kind) ?? (capabilities?.readOnly ? "readOnly" : "all");
  return [least].flat().some((inner) => isWithin(inner, mode));
}

/** What a tool says of itself, as far as modes go. */
export interface CapabilityClaims {
  readonly kind: ToolKind;
  readonly capabilities?: Pick<ToolCapabilities, "readOnly"> | undefined;
}

function leastOf(kind: ToolKind): CapabilityMode | readonly CapabilityMode[] | undefined {
  return kind !== "other" && Object.hasOwn(LEAST, kind) ? LEAST[kind as KnownToolKind] : undefined;
}
