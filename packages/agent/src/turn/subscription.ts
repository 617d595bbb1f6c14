import type { DocumentStore } from "@shedkit/store";
import { AgenticError, type SessionId, type SessionRecord } from "@shedkit/types";
import { Channel, mapped } from "./channel.js";
import { EventMapper, type TurnEvent } from "./events.js";
import type { StreamItem } from "./stream-item.js";

/** An event with its place: `after: id` goes on behind it. */
export type SessionEvent = TurnEvent & { id: string; turnId: string };

/** A raw item with its place: `after: id` goes on behind it. */
export type SessionItem = StreamItem & { id: string; turnId: string };

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
    const numbering = new EventNumbering(start.after ?? start.lastRecordId);
    return mapped(this.#shown(start, numbering.place), (item) => numbering.event(item));
  }

  items(start: SubscriptionStart): AsyncIterable<SessionItem> {
    const numbering = new ItemNumbering(start.after ?? start.lastRecordId);
    return mapped(this.#shown(start, numbering.place), (item) => numbering.item(item));
  }

  #shown(start: SubscriptionStart, place: Place): AsyncIterable<ShownItem> {
    const past = replay(start, place)[Symbol.asyncIterator]();
    const now = this.#channel[Symbol.asyncIterator]();
    let caughtUp = false;
    return {
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

/** A record, and how much of the running step was shown up to here. */
interface Place {
  recordId: string;
  count: number;
}

/** Where a reader is, and what of the running step it has seen already. */
abstract class Numbering {
  readonly place: Place;
  readonly #at: Place;
  #skip: number;

  constructor(after: string) {
    this.place = placeOf(after);
    this.#at = { recordId: this.place.recordId, count: 0 };
    this.#skip = this.place.count;
  }

  protected get id(): string {
    const { recordId, count } = this.#at;
    return count === 0 ? recordId : `${recordId}~${count}`;
  }

  /** Another record; the one of a step ends what the step has shown. */
  protected record(record: SessionRecord): void {
    this.#at.recordId = record.id;
    if (record.type !== "step") return;
    this.#at.count = 0;
    this.#skip = 0;
  }

  protected shown(text: string): void {
    this.#at.count += text.length;
  }

  /** What of a text the reader has not seen. */
  protected unseen(text: string): string {
    const seen = Math.min(this.#skip, text.length);
    this.#skip -= seen;
    return text.slice(seen);
  }
}

/** Gives events their ids, and leaves out what a reader has seen already. */
class EventNumbering extends Numbering {
  readonly #mapper = new EventMapper();

  event({ item, turnId }: ShownItem): SessionEvent | undefined {
    if (item.type === "record") this.record(item.record);
    let event = this.#mapper.map(item);
    if (!event) return undefined;
    if (event.type === "text" || event.type === "thinking") {
      const delta = this.unseen(event.delta);
      if (item.type === "delta") this.shown(event.delta);
      if (delta === "") return undefined;
      event = { ...event, delta };
    }
    return { ...event, id: this.id, turnId };
  }
}

/** The same for raw items: a record is always whole, and deltas are counted whatever they are of. */
class ItemNumbering extends Numbering {
  item({ item, turnId }: ShownItem): SessionItem | undefined {
    if (item.type === "record") this.record(item.record);
    if (item.type !== "delta") return { ...item, id: this.id, turnId };
    const text = this.unseen(item.text);
    this.shown(item.text);
    return text === "" ? undefined : { ...item, text, id: this.id, turnId };
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

/** The turn that a record is of, where it says so. */
export function turnOf(record: SessionRecord): string | undefined {
  if (record.type === "conversation") return record.message.type === "user" ? undefined : record.message.turnId;
  return "turnId" in record ? record.turnId : undefined;
}
