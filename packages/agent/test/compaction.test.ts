import { MemoryDocumentStore } from "@shedkit/store";
import { Gate, ScriptedProvider } from "@shedkit/testing";
import { AgenticError, type Message, Messages, type SessionRecordBody } from "@shedkit/types";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Spending } from "../src/access.js";
import { defaultContextConfig } from "../src/config.js";
import { compact } from "../src/context/compaction.js";
import { estimateMessage } from "../src/context/estimate.js";
import { SessionLog } from "../src/log/log.js";
import { readState } from "../src/log/replay.js";
import { SessionState } from "../src/log/session-state.js";
import { inProcessEffects } from "../src/loop/effects.js";
import { checkValid, echoTool, generationError, sessionOf, transcript } from "./helpers.js";

const overflow = generationError("contextOverflow");

describe("a conversation that presses the window", () => {
  it("is compacted by the memory model before the request, and goes on from the summary", async () => {
    const provider = new ScriptedProvider(
      (request) => (request.model.name === "small" ? "They spoke of trees." : "Yes."),
      {
        description: { contextWindow: 500 },
      },
    );
    const session = await sessionOf(provider).withMemoryModel("small").build();
    const events = [];
    for (let turn = 0; turn < 8; turn++) {
      const stream = session.runTurnStream(`Turn ${turn}: ${"words about trees ".repeat(30)}`);
      for await (const item of stream) events.push(item);
    }
    const summaries = provider.requests.filter((request) => request.model.name === "small");
    expect(summaries.length).toBeGreaterThan(0);
    expect(summaries[0]?.tools.tools).toEqual([]);
    expect(events).toContainEqual({ type: "progress", progress: { type: "compacting", tokens: expect.any(Number) } });
    const last = provider.requests.at(-1);
    expect(transcript(last?.messages ?? [])[0]).toBe(
      "system: Summary of the conversation so far:\nThey spoke of trees.",
    );
    expect(transcript(last?.messages ?? []).at(-1)).toMatch(/^user: Turn 7/);
    const sizes = provider.requests.map((request) => request.messages.reduce((sum, m) => sum + estimateMessage(m), 0));
    expect(Math.max(...sizes)).toBeLessThan(1100); // nobody counted here, so half of the estimate is taken
  });

  it("is shortened without the memory model where that takes too long", async () => {
    const gate = new Gate();
    const provider = new ScriptedProvider(["One.", [{ wait: gate }, "Too late."], "Two."]);
    const session = await sessionOf(provider).withContextConfig({ summaryTimeoutMs: 1 }).build();
    await session.ask(`First: ${"words ".repeat(400)}`);
    await session.compact();
    await session.ask("Second");
    expect(transcript(provider.requests[2]?.messages ?? [])[0]).toContain("No summary could be made.");
    await session.end();
  });

  it("counts what the summary cost, also after a resume", async () => {
    const builder = sessionOf(
      new ScriptedProvider([
        { parts: ["One."], usage: { input: 100, output: 1 } },
        { parts: ["A summary."], usage: { input: 90, output: 3 } },
      ]),
    ).withSessionId("s");
    const session = await builder.build();
    await session.ask(`First: ${"words ".repeat(400)}`);
    await session.compact();
    expect(session.usage).toMatchObject({ input: 190, output: 4 });
    await session.end();
    expect((await builder.build()).usage).toMatchObject({ input: 190, output: 4 });
  });

  it("that overflows is reduced before it is sent again", async () => {
    const provider = new ScriptedProvider(["One.", [{ fail: overflow }], "A summary.", "Two."]);
    const session = await sessionOf(provider).build();
    await session.ask(`First: ${"words ".repeat(400)}`);
    const turn = await session.runTurn("Second");
    expect(turn.text).toBe("Two.");
    expect(turn.records.some((record) => record.type === "compaction")).toBe(true);
    expect(transcript(provider.requests[3]?.messages ?? [])).toEqual([
      "system: Summary of the conversation so far:\nA summary.",
      "text: One.",
      "user: Second",
    ]);
  });

  it("that cannot be made smaller ends the turn with an error that says so, and never loops", async () => {
    const provider = new ScriptedProvider(() => [{ fail: overflow }]);
    const session = await sessionOf(provider).build();
    const turn = await session.runTurn("words ".repeat(1000));
    expect(turn.failure?.code).toBe("compaction");
    expect(turn.failure?.message).toMatch(
      /^The question is too long for the model: it has about 1500 tokens, more than the model's window/,
    );
    expect(provider.requests).toHaveLength(1);
  });

  it("that begins with too long a question says how long it is, and how much the model takes", async () => {
    const provider = new ScriptedProvider(() => [{ fail: overflow }], { description: { contextWindow: 1000 } });
    const session = await sessionOf(provider).build();
    const turn = await session.runTurn("words ".repeat(10_000));
    expect(turn.failure?.message).toBe(
      "The question is too long for the model: it has about 15000 tokens, and the model takes 1000 at once. " +
        "Ask about less, or take a model with a larger window.",
    );
    expect((await session.runTurn("words ".repeat(8000))).failure?.message).toMatch(/about 12000 tokens/);
  });

  it("is compacted without a model where the memory model fails", async () => {
    const provider = new ScriptedProvider((request, index) => {
      if (request.model.name === "small") return [{ fail: generationError("server") }];
      return index === 1 ? [{ fail: overflow }] : "Fine.";
    });
    const session = await sessionOf(provider).withMemoryModel("small").build();
    await session.ask(`First: ${"words ".repeat(400)}`);
    expect((await session.ask("Second")).text).toBe("Fine.");
    expect(transcript(provider.requests.at(-1)?.messages ?? [])[0]).toContain("user: First: words");
  });

  it("is what a resumed session goes on with", async () => {
    const provider = new ScriptedProvider(["One.", [{ fail: overflow }], "A summary.", "Two.", "Three."]);
    const builder = sessionOf(provider).withSessionId("s");
    const session = await builder.build();
    await session.ask(`First: ${"words ".repeat(400)}`);
    await session.ask("Second");
    await session.end();
    const again = await builder.build();
    await again.ask("Third");
    const [live, resumed] = [provider.requests[3]?.messages ?? [], provider.requests[4]?.messages ?? []];
    expect(resumed.slice(0, live.length)).toEqual(live);
  });

  it("is told to be brief, once", async () => {
    const provider = new ScriptedProvider(() => ({ parts: ["Yes."], usage: { input: 780, output: 0 } }), {
      description: { contextWindow: 1000 },
    });
    const session = await sessionOf(provider).build();
    for (let turn = 0; turn < 3; turn++) await session.ask("Hi");
    const notes = transcript(provider.requests.at(-1)?.messages ?? []).filter((line) => line.includes("% full"));
    expect(notes).toHaveLength(1);
  });

  it("can be compacted by hand, but not twice in a row", async () => {
    const provider = new ScriptedProvider(["One.", "A summary."]);
    const session = await sessionOf(provider).build();
    await session.ask(`First: ${"words ".repeat(400)}`);
    const { tokensBefore, tokensAfter } = await session.compact();
    expect(tokensAfter).toBeLessThan(tokensBefore / 2);
    await expect(session.compact()).rejects.toMatchObject({ code: "compaction" });
  });
});

