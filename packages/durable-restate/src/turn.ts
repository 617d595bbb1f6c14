import type { Answer, EventOptions, SessionItem, StreamItem, TurnEvent } from "@shedkit/agent";
import { EventMapper, mapped, TextSoFar } from "@shedkit/agent/internals";
import type { SessionRecord } from "@shedkit/types";

/** A turn that runs somewhere. It has one reader: the raw items, `events()` or `text()`. */
export class DurableTurn implements AsyncIterable<StreamItem> {
  readonly #items: AsyncGenerator<StreamItem, void, void>;
  readonly #answer: Promise<Answer>;

  /** @internal `shown`: what the session shows from before the turn on. */
  constructor(promptId: string, shown: AsyncIterable<SessionItem>, answer: Promise<Answer<unknown>>) {
    this.#items = itemsOf(promptId, shown);
    this.#answer = answer as Promise<Answer>;
  }

  /** The raw items: records, deltas, progress. Every record of the turn, each once. */
  [Symbol.asyncIterator](): AsyncIterator<StreamItem, void, void> {
    return this.#items;
  }

  /** What happens, for people who show it. Ends with exactly one `failed` or `done`. */
  events(options?: EventOptions): AsyncIterable<TurnEvent> {
    const mapper = new EventMapper(options);
    return mapped(this, (item) => mapper.map(item));
  }

  /** The whole text so far, at every change of it; retractions are applied. */
  text(): AsyncIterable<string> {
    const text = new TextSoFar();
    return mapped(this, (item) => text.take(item));
  }

  /** What the turn came to. Rejects where it did not start. */
  done(): Promise<Answer> {
    return this.#answer;
  }
}

/** Those of the turn that the message begins. */
async function* itemsOf(promptId: string, shown: AsyncIterable<SessionItem>): AsyncGenerator<StreamItem, void, void> {
  let begun = false;
  for await (const { id: _, turnId: __, ...rest } of shown) {
    const item = rest as StreamItem;
    if (item.type === "record") begun ||= brings(item.record, promptId);
    if (begun) yield item;
    if (begun && item.type === "record" && ends(item.record)) return;
  }
}

function brings(record: SessionRecord, messageId: string): boolean {
  return (record.type === "conversation" || record.type === "queued") && record.message.id === messageId;
}

function ends({ type }: SessionRecord): boolean {
  return type === "summary" || type === "failedAction";
}
