import type { JsonValue } from "@shedkit/types";

/** The events of the wire, as servers really send them: any field may be missing. */
export type WireEvent =
  | { type: "message_start"; message?: { usage?: WireUsage | null } | null }
  | { type: "content_block_start"; index: number; content_block: WireBlock }
  | { type: "content_block_delta"; index: number; delta: WireDelta }
  | { type: "content_block_stop"; index: number }
  | {
      type: "message_delta";
      delta?: { stop_reason?: string | null; stop_details?: WireStop | null } | null;
      usage?: WireUsage | null;
    }
  | { type: "message_stop" };

/** A block of an answer. */
export type WireBlock = { type: string } & { [key: string]: JsonValue | undefined };

/** A piece of a block. */
export type WireDelta = { type: string } & { [key: string]: JsonValue | undefined };

export interface WireUsage {
  input_tokens?: number | null;
  output_tokens?: number | null;
  cache_creation_input_tokens?: number | null;
  cache_read_input_tokens?: number | null;
  output_tokens_details?: { thinking_tokens?: number | null } | null;
}

interface WireStop {
  explanation?: string | null;
}

/** A whole answer, where a server does not stream. */
export interface WireMessage {
  content?: readonly WireBlock[] | null;
  stop_reason?: string | null;
  stop_details?: WireStop | null;
  usage?: WireUsage | null;
}

/** A whole answer as the events that would have brought it. */
export function* eventsOf(message: WireMessage): Generator<WireEvent, void, void> {
  yield { type: "message_start", message: { usage: message.usage ?? null } };
  for (const [index, content_block] of (message.content ?? []).entries()) {
    yield { type: "content_block_start", index, content_block };
    yield { type: "content_block_stop", index };
  }
  const { stop_reason = null, stop_details = null } = message;
  yield { type: "message_delta", delta: { stop_reason, stop_details }, usage: message.usage ?? null };
  yield { type: "message_stop" };
}
