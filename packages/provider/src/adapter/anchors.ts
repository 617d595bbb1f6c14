import type { Message, ToolDeclarations } from "@shedkit/types";

/**
 * The call whose result reveals each active tool, by the tool's name: the search that found it, or the first call of
 * it while it was inactive. Pinned tools have none, nor have those whose result is no longer in the transcript.
 */
export function activationAnchors(
  { activations }: ToolDeclarations,
  transcript: readonly Message[],
): Map<string, string> {
  const answered = new Set<string>();
  const firstCalls = new Map<string, string>();
  for (const message of transcript) {
    if (message.type !== "toolResult") continue;
    answered.add(message.toolCallId);
    if (!firstCalls.has(message.name)) firstCalls.set(message.name, message.toolCallId);
  }
  const anchors = new Map<string, string>();
  for (const { name, by } of activations) {
    if (by === "pin" || anchors.has(name)) continue;
    const id = by === "call" ? firstCalls.get(name) : by.toolCallId;
    if (id !== undefined && answered.has(id)) anchors.set(name, id);
  }
  return anchors;
}
