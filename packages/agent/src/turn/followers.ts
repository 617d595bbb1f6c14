import type { StreamItem } from "./stream-item.js";
import { type ShownItem, Subscription, type SubscriptionStart } from "./subscription.js";

/** Where a listener goes on, and how long it listens. */
export interface FollowOptions {
  /** The id of an event: what came behind it is told first; `""` is the beginning. Default: the running step. */
  after?: string | undefined;
  signal?: AbortSignal | undefined;
}

/** Those who follow a session over its turns, and what they are shown. */
export class Followers {
  #subscriptions: readonly Subscription[] = [];
  /** What the running step has shown and the log does not hold yet. */
  #live: ShownItem[] = [];
  #closed = false;

  show(item: StreamItem, turnId: string): void {
    if (item.type === "record" && item.record.type === "step") this.#live = [];
    else if (item.type === "delta") this.#live.push({ item, turnId });
    for (const subscription of this.#subscriptions) subscription.push({ item, turnId });
  }

  /** One more, until it leaves, the session ends, or its signal aborts. */
  follow(
    { after, signal }: FollowOptions,
    log: Pick<SubscriptionStart, "store" | "sessionId" | "lastRecordId">,
  ): { subscription: Subscription; start: SubscriptionStart } {
    const close = () => subscription.close();
    const subscription = new Subscription(() => {
      this.#subscriptions = this.#subscriptions.filter((each) => each !== subscription);
      signal?.removeEventListener("abort", close);
    });
    if (this.#closed || signal?.aborted) subscription.close();
    else this.#subscriptions = this.#subscriptions.concat(subscription);
    signal?.addEventListener("abort", close, { once: true });
    return { subscription, start: { ...log, after, live: [...this.#live] } };
  }

  /** No new ones from now on; those who are there hear the rest. */
  refuse(): void {
    this.#closed = true;
  }

  close(): void {
    for (const subscription of this.#subscriptions) subscription.close();
  }
}
