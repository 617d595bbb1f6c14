import { functionSpec, type Message, type ToolDeclarations, type ToolResultMessage, toolName } from "@shedkit/types";
import { activationAnchors } from "./anchors.js";

/**
 * The transcript without what a request declares anyway: a search tells the schema of what it found, in a line of its own, and
 * the declaration that it leads to says the same again, as does every later search that finds it once more. From the first
 * request on, so that what is cached stays.
 */
export function withoutRepeats(transcript: readonly Message[], declarations: ToolDeclarations): readonly Message[] {
  const anchors = activationAnchors(declarations, transcript);
  const told = new Map<string, string[]>();
  for (const tool of declarations.tools) {
    const id = anchors.get(toolName(tool));
    if (id === undefined) continue;
    const lines = told.get(id);
    const line = JSON.stringify(functionSpec(tool).parameters);
    if (lines) lines.push(line);
    else told.set(id, [line]);
  }
  if (told.size === 0) return transcript;
  const searches = new Set(
    declarations.activations.flatMap(({ by }) => (typeof by === "object" ? [by.toolCallId] : [])),
  );
  const names = new Set<string>(); // of the tool that searches: what others give is theirs
  const declared = new Set<string>(); // so far
  return transcript.map((message) => {
    if (message.type !== "toolResult") return message;
    const lines = told.get(message.toolCallId);
    if (searches.has(message.toolCallId)) names.add(message.name);
    for (const line of lines ?? []) declared.add(line);
    return lines !== undefined || names.has(message.name) ? shortened(message, declared) : message;
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
