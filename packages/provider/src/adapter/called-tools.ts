import type { Message, Tool } from "@shedkit/types";

/**
 * Declarations of the tools that a transcript calls, in the order of their first calls: for servers that take no calls
 * in a conversation without them. They are not to be called.
 */
export function calledTools(transcript: readonly Message[]): Tool[] {
  const names = transcript.flatMap((message) =>
    message.type === "assistant" && message.output.type === "toolCall" ? [message.output.name] : [],
  );
  return [...new Set(names)].map((name) => ({
    type: "single",
    definition: {
      name,
      category: "",
      description: "Not available any more.",
      arguments: { type: "object", properties: {} },
    },
  }));
}

const WANTED =
  /\btools\b[^.]*\b(must|required|expected|missing|define|passed)\b|\b(must|expects?|requires?|define)\b[^.]*\btools\b|toolConfig/i;

/** Whether a server says, with 400 or 422, that calls in a conversation need declared tools, where there are none. */
export function wantsTools(error: unknown, body: object): boolean {
  const { status, message } = error as { status?: unknown; message?: unknown };
  if (typeof message !== "string" || !(status === 400 || status === 422)) return false;
  return !("tools" in body) && WANTED.test(message) && /"tool_calls":|"type":"tool_use"/.test(JSON.stringify(body));
}
