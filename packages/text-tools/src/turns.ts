import type { TemplateMessage } from "./chat-template.js";

/** For templates that refuse other turns: the user begins, and has turns with the assistant. */
export function alternating(messages: readonly TemplateMessage[]): TemplateMessage[] {
  const out: TemplateMessage[] = [];
  for (const message of messages) {
    const last = out.at(-1);
    if (message.role === "assistant" && last?.role === "assistant" && !last.tool_calls) {
      out[out.length - 1] = together(last, message);
      continue;
    }
    if (message.role !== "user" && message.role !== "system" && (!last || last.role === "system")) out.push(BEGIN);
    // What is said behind a tool's result would be taken for the second of two turns.
    if (message.role === "user" && last?.role === "tool") out.push(SEEN);
    out.push(message);
  }
  return out.some(({ role }) => role === "user") ? out : [...out, BEGIN];
}

const BEGIN: TemplateMessage = { role: "user", content: "Begin." };
const SEEN: TemplateMessage = { role: "assistant", content: "I see." };

function together(first: TemplateMessage, second: TemplateMessage): TemplateMessage {
  const content = [first.content, second.content].filter((text) => text !== "").join("\n\n");
  return { ...first, ...second, content };
}
