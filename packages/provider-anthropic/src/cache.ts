import type { Block } from "./content.js";
import type { WireMessage } from "./messages.js";

const MARK = { type: "ephemeral" };

/**
 * Marks what is to be cached: the tools with the system prompt, the conversation as it stands, and the conversation as
 * it stood at the request before, so that this one finds it however much came since. Four marks are the most.
 */
export function markCache(system: Block[], tools: Block[], messages: WireMessage[]): void {
  const lastSystem = system.at(-1);
  const lastOpenTool = tools.findLast((tool) => tool.defer_loading !== true);
  if (lastSystem !== undefined) lastSystem.cache_control = MARK;
  else if (lastOpenTool !== undefined) lastOpenTool.cache_control = MARK;
  let marked = 0;
  for (const message of messages.toReversed()) {
    if (message.role === "assistant") continue;
    const at = message.content.length - 1;
    const block = message.content[at];
    if (block === undefined) continue;
    message.content[at] = { ...block, cache_control: MARK };
    if (message.role === "user" && ++marked === 2) return;
  }
}
