import { Messages, newId, type SessionRecord } from "@shedkit/types";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MemoryLog } from "../src/memory-log.js";

const text = fc.oneof(fc.string({ unit: "binary", maxLength: 30 }), fc.constantFrom("", "t", newId(), newId()));
const number = fc.oneof(fc.nat(), fc.maxSafeNat(), fc.constantFrom(-0, -1, 0.5, 2 ** 53, 127, 128));
const usage = fc.record(
  {
    ...{ input: number, output: number, cacheRead: number, cacheWrite: number, reasoning: number, total: number },
    costUsd: fc.double({ noNaN: true }),
  },
  { requiredKeys: ["input", "output", "cacheRead", "cacheWrite", "reasoning", "total"], noNullPrototype: true },
);
const finish = fc.constantFrom("stop", "length", "toolUse", "refusal", "contentFilter", "pause", "aborted", "later");
const outcome = fc.constantFrom("ok", "error", "cancelled", "skipped", "interrupted", "later");
const callId = fc.constantFrom("c1", "c2", "c3");
const step = { turnId: fc.constantFrom("t", "u"), stepId: fc.constantFrom("s", "r"), model: fc.constantFrom("m", "n") };
const body = fc.oneof(
  fc.record({ type: fc.constant("toolStarted"), toolCallId: fc.oneof(text, callId), attempt: number }),
  fc.record({ type: fc.constant("toolFinished"), toolCallId: callId, attempt: number, outcome }),
  fc.record({ type: fc.constant("step"), ...step, finish, usage }),
  fc.record({ type: fc.constant("dequeued"), messageId: text }),
  fc.record({
    type: fc.constant("conversation"),
    message: fc.oneof(
      fc.record({
        ...{ type: fc.constant("assistant"), id: text, ...step },
        output: fc.record({ type: fc.constant("text"), text }),
      }),
      fc.record({
        ...{ type: fc.constant("assistant"), id: text, ...step },
        output: fc.record({ type: fc.constant("toolCall"), id: callId, name: text }),
      }),
      fc.record({
        ...{ type: fc.constant("toolResult"), id: text, turnId: step.turnId, stepId: step.stepId, name: text },
        ...{ toolCallId: callId, content: fc.constant([]) },
      }),
      fc.constant(Messages.user("Hello")),
    ),
  }),
);
const time = fc.oneof(number, fc.integer({ min: 1.7e12, max: 1.8e12 }));
const base = { v: fc.constantFrom(1, 1, 1, 2), at: time, id: fc.oneof(text, fc.constant(newId())) };
/** Also records with a member that this version does not know. */
const record = fc
  .tuple(fc.record(base), body, fc.boolean(), fc.boolean())
  .map(([head, rest, own, extra]): SessionRecord => {
    const id = own && "message" in rest ? rest.message.id : head.id;
    return { ...head, id, ...rest, ...(extra && { more: 1 }) } as SessionRecord;
  });

describe("a log in memory", () => {
  it("gives back every record as it was", () => {
    fc.assert(
      fc.property(fc.array(record, { maxLength: 200, size: "max" }), fc.nat(200), fc.nat(200), (records, from, to) => {
        const log = new MemoryLog();
        for (const given of records) log.push(given);
        expect(log.length).toBe(records.length);
        expect([...log]).toStrictEqual(records);
        expect([...log.between(from, to)]).toStrictEqual(records.slice(from, Math.max(from, to)));
        expect(log.at(from)).toStrictEqual(records[from]);
        expect(log.at(records.length)).toBeUndefined();
      }),
      { numRuns: 200 },
    );
  });

  it("gives a reader the records that were there when it began, however many come meanwhile", () => {
    const log = new MemoryLog();
    const message = {
      type: "toolResult",
      id: "m",
      turnId: "t",
      stepId: "s",
      toolCallId: "c",
      name: "n",
      content: [],
    } as const;
    const push = (i: number) => {
      if (i % 2 === 0) log.push({ id: "m", v: 1, at: i, type: "conversation", message });
      else log.push({ id: `record ${i}`, v: 1, at: i, type: "toolStarted", toolCallId: "c", attempt: i });
    };
    for (let i = 0; i < 100; i++) push(i);
    const seen: number[] = [];
    let next = 100;
    for (const record of log) {
      seen.push(record.at);
      for (let i = 0; i < 10; i++) push(next++);
    }
    expect(seen).toEqual(Array.from({ length: 100 }, (_, i) => i));
    expect(Array.from(log, (record) => record.at)).toEqual(Array.from({ length: 1100 }, (_, i) => i));
  });

  it("holds the messages that it was given, not copies", () => {
    const log = new MemoryLog();
    const message = { ...Messages.user("Hello"), id: "own" };
    log.push({ id: "own", v: 1, at: 5, type: "conversation", message });
    const kept = log.at(0);
    expect(kept?.type === "conversation" && kept.message).toBe(message);
  });
});
