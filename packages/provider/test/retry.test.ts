import { AgenticError } from "@shedkit/types";
import { describe, expect, it } from "vitest";
import { delay, type ModelEvent, type RetryPolicy, retryDelay, retryStream } from "../src/index.js";

const fault = (options: ConstructorParameters<typeof AgenticError>[3] = { retryable: true }) =>
  new AgenticError("generation", "busy", { kind: "overloaded", provider: "p", model: "m" }, options);

const start: ModelEvent = { type: "start", warnings: [] };
const delta: ModelEvent = { type: "textDelta", block: 0, text: "x" };
const finish: ModelEvent = { type: "finish", reason: "stop" };
const failure = (error = fault()): ModelEvent => ({ type: "failure", error });
const policy: RetryPolicy = { initialDelayMs: 0 };

async function play(tries: ModelEvent[][], options = policy, signal?: AbortSignal) {
  const left = [...tries];
  const events: ModelEvent[] = [];
  async function* attempt() {
    yield* left.shift() ?? [];
  }
  for await (const event of retryStream(attempt, options, signal)) events.push(event);
  return { events, used: tries.length - left.length };
}

describe("retryDelay", () => {
  it("doubles, within its limit, less a part at random", () => {
    const still = { random: () => 0 };
    expect([1, 2].map((attempt) => retryDelay(fault(), attempt, still))).toEqual([500, 1000]);
    expect(retryDelay(fault(), 9, { ...still, maxRetries: 9 })).toBe(8000);
    expect(retryDelay(fault(), 1, { random: () => 1 })).toBe(375);
  });

  it("ends after maxRetries, and never begins for what cannot succeed", () => {
    expect(retryDelay(fault(), 3)).toBeUndefined();
    expect(retryDelay(fault({ retryable: false }), 1)).toBeUndefined();
  });

  it("waits as long as the provider asks, unless that is too long", () => {
    expect(retryDelay(fault({ retryable: true, retryAfterMs: 12_000 }), 1)).toBe(12_000);
    expect(retryDelay(fault({ retryable: true, retryAfterMs: 90_000 }), 1)).toBeUndefined();
  });
});

describe("retryStream", () => {
  it("repeats a request that fails before its first delta, and says `start` once", async () => {
    const { events, used } = await play([[failure()], [start, failure()], [start, delta, finish]]);
    expect(events).toEqual([start, delta, finish]);
    expect(used).toBe(3);
  });

  it("never repeats a stream that has begun", async () => {
    const broken = failure();
    const { events, used } = await play([
      [start, delta, broken],
      [start, delta, finish],
    ]);
    expect(events).toEqual([start, delta, broken]);
    expect(used).toBe(1);
  });

  it("hands on the last failure when the tries are used up, with its usage", async () => {
    const usage: ModelEvent = {
      type: "usage",
      usage: { input: 5, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0, total: 5 },
    };
    const last = failure();
    const { events } = await play([[failure()], [start, usage, last]], { ...policy, maxRetries: 1 });
    expect(events).toEqual([start, usage, last]);
  });

  it("stops waiting when the request is aborted", async () => {
    const controller = new AbortController();
    const playing = play([[failure()], [start, finish]], { initialDelayMs: 3_600_000 }, controller.signal);
    controller.abort();
    const { events, used } = await playing;
    expect(used).toBe(1);
    const [event] = events;
    expect(event?.type === "failure" && event.error.code).toBe("cancelled");
  });
});

describe("delay", () => {
  it("refuses to wait for a signal that has aborted", async () => {
    await expect(delay(3_600_000, AbortSignal.abort())).rejects.toSatisfy((e) => AgenticError.is(e, "cancelled"));
  });
});
