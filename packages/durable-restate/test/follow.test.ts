import type { SessionItem } from "@shedkit/agent";
import { Gate } from "@shedkit/testing";
import type { SessionRecord } from "@shedkit/types";
import fc from "fast-check";
import { describe, expect, inject, it } from "vitest";
import { follow, type Source } from "../src/follow.js";
import { LEFT_OUT } from "../src/wire.js";
import { agentOf, byStep, openStore, restate, running } from "./support/agent.js";

const KEPT = 6;

function stepRecord(step: number): SessionRecord {
  const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0, total: 0 };
  const of = { turnId: "t", stepId: `${step}`, provider: "p", model: "m", usage, finish: "stop" as const };
  return { v: 1, id: `step ${step}`, at: 0, type: "step", ...of } as SessionRecord;
}

function textRecord(step: number, text: string): SessionRecord {
  const message = { type: "assistant", id: `m${step}`, turnId: "t", stepId: `${step}`, output: { type: "text", text } };
  return { v: 1, id: `text ${step}`, at: 0, type: "conversation", message } as SessionRecord;
}

/** What a session shows: pieces, then the records that hold the whole of them. */
function shownBy(steps: readonly string[]): SessionItem[] {
  return steps.flatMap((text, step): SessionItem[] => [
    ...[...text].map((piece): SessionItem => {
      const of = { stepId: `${step}`, block: 0, kind: "text" as const };
      return { type: "delta", ...of, text: piece, id: "", turnId: "t" };
    }),
    { type: "record", record: textRecord(step, text), id: "", turnId: "t" },
    { type: "record", record: stepRecord(step), id: "", turnId: "t" },
  ]);
}

/** What happens between two questions of the reader: how much is shown, and whether it reaches the feed. */
const moves = fc.array(
  fc.record({ shown: fc.nat(5), fate: fc.constantFrom("sent", "sent", "lost", "late"), answers: fc.boolean() }),
  { maxLength: 40 },
);

/** A feed that loses, and a log that is ahead of it. Resolves `ended` when all is shown. */
class World implements Source {
  readonly ended: Promise<void>;
  #end: () => void = () => undefined;
  readonly #items: SessionItem[];
  readonly #moves: { shown: number; fate: string; answers: boolean }[];
  #at = 0;
  #late: string[] = [];
  #n = 0;
  #kept: string[] = [];

  constructor(items: SessionItem[], steps: { shown: number; fate: string; answers: boolean }[]) {
    this.#items = items;
    this.#moves = [...steps];
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  async log(range: { after: number } | { last: number }) {
    const all = this.#items.slice(0, this.#at).flatMap((item) => (item.type === "record" ? [item.record] : []));
    const after = "after" in range ? range.after : 0;
    const records = all.slice(after, after + 2);
    return { records, seq: after + records.length, more: all.length > after + records.length };
  }

  async pull(after: number) {
    const move = this.#moves.shift() ?? { shown: 5, fate: "sent", answers: true };
    const fresh = this.#items.slice(this.#at, this.#at + move.shown).map((item) => JSON.stringify(item));
    this.#at += fresh.length;
    this.#late.push(...(move.fate === "lost" && fresh.length > 0 ? [JSON.stringify(LEFT_OUT)] : fresh));
    if (move.fate !== "late") this.#publish(this.#late.splice(0, move.shown + 1));
    const isOver = this.#moves.length === 0 && this.#at === this.#items.length && this.#late.length === 0;
    if (isOver && this.#n === after) this.#end();
    if (!move.answers || this.#n === after) return { items: [], n: after };
    return { items: this.#kept.slice(-(this.#n - after)), n: this.#n };
  }

  #publish(items: string[]): void {
    this.#n += items.length;
    this.#kept = [...this.#kept, ...items].slice(-KEPT);
  }
}

describe("who follows a session", () => {
  it("gets each record once and in order, and pieces of text that stand before their record and leave no gap", async () => {
    const texts = fc.array(fc.string({ minLength: 1, maxLength: 6 }), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(texts, moves, async (steps, world) => {
        const items = shownBy(steps);
        const source = new World(items, world);
        const from = { seq: 0, n: 0 };
        const got: SessionItem[] = [];
        for await (const item of follow(source, { from, ended: source.ended, toTheEnd: true })) got.push(item);
        const records = (all: SessionItem[]) => all.flatMap((item) => (item.type === "record" ? [item.record] : []));
        expect(records(got)).toEqual(records(items));
        const running = new Map<string, string>();
        for (const item of got) {
          if (item.type === "delta") running.set(item.stepId, (running.get(item.stepId) ?? "") + item.text);
          else if (item.type === "record" && item.record.type === "conversation") {
            const { message } = item.record;
            if (message.type !== "assistant" || message.output.type !== "text") continue;
            expect(message.output.text.startsWith(running.get(message.stepId) ?? "")).toBe(true);
            running.set(message.stepId, "over");
          }
        }
      }),
    );
  });
});

describe.skipIf(inject("restate") === undefined)("who follows a session from another process", () => {
  it("sees a turn that somebody else asked for, as it is made, and goes on behind what it had", async () => {
    const gate = new Gate();
    const provider = byStep([["Let me ", { wait: gate }, "see."]]);
    const agent = await running(agentOf(provider, await openStore()));
    const asking = agent.client(restate()).session();
    const watching = agent.client(restate()).session(asking.sessionId);
    const leave = new AbortController();
    const items = watching.items({ after: "", signal: leave.signal });
    const answer = asking.ask("Hi");
    const types: string[] = [];
    let last = "";
    for await (const item of items) {
      types.push(item.type === "record" ? item.record.type : item.type);
      if (item.type === "delta") gate.open();
      if (item.type === "record") last = item.id;
      if (item.type === "record" && item.record.type === "conversation" && item.record.message.type === "user") {
        await gate.reached;
      }
      if (item.type === "record" && item.record.type === "summary") leave.abort();
    }
    expect((await answer).text).toBe("Let me see.");
    const records = types.filter((type) => !["delta", "progress"].includes(type));
    expect(records).toEqual(["conversation", "conversation", "step", "summary"]);
    expect(types.indexOf("delta")).toBeGreaterThan(0);
    expect(types.indexOf("delta")).toBeLessThan(types.indexOf("step"));

    const again = new AbortController();
    const events = watching.subscribe({ after: last, signal: again.signal });
    const more = asking.ask("And now?");
    const texts: string[] = [];
    for await (const event of events) {
      if (event.type === "text") texts.push(event.delta);
      if (event.type === "done") again.abort();
    }
    expect(texts.join("")).toBe("Let me see.");
    await more;
    await expect(watching.items({ after: "none" }).next()).rejects.toThrow('has no item "none"');
  });

  it("gets a record that is too long for the feed from the log", async () => {
    const long = "word ".repeat(40_000);
    const agent = await running(agentOf(byStep([long]), await openStore()));
    const turn = agent.client(restate()).session().runTurnStream("Much, please");
    let text = "";
    for await (const now of turn.text()) text = now;
    expect(text).toBe(long);
    expect((await turn.done()).text).toBe(long);
  });
});
