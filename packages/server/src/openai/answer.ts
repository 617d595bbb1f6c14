import type { AnyAgentSession, TurnOptions } from "@shedkit/agent";
import { type AgenticError, noUsage, type Usage, type UserMessage } from "@shedkit/types";

/** What an answer came to. */
export interface Answered {
  text: string;
  usage: Usage;
  /** Why it broke off. */
  error?: AgenticError | undefined;
}

/** Somebody is told of each piece of an answer as it comes. */
export interface Listener {
  text(delta: string): void;
  thinking(delta: string): void;
}

/** Nobody sits behind this endpoint who could be asked. */
const NOBODY = "nobody can be asked for leave through this endpoint; answer without it";

/**
 * Asks, and collects what is said. What is said between tool calls is set apart by an empty line. What was told to a
 * listener cannot be taken back; the text that is returned leaves out what did not count.
 */
export async function answer(
  session: AnyAgentSession,
  prompt: UserMessage,
  options: TurnOptions,
  listener?: Listener,
  started?: (turnId: string) => void,
): Promise<Answered> {
  const turn = session.runTurnStream(prompt, options);
  started?.(turn.turnId);
  let text = "";
  let settled = 0; // where the text since the last tool result begins
  let usage: Usage = noUsage;
  let error: AgenticError | undefined;
  for await (const event of turn.events()) {
    switch (event.type) {
      case "text": {
        const gap = text.length > 0 && text.length === settled && !text.endsWith("\n\n") ? "\n\n" : "";
        text += gap + event.delta;
        listener?.text(gap + event.delta);
        break;
      }
      case "thinking":
        listener?.thinking(event.delta);
        break;
      case "toolResult":
        settled = text.length;
        break;
      case "retract":
        text = text.slice(0, settled);
        break;
      case "approvalRequested":
        await session.approve(event.approvalId, { type: "deny", reason: NOBODY });
        break;
      case "failed":
        ({ error, usage } = event);
        break;
      case "done":
        usage = event.summary.usage;
    }
  }
  return { text, usage, error };
}
