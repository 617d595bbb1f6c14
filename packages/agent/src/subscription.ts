import type { DocumentStore } from "@shedkit/store";
import { AgenticError, type SessionId, type SessionRecord } from "@shedkit/types";
import { Channel } from "./channel.js";
import { EventMapper, type TurnEvent } from "./events.js";
import type { StreamItem } from "./stream-item.js";

/** An event with its place: `after: id` goes on behind it. */
export type SessionEvent = TurnEvent & { id: string; turnId: string };

/** Something a session showed, and the turn it belongs to. */
export interface ShownItem {
  item: StreamItem;
  turnId: string;
}

/** Follows a session over its turns: what the log holds behind `after`, then what happens. */
export class Subscription {
  readonly #channel: Channel<ShownItem>;

  constructor(onLeave: () => void) {
    this.#channel = new Channel(onLeave);
  }

  push(shown: ShownItem): void {
    this.#channel.push(shown);
  }

  close(): void {
    this.#channel.close();
  }

  /**
   * `after` is the id of an event, or the empty string for the beginning; without it, what happens from the running
   * step on. `live` is what that step has shown so far.
   */
  async *events(
    store: DocumentStore,
    sessionId: SessionId,
    after: string | undefined,
    live: readonly ShownItem[],
    lastRecordId: string,
  ): AsyncGenerator<SessionEvent, void, void> {
    const mapper = new EventMapper();
    const place = placeOf(after ?? lastRecordId);
    const cursor = { recordId: place.recordId, count: 0 };
    let skip = place.count; // what the listener has seen of deltas that were not in the log then
    const emit = function* ({ item, turnId }: ShownItem): Generator<SessionEvent, void, void> {
      if (item.type === "record") {
        cursor.recordId = item.record.id;
        cursor.count = 0;
      }
      let event = mapper.map(item);
      if (!event) return;
      if (event.type === "text" || event.type === "thinking") {
        const seen = Math.min(skip, event.delta.length);
        skip -= seen;
        cursor.count += item.type === "delta" ? event.delta.length : 0;
        if (seen === event.delta.length) return;
        if (seen > 0) event = { ...event, delta: event.delta.slice(seen) };
      }
      yield { ...event, id: cursor.count === 0 ? cursor.recordId : `${cursor.recordId}~${cursor.count}`, turnId };
    };
    try {
      if (place.recordId !== lastRecordId) {
        let turnId = "";
        let passed = place.recordId === "";
        for await (const { record } of store.read(sessionId)) {
          turnId = turnOf(record) ?? turnId;
          if (passed) yield* emit({ item: { type: "record", record }, turnId });
          passed ||= record.id === place.recordId;
          if (record.id === lastRecordId) break;
        }
        if (!passed) throw unknownEvent(sessionId, after);
      }
      for (const shown of live) yield* emit(shown);
      for await (const shown of this.#channel) yield* emit(shown);
    } finally {
      this.#channel.close();
    }
  }
}

function unknownEvent(sessionId: SessionId, after: string | undefined): AgenticError {
  return new AgenticError(
    "session",
    `The session ${sessionId} has no event "${after}". Pass the id of an event it gave, or "" for the beginning.`,
    { reason: "unknown event" },
  );
}

function placeOf(id: string): { recordId: string; count: number } {
  const [recordId = "", count = "0"] = id.split("~");
  return { recordId, count: Number(count) };
}

function turnOf(record: SessionRecord): string | undefined {
  if (record.type === "conversation") return record.message.type === "user" ? undefined : record.message.turnId;
  return "turnId" in record ? record.turnId : undefined;
}
