import { ToolError, type ToolErrorKind } from "@shedkit/tool";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { backoffMs, defaultRetry, systemClock } from "../src/calls/retry.js";
import { call, collect, manager, tool } from "./parts.js";

function failing(kind: ToolErrorKind, times: number, options: { idempotent?: boolean; retryAfterMs?: number } = {}) {
  let runs = 0;
  const { idempotent = true, retryAfterMs } = options;
  return tool("flaky", {
    idempotent,
    run: () => {
      runs++;
      if (runs <= times) throw new ToolError(kind, "flaky", `failure ${runs}`, { retryAfterMs });
      return `run ${runs}`;
    },
  });
}

function clock() {
  const waits: number[] = [];
  return { waits, sleep: async (ms: number) => void waits.push(ms), random: () => 0.5 };
}

describe("a failed call", () => {
  test("is tried three more times, waiting 1, 2 and 4 seconds", async () => {
    const time = clock();
    const session = manager([failing("network", 3)], { clock: time });
    const [outcome] = await collect(session.runCalls([call("1", "flaky")]));
    expect(outcome).toMatchObject({ promptText: "run 4", attempts: 4 });
    expect(time.waits).toEqual([1000, 2000, 4000]);
  });

  test("is given up after that, with the last error", async () => {
    const session = manager([failing("timeout", 9)], { clock: clock() });
    await expect(session.executeWithRetry(call("1", "flaky"))).rejects.toThrow("failure 4");
  });

  test.each<[string, ToolErrorKind, boolean]>([
    ["a kind that will not pass", "execution", true],
    ["a tool that is not idempotent", "network", false],
  ])("is not tried again: %s", async (_, kind, idempotent) => {
    const time = clock();
    const session = manager([failing(kind, 1, { idempotent })], { clock: time });
    await expect(session.executeWithRetry(call("1", "flaky"))).rejects.toThrow("failure 1");
    expect(time.waits).toEqual([]);
  });

  test("is tried again by the settings of its tool", async () => {
    const time = clock();
    const session = manager([failing("execution", 2, { idempotent: false })], { clock: time });
    session.setRetryConfig("flaky", { anyTool: true, retryOn: ["execution"], initialBackoffMs: 10 });
    session.setRetryConfig("flaky", { backoffMultiplier: 10, maxBackoffMs: 50 });
    expect(session.retryConfig("flaky")).toMatchObject({ maxRetries: 3, initialBackoffMs: 10, maxBackoffMs: 50 });
    expect(session.retryConfig("other")).toEqual(defaultRetry);
    expect((await session.executeWithRetry(call("1", "flaky"))).text).toBe("run 3");
    expect(time.waits).toEqual([10, 50]);
  });

  test.each<[string, object]>([
    ["maxRetries", { maxRetries: Number.NaN }],
    ["maxRetries", { maxRetries: -1 }],
    ["initialBackoffMs", { initialBackoffMs: "1" }],
    ["backoffMultiplier", { backoffMultiplier: 0 }],
    ["maxBackoffMs", { maxBackoffMs: Number.POSITIVE_INFINITY }],
    ["retryOn", { retryOn: "timeout" }],
    ["anyTool", { anyTool: "no" }],
  ])("has settings that can be: %s %o", (field, settings) => {
    const session = manager([failing("network", 1)]);
    expect(() => session.setRetryConfig("flaky", settings)).toThrow(`The retries of flaky: ${field}: wanted`);
    expect(session.retryConfig("flaky")).toEqual(defaultRetry);
  });

  test("ends, also where settings are given as undefined", async () => {
    const session = manager([failing("network", 9)], { clock: clock() });
    session.setRetryConfig("flaky", { maxRetries: undefined } as object);
    await expect(session.executeWithRetry(call("1", "flaky"))).rejects.toThrow("failure 4");
  });

  test("waits as long as the other side asked", async () => {
    const time = clock();
    const session = manager([failing("network", 1, { retryAfterMs: 7000 })], { clock: time });
    await session.executeWithRetry(call("1", "flaky"));
    expect(time.waits).toEqual([7000]);
  });

  test("runs once by executeOne", async () => {
    await expect(manager([failing("network", 1)]).executeOne(call("1", "flaky"))).rejects.toThrow("failure 1");
  });

  test("an abort while it waits ends it as cancelled", async () => {
    const abort = new AbortController();
    const session = manager([failing("network", 1)], {
      clock: { ...clock(), sleep: async () => abort.abort() },
    });
    const [outcome] = await collect(session.runCalls([call("1", "flaky")], { signal: abort.signal }));
    expect(outcome).toMatchObject({ error: { kind: "cancelled" }, attempts: 1 });
  });

  test("`before` is asked before every attempt, with its number", async () => {
    const attempts: number[] = [];
    const session = manager([failing("network", 2)], { clock: clock() });
    await collect(session.runCalls([call("1", "flaky")], { before: (_, attempt) => void attempts.push(attempt) }));
    expect(attempts).toEqual([1, 2, 3]);
  });
});

describe("waiting", () => {
  test("grows by the factor, never past the maximum, and strays by a quarter at most", () => {
    const error = new ToolError("network", "t", "m");
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 3 }),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        (attempts, random) => {
          const planned = 1000 * 2 ** (attempts - 1);
          const wait = backoffMs(error, attempts, defaultRetry, () => random);
          expect(wait).toBeGreaterThanOrEqual(planned * 0.75);
          expect(wait).toBeLessThanOrEqual(planned * 1.25);
        },
      ),
    );
    expect(backoffMs(error, 9, { ...defaultRetry, maxRetries: 20 }, () => 0.999)).toBe(30_000);
    expect(backoffMs(error, 4, defaultRetry, () => 0)).toBeUndefined();
  });

  test("the machine's clock wakes at an abort and leaves no listener behind", async () => {
    const abort = new AbortController();
    const slept = systemClock.sleep(1_000_000, abort.signal);
    abort.abort();
    await slept;
    await systemClock.sleep(1_000_000, abort.signal);
    await systemClock.sleep(0);
  });
});
