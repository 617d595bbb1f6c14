import type { Block } from "./content.js";
import type { WireMessage } from "./messages.js";

const MARK = { type: "ephemeral" };

/**
 * Marks what is to be cached: the tools with the system prompt, the conversation as it stands, and the conversation as
 * it stood at the request before, so that this one finds it however much came since. Four marks are the most that the
 * API takes; these are three.
 */
export function markCache(system: Block[], tools: Block[], messages: WireMessage[]): void {
  const lastSystem = system.at(-1);
  const lastOpenTool = tools.findLast((tool) => tool.defer_loading !== true);
  if (lastSystem !== undefined) lastSystem.cache_control = MARK;
  else if (lastOpenTool !== undefined) lastOpenTool.cache_control = MARK;
  let marked = 0;
  for (let i = messages.length - 1; i >= 0 && marked < 2; i--) {
    const message = messages[i];
    // A request ends where the assistant is to speak: behind the user's message, or the system's that follows it.
    if (message === undefined || message.role === "assistant" || isUsers(messages[i + 1])) continue;
    const at = message.content.length - 1;
    const block = message.content[at];
    if (block === undefined) continue;
    message.content[at] = { ...block, cache_control: MARK };
    marked++;
  }
}

function isUsers(message: WireMessage | undefined): boolean {
  return message !== undefined && message.role !== "assistant";
}
