import { AgenticError } from "@shedkit/types";
import type { Channel } from "./channel.js";
import { EventMapper, type EventOptions, type TurnEvent } from "./events.js";
import type { StreamItem } from "./stream-item.js";
import { type Turn, textOfRecord } from "./turn.js";

/**
 * A running turn. It has started already and has one reader: the raw items, `events()` or `text()`. Leaving the
 * iterator early aborts the turn and waits until its log is in order.
 */
export class TurnStream implements AsyncIterable<StreamItem> {
  readonly turnId: string;
  readonly #channel: Channel<StreamItem>;
  readonly #done: Promise<Turn>;
  #read = false;

  /** @internal */
  constructor(turnId: string, channel: Channel<StreamItem>, done: Promise<Turn>) {
    this.turnId = turnId;
    this.#channel = channel;
    this.#done = done;
  }

  /** The raw items: records, deltas, progress. */
  [Symbol.asyncIterator](): AsyncIterator<StreamItem, void, void> {
    if (this.#read) {
      throw new AgenticError(
        "session",
        "A turn stream has one reader. Use session.subscribe() to follow a turn from several places.",
        { reason: "stream already read" },
      );
    }
    this.#read = true;
    return this.#channel[Symbol.asyncIterator]();
  }

  /** What happens, for people who show it. Ends with exactly one `failed` or `done`. */
  events(options?: EventOptions): AsyncIterable<TurnEvent> {
    return events(this, new EventMapper(options));
  }

  /** The whole text so far, at every change of it; retractions are applied. */
  text(): AsyncIterable<string> {
    return text(this);
  }

  /** The finished turn. Never rejects; nobody has to read the stream for it. */
  done(): Promise<Turn> {
    return this.#done;
  }
}

async function* events(items: AsyncIterable<StreamItem>, mapper: EventMapper): AsyncGenerator<TurnEvent, void, void> {
  for await (const item of items) {
    const event = mapper.map(item);
    if (event) yield event;
  }
}

async function* text(items: AsyncIterable<StreamItem>): AsyncGenerator<string, void, void> {
  let settled = ""; // of records
  let running = ""; // of deltas whose record is still to come
  let shown = "";
  for await (const item of items) {
    if (item.type === "delta" && item.kind === "text") running += item.text;
    else if (item.type === "record" && item.record.type === "retracted") running = "";
    else if (item.type === "record" && item.record.type === "step") running = "";
    else if (item.type === "record") {
      const recorded = textOfRecord(item.record);
      settled += recorded;
      running = running.slice(recorded.length);
    }
    const now = settled + running;
    if (now === shown) continue;
    shown = now;
    yield now;
  }
}
