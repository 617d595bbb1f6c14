import { MemoryStorage } from "@shedkit/store";
import { callTool } from "@shedkit/tool";
import { describe, expect, it } from "vitest";
import { type Clock, type ScheduledPrompt, Schedules, type SchedulesOptions, scheduleTool } from "../src/index.js";

const START = Date.parse("2030-01-01T00:00:00Z"); // a Tuesday

/** A clock that the test winds. */
class TestClock implements Clock {
  time = START;
  readonly #timers = new Map<number, { at: number; callback: () => void }>();
  #count = 0;

  now(): number {
    return this.time;
  }

  after(ms: number, callback: () => void): () => void {
    const id = ++this.#count;
    this.#timers.set(id, { at: this.time + ms, callback });
    return () => this.#timers.delete(id);
  }

  get waiting(): number {
    return this.#timers.size;
  }

  /** Goes on to each timer in turn, and lets what it calls come to rest. */
  async wind(until: string): Promise<void> {
    const end = Date.parse(until);
    while (true) {
      const [first] = [...this.#timers].sort(([, a], [, b]) => a.at - b.at);
      if (!first || first[1].at > end) break;
      this.#timers.delete(first[0]);
      this.time = Math.max(this.time, first[1].at);
      first[1].callback();
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.time = end;
  }
}

function schedules(options: Partial<SchedulesOptions> = {}, clock = new TestClock()) {
  const told: string[] = [];
  const due = ({ prompt }: ScheduledPrompt, { late }: { late: boolean }) => {
    told.push(`${new Date(clock.time).toISOString()} ${prompt}${late ? " (late)" : ""}`);
  };
  const made = new Schedules({ due, clock, timezone: "UTC", ...options });
  const tool = scheduleTool(made);
  const said = async (args: object) => (await callTool(tool, args)).text;
  return { schedules: made, said, told, clock };
}

describe("schedule", () => {
  it("tells what is due by cron expression, every so often, and once", async () => {
    const { schedules: made, said, told, clock } = schedules();
    await made.start();
    expect(await said({ command: "create", prompt: "Stand up", cron: "30 9 * * 1-5" })).toBe(
      "schedule-1 is scheduled (cron 30 9 * * 1-5 (UTC)). It is 2030-01-01T00:00:00.000Z now; due next: 2030-01-01T09:30:00.000Z.",
    );
    await said({ command: "create", prompt: "Look", every: "8h" });
    await said({ command: "create", prompt: "Call", at: "2030-01-01T10:00" });
    await clock.wind("2030-01-02T09:59:00Z");
    expect(told).toEqual([
      "2030-01-01T08:00:00.000Z Look",
      "2030-01-01T09:30:00.000Z Stand up",
      "2030-01-01T10:00:00.000Z Call",
      "2030-01-01T16:00:00.000Z Look",
      "2030-01-02T00:00:00.000Z Look",
      "2030-01-02T08:00:00.000Z Look",
      "2030-01-02T09:30:00.000Z Stand up",
    ]);
    expect(await said({ command: "list" })).toBe(
      "schedule-1: cron 30 9 * * 1-5 (UTC), next 2030-01-03T09:30:00.000Z\n  Stand up\n" +
        "schedule-2: every 8h, next 2030-01-02T16:00:00.000Z\n  Look",
    );
    expect(await said({ command: "delete", id: "schedule-1" })).toBe("schedule-1 is not scheduled any more.");
    made.stop();
    expect(clock.waiting).toBe(0);
  });

  it("is kept over a restart; what was due meanwhile is told once, late", async () => {
    const store = new MemoryStorage();
    const first = schedules({ store });
    await first.schedules.start();
    await first.said({ command: "create", prompt: "Look", every: "1h" });
    await first.said({ command: "create", prompt: "Once", at: "2030-01-01T00:30:00Z" });
    first.schedules.stop();
    const clock = new TestClock();
    clock.time = Date.parse("2030-01-01T05:20:00Z");
    const second = schedules({ store }, clock);
    await second.schedules.start();
    expect(second.told).toEqual(["2030-01-01T05:20:00.000Z Look (late)", "2030-01-01T05:20:00.000Z Once (late)"]);
    expect(await second.said({ command: "list" })).toBe("schedule-1: every 1h, next 2030-01-01T06:00:00.000Z\n  Look");
    second.schedules.stop();
    const third = schedules({ store }, clock);
    await third.schedules.start();
    expect(third.told).toEqual([]); // it was written down before it was told
    expect(await third.said({ command: "create", prompt: "New", every: "1h" })).toContain("schedule-3");
    third.schedules.stop();
  });

  it("understands time zones", async () => {
    const { said } = schedules();
    const berlin = { timezone: "Europe/Berlin" };
    expect(await said({ command: "create", prompt: "a", cron: "0 9 * * *", ...berlin })).toContain(
      "next: 2030-01-01T08:00",
    );
    expect(await said({ command: "create", prompt: "b", at: "2030-07-01T09:00:00", ...berlin })).toContain(
      "2030-07-01T07:00",
    );
    expect(await said({ command: "create", prompt: "c", at: "2030-07-01T09:00:00+05:30" })).toContain(
      "2030-07-01T03:30",
    );
  });

  it.each([
    [{}, "Give one of cron, every and at; 0 were given."],
    [{ every: "1h", cron: "* * * * *" }, "2 were given"],
    [{ cron: "every morning" }, "no cron expression of five fields"],
    [{ cron: "* * * * * *" }, "no cron expression of five fields"],
    [{ cron: "0 0 30 2 *" }, "in the past, or never"],
    [
      { cron: "0 9 * * *", timezone: "Nowhere/Land" },
      '"Nowhere/Land" is no time zone. Write it as Europe/Berlin or UTC.',
    ],
    [{ cron: "every morning", timezone: "Nowhere/Land" }, "no time zone"],
    [
      { at: "2031-05-17T09:30:00", timezone: "Nope/Zone" },
      '"Nope/Zone" is no time zone. Write it as Europe/Berlin or UTC.',
    ],
    [{ at: "tomorrow", timezone: "Nope/Zone" }, '"tomorrow" is no time.'],
    [{ at: "2025-01-01" }, '"2025-01-01" is in the past: it is 2030-01-01T00:00:00.000Z now.'],
    [{ at: "2025-02-30" }, "is no time"],
    [{ at: "2031-05-17" }, '"2031-05-17" is no time. Write it as 2031-05-17T09:30:00'],
    [{ every: "5" }, "Write it as 90s, 15m, 2h or 1d"],
    [{ every: "59s" }, "too often"],
    [{ every: "999999d" }, "too long"],
    [{ at: "tomorrow" }, "is no time"],
    [{ at: "2030-13-41T00:00:00Z" }, "is no time"],
    [{ at: "2031-02-30T09:00:00Z" }, "is no time"],
    [{ at: "2031-02-30T09:00:00" }, "is no time"],
    [{ at: "2029-12-31T23:00:00Z" }, "in the past"],
  ])("refuses %j, and says why", async (when, why) => {
    const { said, schedules: made } = schedules();
    expect(await said({ command: "create", prompt: "x", ...when })).toContain(why);
    expect(await made.list()).toEqual([]);
  });

  it("shows what could not be told, and goes on", async () => {
    const clock = new TestClock();
    const { schedules: made, said } = schedules({ due: () => Promise.reject(new Error("no session")) }, clock);
    await made.start();
    await said({ command: "create", prompt: "x", every: "1h" });
    await clock.wind("2030-01-01T01:00:00Z");
    await expect.poll(() => said({ command: "list" }), { timeout: 30_000 }).toContain("could not be done: no session");
    made.stop();
  });

  it("has its limits, and names what there is", async () => {
    const { said, schedules: made } = schedules();
    expect(await said({ command: "list" })).toBe("Nothing is scheduled.");
    expect(await said({ command: "delete", id: "x" })).toContain("Nothing is scheduled.");
    await Promise.all(Array.from({ length: 50 }, () => said({ command: "create", prompt: "x", every: "1h" })));
    expect(new Set((await made.list()).map(({ id }) => id)).size).toBe(50);
    expect(await said({ command: "create", prompt: "x", every: "1h" })).toContain("50 schedules already");
    expect(await said({ command: "delete", id: "x" })).toContain("schedule-50");
    expect(await said({ command: "create", prompt: " ", every: "1h" })).toBe("prompt is empty.");
  });

  it("looks for its store again where that failed", async () => {
    let broken = true;
    const kept = new MemoryStorage();
    const store = {
      get: async (key: string) => {
        if (broken) throw new Error("the disk is away");
        return kept.get(key);
      },
      set: (key: string, value: never) => kept.set(key, value),
    };
    const { schedules: made } = schedules({ store });
    await expect(made.start()).rejects.toThrow("the disk is away");
    broken = false;
    await made.start();
    made.stop();
  });

  it("waits longer each time where its store fails, and tells what was due once it works", async () => {
    const kept = new MemoryStorage();
    let broken = false;
    let tries = 0;
    const store = {
      get: (key: string) => kept.get(key),
      set: async (key: string, value: never) => {
        if (!broken) return kept.set(key, value);
        tries++;
        throw new Error("the disk is full");
      },
    };
    const { schedules: made, said, told, clock } = schedules({ store });
    await made.start();
    await said({ command: "create", prompt: "x", every: "10m" });
    broken = true;
    await clock.wind("2030-01-01T01:00:00Z");
    expect(tries).toBeGreaterThan(5);
    expect(tries).toBeLessThan(70);
    expect(told).toEqual([]);
    broken = false;
    await clock.wind("2030-01-01T01:05:00Z");
    expect(told).toHaveLength(1);
    expect(told[0]).toMatch(/^2030-01-01T01:0\S+ x \(late\)$/);
    made.stop();
  });

  it.each([
    ["what is none", "x"],
    ["a list of anything", { count: -1, entries: [null, 1, {}, { id: "a", prompt: "b", next: 1 }] }],
    [
      "times that are none",
      { count: 2, entries: [{ id: "schedule-1", prompt: "a", next: "x", when: { type: "at", at: 1 } }] },
    ],
    [
      "periods of nothing",
      { count: 2, entries: [{ id: "schedule-1", prompt: "a", next: 1, when: { type: "every", ms: 0 } }] },
    ],
  ])("leaves out of its store %s", async (_, value) => {
    const store = new MemoryStorage();
    await store.set("schedules", value as never);
    const { schedules: made, said, told, clock } = schedules({ store });
    await made.start();
    expect(await said({ command: "list" })).toBe("Nothing is scheduled.");
    expect(clock.waiting).toBe(0);
    expect(await said({ command: "create", prompt: "x", every: "1h" })).toMatch(/^schedule-[13] is scheduled/);
    expect(told).toEqual([]);
    made.stop();
  });

  it("tells once what has a time zone that nobody knows here, and goes on with the others", async () => {
    const store = new MemoryStorage();
    const when = { type: "cron", cron: "0 9 * * *", timezone: "Nowhere/Land" };
    const every = { type: "every", ms: 3_600_000 };
    const entries = [
      { id: "schedule-7", prompt: "a", next: START, when },
      { id: "schedule-8", prompt: "b", next: START, when: every },
    ];
    await store.set("schedules", { count: 1, entries } as never);
    const { schedules: made, said, told, clock } = schedules({ store });
    await made.start();
    await clock.wind("2030-01-01T01:30:00Z");
    expect(told.map((text) => text.slice(-1))).toEqual(["a", "b", "b"]);
    expect(await said({ command: "create", prompt: "c", every: "1h" })).toContain("schedule-9 ");
    made.stop();
  });

  it("tells of one after the other, also where something is scheduled meanwhile", async () => {
    const clock = new TestClock();
    const running: string[] = [];
    let most = 0;
    const ends: (() => void)[] = [];
    const due = async ({ prompt }: ScheduledPrompt) => {
      running.push(prompt);
      most = Math.max(most, running.length);
      await new Promise<void>((resolve) => ends.push(resolve));
      running.pop();
    };
    const { schedules: made, said } = schedules({ due }, clock);
    await made.start();
    await said({ command: "create", prompt: "a", every: "1m" });
    await clock.wind("2030-01-01T00:01:00Z");
    await expect.poll(() => ends.length, { timeout: 30_000 }).toBe(1);
    await said({ command: "create", prompt: "b", every: "1m" });
    await clock.wind("2030-01-01T00:05:00Z");
    ends[0]?.();
    await expect.poll(() => ends.length, { timeout: 30_000 }).toBe(2);
    expect(most).toBe(1);
    made.stop();
    ends[1]?.();
  });

  it("takes no period and no time that never comes, from a program either", async () => {
    const { schedules: made } = schedules();
    for (const ms of [0, Number.NaN, -5, 1]) {
      await expect(made.create("x", { type: "every", ms })).rejects.toThrow(/too often/);
    }
    for (const at of [Number.NaN, Number.POSITIVE_INFINITY]) {
      await expect(made.create("x", { type: "at", at })).rejects.toThrow(/never/);
    }
    expect(await made.list()).toEqual([]);
  });

  it("on the machine's own clock", async () => {
    const told = new Promise<string>((resolve) => {
      const due = ({ prompt }: ScheduledPrompt) => resolve(prompt);
      const made = new Schedules({ due });
      void made.start().then(() => made.create("soon", { type: "at", at: Date.now() + 20 }));
    });
    expect(await told).toBe("soon");
  });
});
