import type { Ingress } from "@restatedev/restate-sdk-clients";
import type { SessionItem } from "@shedkit/agent";
import type { FeedHandlers } from "./feed.js";
import { type FeedItem, LEFT_OUT } from "./wire.js";

/** How long items wait that nobody looks at. */
const UNWATCHED_MS = 1000;
/** In characters: longer ones are read from the log. */
const LONGEST_ITEM = 20_000;
const MOST_AT_ONCE = 100_000;
/** In characters: beyond, what waits is left out, and read from the log. */
const MOST_WAITING = 1_000_000;

interface Waiting {
  items: FeedItem[];
  length: number;
}

/** Sends what sessions show to their feeds: what comes while one message is under way goes with the next. */
export class Publisher {
  readonly #ingress: Ingress;
  readonly #feed: { name: string };
  readonly #waiting = new Map<string, Waiting>();

  constructor(ingress: Ingress, feed: { name: string }) {
    this.#ingress = ingress;
    this.#feed = feed;
  }

  push(sessionId: string, shown: SessionItem): void {
    const found = this.#waiting.get(sessionId);
    const waiting = found ?? { items: [], length: 0 };
    const length = JSON.stringify(shown).length;
    const item = length > LONGEST_ITEM ? LEFT_OUT : shown;
    const last = waiting.items.at(-1);
    const joined = last && join(last, item);
    if (waiting.length + length > MOST_WAITING) {
      waiting.items = [LEFT_OUT];
      waiting.length = 0;
    } else {
      if (joined) waiting.items[waiting.items.length - 1] = joined;
      else waiting.items.push(item);
      if (item !== LEFT_OUT) waiting.length += length;
    }
    if (found) return;
    this.#waiting.set(sessionId, waiting);
    void this.#send(sessionId, waiting);
  }

  async #send(sessionId: string, waiting: Waiting): Promise<void> {
    await Promise.resolve(); // what is shown at the same time goes together
    let lost = false;
    for (let items = take(waiting); items.length > 0; items = take(waiting)) {
      if (lost) items.unshift(JSON.stringify(LEFT_OUT));
      try {
        const watched = await this.#ingress.objectClient<FeedHandlers>(this.#feed, sessionId).publish(items);
        lost = false;
        if (!watched) await new Promise((resolve) => setTimeout(resolve, UNWATCHED_MS).unref());
      } catch {
        lost = true; // whoever reads finds the records in the log
      }
    }
    this.#waiting.delete(sessionId);
  }
}

/** What may go with one message. */
function take(waiting: Waiting): string[] {
  const texts: string[] = [];
  let count = 0;
  for (let length = 0; count < waiting.items.length && length < MOST_AT_ONCE; count++) {
    const text = JSON.stringify(waiting.items[count]);
    length += text.length;
    texts.push(text);
  }
  waiting.items.splice(0, count);
  waiting.length = waiting.items.length === 0 ? 0 : Math.max(0, waiting.length - texts.join("").length);
  return texts;
}

/** Two pieces of one block as one. */
function join(a: FeedItem, b: FeedItem): FeedItem | undefined {
  if (a === LEFT_OUT && b === LEFT_OUT) return LEFT_OUT;
  if (a.type !== "delta" || b.type !== "delta" || a.text.length > LONGEST_ITEM) return undefined;
  const same = a.stepId === b.stepId && a.block === b.block && a.kind === b.kind && a.toolCallId === b.toolCallId;
  return same ? { ...b, text: a.text + b.text } : undefined;
}
