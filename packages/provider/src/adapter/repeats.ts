import { functionSpec, type Message, type ToolDeclarations, type ToolResultMessage, toolName } from "@shedkit/types";
import { activationAnchors } from "./anchors.js";

/**
 * The transcript without what a request declares anyway: a search tells the schema of what it found, in a line of its own, and
 * the declaration that it leads to says the same again. From the first request on, so that what is cached stays.
 */
export function withoutRepeats(transcript: readonly Message[], declarations: ToolDeclarations): readonly Message[] {
  const anchors = activationAnchors(declarations, transcript);
  const told = new Map<string, Set<string>>();
  for (const tool of declarations.tools) {
    const id = anchors.get(toolName(tool));
    if (id === undefined) continue;
    const lines = told.get(id);
    const line = JSON.stringify(functionSpec(tool).parameters);
    if (lines) lines.add(line);
    else told.set(id, new Set([line]));
  }
  if (told.size === 0) return transcript;
  return transcript.map((message) => {
    const lines = message.type === "toolResult" ? told.get(message.toolCallId) : undefined;
    return message.type !== "toolResult" || lines === undefined ? message : shortened(message, lines);
  });
}

function shortened(message: ToolResultMessage, lines: ReadonlySet<string>): ToolResultMessage {
  const content = message.content.map((part) => {
    if (part.type !== "text") return part;
    const kept = part.text.split("\n").filter((line) => !lines.has(line));
    return { ...part, text: kept.join("\n") };
  });
  return { ...message, content };
}
