import {
  handlers as kinds,
  type ObjectContext,
  type ObjectSharedContext,
  object,
  TimeoutError,
  type VirtualObjectDefinition,
} from "@restatedev/restate-sdk";
import { FOR_EVER } from "./retry.js";
import type { FeedPage } from "./wire.js";

/** How many items there have ever been, and the newest of them. One value: the two never disagree. */
interface Shown {
  n: number;
  items: string[];
}
type State = { shown: Shown; waiters: string[]; watched: number };
type Ctx = ObjectContext<State>;

export interface FeedHandlers {
  /** Says whether anybody looks. */
  publish(ctx: Ctx, items: string[]): Promise<boolean>;
  wait(ctx: Ctx, waiter: { id: string; after: number }): Promise<void>;
  /** Where the feed stands, for who is going to look. */
  watch(ctx: Ctx): Promise<number>;
  pull(ctx: ObjectSharedContext<State>, after: number): Promise<FeedPage>;
}

/** How much of the newest is kept for readers that are a little late; who is later reads the log. In characters. */
const KEPT_LENGTH = 200_000;
const KEPT = 400;
const LONGEST_WAIT_MS = 3000;
const MOST_WAITERS = 200;
/** How long a reader counts as one after it was heard of. */
const WATCHED_MS = 60_000;
const NOTHING: Shown = { n: 0, items: [] };

/** What a session shows as it comes, for any number of readers anywhere. Nothing depends on it: the log has the records. */
export function feedOf(service: string): VirtualObjectDefinition<string, FeedHandlers> {
  const name = `${service}.feed`;
  const feed = object({
    name,
    handlers: {
      async publish(ctx: Ctx, fresh: string[]) {
        const { n, items } = (await ctx.get("shown")) ?? NOTHING;
        const shown = { n: n + fresh.length, items: newest([...items, ...fresh]) };
        ctx.set("shown", shown);
        for (const waiter of (await ctx.get("waiters")) ?? []) {
          ctx.resolveAwakeable<FeedPage>(waiter, { items: fresh, n: shown.n });
        }
        ctx.clear("waiters");
        return ((await ctx.get("watched")) ?? 0) > (await ctx.date.now());
      },
      async wait(ctx: Ctx, { id, after }: { id: string; after: number }) {
        ctx.set("watched", (await ctx.date.now()) + WATCHED_MS);
        const page = pageOf(await ctx.get("shown"), after);
        if (page) ctx.resolveAwakeable(id, page);
        else ctx.set("waiters", [...((await ctx.get("waiters")) ?? []), id].slice(-MOST_WAITERS));
      },
      async watch(ctx: Ctx) {
        ctx.set("watched", (await ctx.date.now()) + WATCHED_MS);
        return (await ctx.get("shown"))?.n ?? 0;
      },
      pull: kinds.object.shared(async (ctx: ObjectSharedContext<State>, after: number): Promise<FeedPage> => {
        const page = pageOf(await ctx.get("shown"), after);
        if (page) return page;
        const { id, promise } = ctx.awakeable<FeedPage>();
        ctx.objectSendClient<FeedHandlers>({ name }, ctx.key).wait({ id, after });
        try {
          return await promise.orTimeout(LONGEST_WAIT_MS);
        } catch (error) {
          if (error instanceof TimeoutError) return { items: [], n: after };
          throw error;
        }
      }),
    },
    options: { retryPolicy: FOR_EVER },
  });
  return feed as unknown as VirtualObjectDefinition<string, FeedHandlers>;
}

function newest(items: string[]): string[] {
  let first = items.length;
  for (let length = 0; first > 0 && items.length - first < KEPT; first--) {
    length += items[first - 1]?.length ?? 0;
    if (length > KEPT_LENGTH) break;
  }
  return items.slice(first);
}

function pageOf(shown: Shown | null, after: number): FeedPage | undefined {
  const { n, items } = shown ?? NOTHING;
  return n > after ? { items: items.slice(-(n - after)), n } : undefined;
}
