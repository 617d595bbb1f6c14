import { type Tool, toolName } from "@shedkit/types";
import type { ToolImpl } from "./impl.js";
import type { CapabilityHints, ToolCapabilities, ToolKind, ToolMetadata } from "./metadata.js";

/** How long a call may take where the tool does not say, in milliseconds. */
const TIMEOUT_MS = 120_000;

const READ_ONLY: ReadonlySet<string> = new Set([
  "read",
  "listDir",
  "search",
  "lsp",
  "webSearch",
  "webFetch",
  "askUser",
  "plan",
  "enterPlan",
  "exitPlan",
  "memorySearch",
  "memoryGet",
] satisfies ToolKind[]);

const DESTRUCTIVE: ReadonlySet<string> = new Set(["delete", "execute", "other"] satisfies ToolKind[]);

/** What a tool of that kind may do, with what it says itself laid over it. Unknown kinds are taken to write. */
export function capabilitiesFor(kind: ToolKind, own: CapabilityHints = {}): ToolCapabilities {
  const readOnly = own.readOnly ?? READ_ONLY.has(kind);
  return {
    readOnly,
    idempotent: own.idempotent ?? readOnly,
    destructive: own.destructive ?? (!readOnly && DESTRUCTIVE.has(kind)),
    scope: own.scope ?? (readOnly ? "read" : "write"),
    maxConcurrency: own.maxConcurrency,
    timeoutMs: own.timeoutMs ?? TIMEOUT_MS,
    maxResultBytes: own.maxResultBytes,
    touches: own.touches ?? (() => []),
  };
}

/** The metadata of any tool: its own, or what is assumed of one that gives none (kind `other`, namespace `user`). */
export function metadataOf(tool: ToolImpl, definition?: Tool): ToolMetadata {
  if (tool.metadata !== undefined) return tool.metadata;
  const known = assumed.get(tool);
  if (known !== undefined) return known;
  const id = toolName(definition ?? tool.definition());
  const made: ToolMetadata = { id, namespace: "user", kind: "other", capabilities: capabilitiesFor("other") };
  assumed.set(tool, made);
  return made;
}

/** It is asked for at every call. */
const assumed = new WeakMap<ToolImpl, ToolMetadata>();

/** `namespace:id`, which no two tools of a set share. */
export function fullId(metadata: Pick<ToolMetadata, "namespace" | "id">): string {
  return `${metadata.namespace}:${metadata.id}`;
}
