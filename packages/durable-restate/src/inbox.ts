import { type ObjectContext, object, type VirtualObjectDefinition } from "@restatedev/restate-sdk";
import { FOR_EVER } from "./retry.js";
import type { InboxItem } from "./wire.js";

/** The turn that listens. */
interface Listener {
  turnId: string;
  /** The awakeable that the next items go to; absent between two of them. */
  waiter?: string | undefined;
  /** What went to the newest awakeable, until the turn says that it has it. */
  sent: InboxItem[];
}

interface InboxState {
  items: InboxItem[];
  listener: Listener;
}

type Ctx = ObjectContext<{ items: InboxState["items"]; listener: Listener }>;

export interface InboxHandlers {
  open(ctx: Ctx, listener: { turnId: string; waiter: string }): Promise<InboxItem[]>;
  listen(ctx: Ctx, listener: { turnId: string; waiter: string }): Promise<void>;
  close(ctx: Ctx, listener: { turnId: string; left: InboxItem[] }): Promise<void>;
  put(ctx: Ctx, item: InboxItem): Promise<boolean>;
}

/**
 * What is said to a session from anywhere. It is an object of its own, since the session's is taken while a turn runs:
 * what comes goes to the running turn through an awakeable, in order and once, or waits for the next turn.
 */
export function inboxOf(service: string): VirtualObjectDefinition<string, InboxHandlers> {
  const handlers: InboxHandlers = {
    async open(ctx, { turnId, waiter }) {
      const items = (await ctx.get("items")) ?? [];
      ctx.clear("items");
      ctx.set("listener", { turnId, waiter, sent: [] });
      return items;
    },
    async listen(ctx, { turnId, waiter }) {
      const items = (await ctx.get("items")) ?? [];
      ctx.clear("items");
      if (items.length > 0) ctx.resolveAwakeable(waiter, items);
      ctx.set("listener", items.length > 0 ? { turnId, sent: items } : { turnId, waiter, sent: [] });
    },
    async close(ctx, { turnId, left: before }) {
      const listener = await ctx.get("listener");
      if (listener?.turnId !== turnId) return;
      ctx.clear("listener");
      const items = (await ctx.get("items")) ?? [];
      // Leave and aborts are of the turn that is over.
      const left = [...before, ...listener.sent, ...items].filter(
        ({ type }) => type === "steer" || type === "followUp",
      );
      if (left.length > 0) ctx.set("items", left);
      else ctx.clear("items");
    },
    async put(ctx, item) {
      const listener = await ctx.get("listener");
      const ofTurn = item.type === "abort" || item.type === "approve";
      if (!listener && ofTurn) return false;
      if (listener?.waiter !== undefined) {
        ctx.resolveAwakeable(listener.waiter, [item]);
        ctx.set("listener", { turnId: listener.turnId, sent: [item] });
      } else ctx.set("items", [...((await ctx.get("items")) ?? []), item]);
      return listener !== null;
    },
  };
  return object({ name: `${service}.inbox`, handlers, options: { retryPolicy: FOR_EVER } });
}
