import type { JsonValue, UserMessage } from "@shedkit/types";
import type { SessionState } from "../log/session-state.js";

/** The ids of messages that carry the memory begin so. */
export const MEMORY_ID = "memory:";

/**
 * What the session remembers, as a message for the end of the conversation; undefined where the model has been told. It
 * is appended, so that what stands before it stays as it is for the provider's cache.
 */
export function memoryMessage(state: SessionState): UserMessage | undefined {
  const { working, observation, reflection } = state;
  if (!working && !observation && !reflection && state.memoryTold === "") return undefined;
  const newer = state.observedSince ? observation : undefined;
  const id = `${MEMORY_ID}${working?.id ?? ""}:${reflection?.id ?? ""}:${newer?.id ?? ""}`;
  if (id === state.memoryTold) return undefined;
  const parts = [
    section("Working memory", working?.facts ?? []),
    section("Reflections", reflection?.reflections ?? []),
    section("Observations", newer?.observations ?? []),
  ].filter((part) => part !== "");
  if (parts.length === 0 && state.memoryTold === "") return undefined;
  const text = parts.length === 0 ? "Working memory: empty" : parts.join("\n\n");
  return { type: "user", id, role: "system", content: [{ type: "text", text }] };
}

function section(title: string, entries: readonly JsonValue[]): string {
  return entries.length === 0 ? "" : [`${title}:`, ...entries.map((entry) => `- ${entryText(entry)}`)].join("\n");
}

/** The words of a fact, an observation or a reflection. */
export function entryText(entry: JsonValue): string {
  if (typeof entry === "string") return entry;
  if (typeof entry === "object" && entry !== null && !Array.isArray(entry)) {
    const { fact, content, summary } = entry as { [key: string]: JsonValue | undefined };
    for (const text of [fact, content, summary]) if (typeof text === "string") return text;
  }
  return JSON.stringify(entry);
}
