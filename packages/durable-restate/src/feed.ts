import {
  handlers as kinds,
  type ObjectContext,
  type ObjectSharedContext,
  object,
  TimeoutError,
  type VirtualObjectDefinition,
} from "@restatedev/restate-sdk";
import type { SessionItem } from "@shedkit/agent";

/** What a reader gets: the items behind the place it asked from, and the place to ask from next. */
interface FeedPage {
  items: SessionItem[];
  n: number;
}

type State = { n: number; items: SessionItem[]; waiters: string[]; watched: number };
type Ctx = ObjectContext<State>;

export interface FeedHandlers {
  /** Says whether anybody looks. */
  publish(ctx: Ctx, items: SessionItem[]): Promise<boolean>;
  wait(ctx: Ctx, waiter: { id: string; after: number }): Promise<void>;
  /** Where the feed stands, for who is going to look. */
  watch(ctx: Ctx): Promise<number>;
  pull(ctx: ObjectSharedContext<State>, after: number): Promise<FeedPage>;
}

/** How many of the newest items are kept for readers that are a little late; who is later reads the log. */
const KEPT = 400;
const LONGEST_WAIT_MS = 3000;
const MOST_WAITERS = 200;
/** How long a reader counts as one after it was heard of. */
const WATCHED_MS = 60_000;

/** What a session shows as it comes, for any number of readers anywhere. Nothing depends on it: the log has the records. */
export function feedOf(service: string): VirtualObjectDefinition<string, FeedHandlers> {
  const name = `${service}.feed`;
  const feed = object({
    name,
    handlers: {
      async publish(ctx: Ctx, fresh: SessionItem[]) {
        const n = ((await ctx.get("n")) ?? 0) + fresh.length;
        ctx.set("n", n);
        ctx.set("items", [...((await ctx.get("items")) ?? []), ...fresh].slice(-KEPT));
        for (const waiter of (await ctx.get("waiters")) ?? [])
          ctx.resolveAwakeable<FeedPage>(waiter, { items: fresh, n });
        ctx.clear("waiters");
        return ((await ctx.get("watched")) ?? 0) > Date.now();
      },
      async wait(ctx: Ctx, { id, after }: { id: string; after: number }) {
        ctx.set("watched", (await ctx.date.now()) + WATCHED_MS);
        const page = pageOf((await ctx.get("n")) ?? 0, (await ctx.get("items")) ?? [], after);
        if (page) ctx.resolveAwakeable(id, page);
        else ctx.set("waiters", [...((await ctx.get("waiters")) ?? []), id].slice(-MOST_WAITERS));
      },
      async watch(ctx: Ctx) {
        ctx.set("watched", (await ctx.date.now()) + WATCHED_MS);
        return (await ctx.get("n")) ?? 0;
      },
      pull: kinds.object.shared(async (ctx: ObjectSharedContext<State>, after: number): Promise<FeedPage> => {
        const page = pageOf((await ctx.get("n")) ?? 0, (await ctx.get("items")) ?? [], after);
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
  });
  return feed as unknown as VirtualObjectDefinition<string, FeedHandlers>;
}

function pageOf(n: number, items: SessionItem[], after: number): FeedPage | undefined {
  return n > after ? { items: items.slice(-(n - after)), n } : undefined;
}
