import { AgenticError, Messages, newId, newSessionId, type SessionId, type SessionRecord } from "@shedkit/types";
import { describe, expect, it } from "vitest";
import { documentStoreCases } from "../src/conformance/index.js";
import { MemoryDocumentStore } from "../src/index.js";

const record = (text: string, at = 1): SessionRecord => ({
  id: newId(),
  v: 1,
  at,
  type: "conversation",
  message: Messages.user(text),
});

describe("MemoryDocumentStore", () => {
  it("hands out the records it was given, not copies", async () => {
    const store = new MemoryDocumentStore();
    const lease = await store.acquire(newSessionId());
    const given = record("one");
    await store.append(lease, [given]);
    for await (const stored of store.read(lease.session)) expect(stored.record).toBe(given);
  });

  it("serves those who wait in the order in which they came", async () => {
    const store = new MemoryDocumentStore();
    const session = newSessionId();
    const first = await store.acquire(session);
    const order: number[] = [];
    const waiting = [1, 2, 3].map(async (n) => {
      const lease = await store.acquire(session, { waitMs: 60_000 });
      order.push(n);
      await lease.release();
    });
    await first.release();
    await Promise.all(waiting);
    expect(order).toEqual([1, 2, 3]);
  });

  it("leaves no listener on the signal of those who waited", async () => {
    const store = new MemoryDocumentStore();
    const session = newSessionId();
    const { signal } = new AbortController();
    let listeners = 0;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (...args: Parameters<typeof add>) => {
      listeners++;
      add(...args);
    };
    signal.removeEventListener = (...args: Parameters<typeof remove>) => {
      listeners--;
      remove(...args);
    };
    const first = await store.acquire(session);
    const second = store.acquire(session, { waitMs: 60_000, signal });
    expect(listeners).toBe(1);
    await first.release();
    await (await second).release();
    expect(listeners).toBe(0);
  });

  it("refuses those who wait when it closes", async () => {
    const store = new MemoryDocumentStore();
    const session = newSessionId();
    await store.acquire(session);
    const waiting = store.acquire(session, { waitMs: 60_000 });
    await store.close();
    await expect(waiting).rejects.toSatisfy((error) => AgenticError.is(error, "store"));
  });

  it("refuses a cursor it did not give", async () => {
    const store = new MemoryDocumentStore();
    await expect(store.sessions({ cursor: "nonsense" })).rejects.toThrow(/not a cursor/);
  });

  it("cuts a long first line for the title, and no character in half", async () => {
    const store = new MemoryDocumentStore();
    const lease = await store.acquire("s" as SessionId);
    await store.append(lease, [record("😀".repeat(60))]);
    const title = (await store.sessions()).items[0]?.title ?? "";
    expect(title.length).toBeLessThanOrEqual(80);
    expect(encodeURIComponent(title)).toContain("..."); // throws on half a character
    expect(title.endsWith("...")).toBe(true);
  });
});

describe("the conformance kit", () => {
  it("notices a store that loses records", async () => {
    class Forgetful extends MemoryDocumentStore {
      override async append(...[lease, records]: Parameters<MemoryDocumentStore["append"]>): Promise<number> {
        return super.append(lease, records.slice(1));
      }
    }
    const outcomes = await Promise.allSettled(documentStoreCases.map(({ run }) => run(new Forgetful())));
    expect(outcomes.filter((outcome) => outcome.status === "rejected").length).toBeGreaterThan(5);
  });

  it("notices a store that lets two write", async () => {
    class Lax extends MemoryDocumentStore {
      override async acquire(session: SessionId) {
        return { session, fence: 1, release: async () => {} };
      }
    }
    const busy = documentStoreCases.find(({ name }) => name.startsWith("a second writer"));
    await expect(busy?.run(new Lax())).rejects.toThrow(/sessionBusy/);
  });
});
