import type { Ingress } from "@restatedev/restate-sdk-clients";
import type { SessionItem } from "@shedkit/agent";
import type { FeedHandlers } from "./feed.js";

/** How long items wait that nobody looks at. */
const UNWATCHED_MS = 1000;
/** How many items may wait to be sent; beyond, the older are left out: readers have the log. */
const MOST_WAITING = 2000;

/** Sends what sessions show to their feeds: what comes while one message is under way goes with the next. */
export class Publisher {
  readonly #ingress: Ingress;
  readonly #feed: { name: string };
  readonly #waiting = new Map<string, SessionItem[]>();

  constructor(ingress: Ingress, feed: { name: string }) {
    this.#ingress = ingress;
    this.#feed = feed;
  }

  push(sessionId: string, item: SessionItem): void {
    const waiting = this.#waiting.get(sessionId);
    if (!waiting) {
      this.#waiting.set(sessionId, [item]);
      void this.#send(sessionId);
      return;
    }
    const last = waiting.at(-1);
    const joined = last && join(last, item);
    if (joined) waiting[waiting.length - 1] = joined;
    else waiting.push(item);
    if (waiting.length > MOST_WAITING) waiting.shift();
  }

  async #send(sessionId: string): Promise<void> {
    await Promise.resolve(); // what is shown at the same time goes together
    for (let items = this.#take(sessionId); items.length > 0; items = this.#take(sessionId)) {
      try {
        const watched = await this.#ingress.objectClient<FeedHandlers>(this.#feed, sessionId).publish(items);
        if (!watched) await new Promise((resolve) => setTimeout(resolve, UNWATCHED_MS).unref());
      } catch {
        // Whoever reads finds the records in the log.
      }
    }
    this.#waiting.delete(sessionId);
  }

  #take(sessionId: string): SessionItem[] {
    return this.#waiting.get(sessionId)?.splice(0) ?? [];
  }
}

/** Two pieces of one block as one. */
function join(a: SessionItem, b: SessionItem): SessionItem | undefined {
  if (a.type !== "delta" || b.type !== "delta") return undefined;
  const same = a.stepId === b.stepId && a.block === b.block && a.kind === b.kind && a.toolCallId === b.toolCallId;
  return same ? { ...b, text: a.text + b.text } : undefined;
}
