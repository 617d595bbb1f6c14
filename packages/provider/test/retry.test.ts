import { AgenticError } from "@shedkit/types";
import { describe, expect, it } from "vitest";
import { delay, retryDelay } from "../src/index.js";

const fault = (options: ConstructorParameters<typeof AgenticError>[3] = { retryable: true }) =>
  new AgenticError("generation", "busy", { kind: "overloaded", provider: "p", model: "m" }, options);

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

describe("delay", () => {
  it("refuses to wait for a signal that has aborted", async () => {
    await expect(delay(3_600_000, AbortSignal.abort())).rejects.toSatisfy((e) => AgenticError.is(e, "cancelled"));
  });
});