describe("the cached prefix", () => {
  it("is the same, byte for byte, from request to request of a turn", async () => {
    const provider = new ScriptedProvider((_, index) =>
      index < 6 ? [{ thinking: "Hm." }, { call: "echo", arguments: { text: `${index}` } }] : "Done.",
    );
    const session = await sessionOf(provider, echoTool()).withSystemPrompt("Be kind.").build();
    await session.ask("Hi");
    const bytes = provider.requests.map((request) =>
      JSON.stringify([request.system, request.tools, ...request.messages]).slice(0, -1),
    );
    for (let i = 1; i < bytes.length; i++) {
      const [before = "", now = ""] = [bytes[i - 1], bytes[i]];
      let at = 0;
      while (at < before.length && before[at] === now[at]) at++;
      expect(at, `request ${i} differs from the one before at byte ${at}: ${now.slice(at, at + 40)}`).toBe(
        before.length,
      );
    }
  });
});

/** A random conversation: turns of steps with calls, their results in any order. */
const size = fc.nat(400);
const aStep = fc.record({ text: size, calls: fc.array(size, { maxLength: 3 }), reverse: fc.boolean() });
const aTurn = fc.record({ prompt: size, steps: fc.array(aStep, { maxLength: 5 }), ended: fc.boolean() });

