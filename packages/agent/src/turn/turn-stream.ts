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
    return this.#reader((item) => item);
  }

  #reader<U>(map: (item: StreamItem) => U | undefined): AsyncIterator<U, void, void> {
    if (this.#read) {
      throw new AgenticError(
        "session",
        "A turn stream has one reader. Use session.subscribe() to follow a turn from several places.",
        { reason: "stream already read" },
      );
    }
    this.#read = true;
    return this.#channel.read(map);
  }

  /** What happens, for people who show it. Ends with exactly one `failed` or `done`. */
  events(options?: EventOptions): AsyncIterable<TurnEvent> {
    const mapper = new EventMapper(options);
    return { [Symbol.asyncIterator]: () => this.#reader((item) => mapper.map(item)) };
  }

  /** The whole text so far, at every change of it; retractions are applied. */
  text(): AsyncIterable<string> {
    const text = new TextSoFar();
    return { [Symbol.asyncIterator]: () => this.#reader((item) => text.take(item)) };
  }

  /** The finished turn. Never rejects; nobody has to read the stream for it. */
  done(): Promise<Turn> {
    return this.#done;
  }
}

/** The text of a turn as it grows, and shrinks where something is withdrawn. */
export class TextSoFar {
  #settled = ""; // of records
  #running = ""; // of deltas whose record is still to come
  #shown = "";

  /** The whole text where the item changed it. */
  take(item: StreamItem): string | undefined {
    if (item.type === "delta" && item.kind === "text") this.#running += item.text;
    else if (item.type === "record" && (item.record.type === "retracted" || item.record.type === "step")) {
      this.#running = "";
    } else if (item.type === "record") {
      const recorded = textOfRecord(item.record);
      this.#settled += recorded;
      this.#running = this.#running.slice(recorded.length);
    }
    const now = this.#settled + this.#running;
    if (now === this.#shown) return undefined;
    this.#shown = now;
    return now;
  }
}
