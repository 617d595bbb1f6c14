import type { DocumentStore } from "@shedkit/store";
import { AgenticError, type SessionId, type SessionRecord } from "@shedkit/types";
import { Channel, mapped } from "./channel.js";
import { EventMapper, type TurnEvent } from "./events.js";
import type { StreamItem } from "./stream-item.js";

/** An event with its place: `after: id` goes on behind it. */
export type SessionEvent = TurnEvent & { id: string; turnId: string };

/** Something a session showed, and the turn it belongs to. */
export interface ShownItem {
  item: StreamItem;
  turnId: string;
}

/** Where a reader starts, and what there was then. */
export interface SubscriptionStart {
  store: DocumentStore;
  sessionId: SessionId;
  /** The id of an event, or the empty string for the beginning; absent: from the running step on. */
  after: string | undefined;
  /** What the running step has shown so far. */
  live: readonly ShownItem[];
  lastRecordId: string;
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

  events(start: SubscriptionStart): AsyncIterable<SessionEvent> {
    const numbering = new Numbering(start.after ?? start.lastRecordId);
    const past = replay(start, numbering.place)[Symbol.asyncIterator]();
    const now = this.#channel[Symbol.asyncIterator]();
    let caughtUp = false;
    const shown: AsyncIterable<ShownItem> = {
      [Symbol.asyncIterator]: () => ({
        next: async () => {
          if (!caughtUp) {
            const next = await past.next();
            if (!next.done) return next;
            caughtUp = true;
          }
          return now.next();
        },
        return: async () => {
          past.return?.()?.catch(() => undefined); // it may be in the middle of a read: that is not waited for
          await now.return?.();
          return { done: true, value: undefined };
        },
      }),
    };
    return mapped(shown, (item) => numbering.event(item));
  }
}

/** What the log holds behind a place, then what the running step has shown. */
async function* replay(start: SubscriptionStart, place: Place): AsyncGenerator<ShownItem, void, void> {
  const { store, sessionId, lastRecordId } = start;
  if (place.recordId !== lastRecordId) {
    let turnId = "";
    let passed = place.recordId === "";
    for await (const { record } of store.read(sessionId)) {
      turnId = turnOf(record) ?? turnId;
      if (passed) yield { item: { type: "record", record }, turnId };
      passed ||= record.id === place.recordId;
      if (record.id === lastRecordId) break;
    }
    if (!passed) throw unknownEvent(sessionId, start.after);
  }
  yield* start.live;
}

/** A record, and how much text was shown behind it that no record held then. */
interface Place {
  recordId: string;
  count: number;
}

/** Gives events their ids, and leaves out what a reader has seen already. */
class Numbering {
  readonly place: Place;
  readonly #mapper = new EventMapper();
  readonly #at: Place;
  #skip: number;

  constructor(after: string) {
    this.place = placeOf(after);
    this.#at = { recordId: this.place.recordId, count: 0 };
    this.#skip = this.place.count;
  }

  event({ item, turnId }: ShownItem): SessionEvent | undefined {
    if (item.type === "record") {
      this.#at.recordId = item.record.id;
      this.#at.count = 0;
    }
    let event = this.#mapper.map(item);
    if (!event) return undefined;
    if (event.type === "text" || event.type === "thinking") {
      const seen = Math.min(this.#skip, event.delta.length);
      this.#skip -= seen;
      if (item.type === "delta") this.#at.count += event.delta.length;
      if (seen === event.delta.length) return undefined;
      if (seen > 0) event = { ...event, delta: event.delta.slice(seen) };
    }
    const { recordId, count } = this.#at;
    return { ...event, id: count === 0 ? recordId : `${recordId}~${count}`, turnId };
  }
}

function unknownEvent(sessionId: SessionId, after: string | undefined): AgenticError {
  return new AgenticError(
    "session",
    `The session ${sessionId} has no event "${after}". Pass the id of an event it gave, or "" for the beginning.`,
    { reason: "unknown event" },
  );
}

function placeOf(id: string): Place {
  const [recordId = "", count = "0"] = id.split("~");
  return { recordId, count: Number(count) };
}

function turnOf(record: SessionRecord): string | undefined {
  if (record.type === "conversation") return record.message.type === "user" ? undefined : record.message.turnId;
  return "turnId" in record ? record.turnId : undefined;
}