async function logOf(turns: readonly (typeof aTurn extends fc.Arbitrary<infer T> ? T : never)[], answer: string) {
  const store = new MemoryDocumentStore();
  const lease = await store.acquire("s" as never);
  const effects = inProcessEffects(store, lease);
  const log = new SessionLog(new SessionState(), effects);
  let n = 0;
  const said = (body: SessionRecordBody) => log.append(body);
  const text = (length: number) => `${n++} ${"x".repeat(length)}`;
  for (const [t, turn] of turns.entries()) {
    const turnId = `t${t}`;
    await said({ type: "conversation", message: Messages.user(text(turn.prompt)) });
    for (const [s, step] of turn.steps.entries()) {
      const stepId = `${turnId}.${s}`;
      const base = { type: "assistant" as const, turnId, stepId, model: "m" };
      await said({
        type: "conversation",
        message: { ...base, id: `m${n}`, output: { type: "text", text: text(step.text) } },
      });
      const ids = step.calls.map((length) => ({ id: `c${n++}`, length }));
      for (const { id } of ids) {
        await said({
          type: "conversation",
          message: { ...base, id: `m${n++}`, output: { type: "toolCall", id, name: "a" } },
        });
      }
      for (const { id, length } of step.reverse ? ids.toReversed() : ids) {
        const content = [{ type: "text" as const, text: text(length) }];
        await said({
          type: "conversation",
          message: { type: "toolResult", id: `m${n++}`, turnId, stepId, toolCallId: id, name: "a", content },
        });
      }
    }
    if (turn.ended && t < turns.length - 1) await said({ type: "summary", turnId, messageCount: 1, usage: zero });
  }
  const provider = new ScriptedProvider(() => answer);
  const parts = {
    ...{ log, effects },
    tools: { trimActive: () => [] } as never,
    spending: await Spending.open(undefined, "local"),
    memoryModel: "m",
    resolve: async () => ({ provider, model: { name: "m" } }),
    observe: () => undefined,
  };
  return { store, log, parts };
}

const zero = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0, total: 0 };

describe("a compaction of any log", () => {
  it("is below its target or an error; cuts no pair, keeps the running turn's first message, and is the same when replayed", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(aTurn, { minLength: 1, maxLength: 6 }),
        fc.integer({ min: 1, max: 1200 }),
        fc.string({ maxLength: 600 }),
        async (turns, limit, answer) => {
          const { store, log, parts } = await logOf(turns, answer);
          const { state } = log;
          const before = [...state.messages];
          const first = state.turnFirst;
          const config = { ...defaultContextConfig, keepRecentTokens: 100, summaryTokens: 50 };
          const signal = new AbortController().signal;
          let result: Awaited<ReturnType<typeof compact>>;
          try {
            result = await compact(parts, { limit }, config, signal);
          } catch (error) {
            expect(AgenticError.is(error, "compaction")).toBe(true);
            expect(state.messages).toEqual(before);
            return;
          }
          const after = state.messages;
          const size = (messages: readonly Message[]) => messages.reduce((sum, m) => sum + estimateMessage(m), 0);
          expect(result.tokensAfter).toBeLessThanOrEqual(limit * config.compactionTarget);
          expect(size(after)).toBeLessThanOrEqual(limit * config.compactionTarget + 20); // and the words around it
          checkValid(after);
          if (first) expect(after).toContain(first);
          // what is left is what was there, in its order
          const kept = after.slice(1);
          expect(before.filter((message) => kept.includes(message))).toEqual(kept);
          await expect(compact(parts, { limit }, config, signal)).rejects.toMatchObject({ code: "compaction" });
          expect((await readState(store, "s" as never)).messages).toEqual(after);
        },
      ),
      { numRuns: 300 },
    );
  });
});
