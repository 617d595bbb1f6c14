import type { JsonValue } from "@shedkit/types";

/** The events of the wire that matter here, as servers really send them. */
export interface WireEvent {
  type: string;
  output_index?: number;
  content_index?: number;
  summary_index?: number;
  delta?: string;
  annotation?: JsonValue;
  item?: WireItem;
  response?: WireResponse;
}

/** An item of an answer: a message, reasoning, a call, or what the server ran itself. */
export type WireItem = { type: string } & { [key: string]: JsonValue | undefined };

export interface WireResponse {
  status?: string;
  output?: readonly WireItem[];
  usage?: WireUsage | null;
  error?: { code?: string | null; message?: string | null } | null;
  incomplete_details?: { reason?: string | null } | null;
}

export interface WireUsage {
  input_tokens?: number | null;
  output_tokens?: number | null;
  input_tokens_details?: { cached_tokens?: number | null; cache_write_tokens?: number | null } | null;
  output_tokens_details?: { reasoning_tokens?: number | null } | null;
}

/** A whole answer as the events that would have brought it. */
export function* eventsOf(response: WireResponse): Generator<WireEvent, void, void> {
  for (const [output_index, item] of (response.output ?? []).entries()) {
    yield { type: "response.output_item.done", output_index, item };
  }
  yield { type: `response.${response.status ?? "completed"}`, response };
}
