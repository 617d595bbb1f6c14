import type { SessionItem, TurnOptions } from "@shedkit/agent";
import type { ApprovalDecision, JsonSchema, SerializedError, SessionRecord, Usage, UserMessage } from "@shedkit/types";

/** What is asked of a turn, as it travels. */
export interface TurnRequest {
  prompt: UserMessage;
  options: Omit<TurnOptions, "signal">;
  output?: JsonSchema | undefined;
  /** Whether the session must be there already. */
  mustExist: boolean;
}

/** The same from whoever has no client of ours: `{ "prompt": "Hello" }` is enough. */
export type AnyTurnRequest = Partial<Omit<TurnRequest, "prompt">> & { prompt: UserMessage | string };

/** What a turn came to. */
export type TurnReply =
  | { type: "complete"; text: string; value?: unknown; usage: Usage }
  | { type: "failed"; text: string; error: SerializedError; usage: Usage }
  /** It did not start. */
  | { type: "refused"; error: SerializedError };

/** What is said to a session while its turn runs. */
export type InboxItem =
  | { type: "steer" | "followUp"; message: UserMessage }
  | { type: "approve"; approvalId: string; decision: ApprovalDecision }
  | { type: "abort"; reason: string };

/** A part of a session's log. */
export interface LogPage {
  records: SessionRecord[];
  /** The place of the last one; what it was asked for where there are none. */
  seq: number;
  more: boolean;
}

/** What a feed carries: what a session shows, or that something is in the log alone: it was too long, or got lost. */
export type FeedItem = SessionItem | typeof LEFT_OUT;

export const LEFT_OUT = { type: "leftOut" } as const;

/** What a reader of a feed gets: the items behind the place it asked from, as JSON, and the place to ask from next. */
export interface FeedPage {
  items: string[];
  n: number;
}
