import { MemoryDocumentStore } from "@shedkit/store";
import { type ScriptedAnswer, ScriptedProvider } from "@shedkit/testing";
import { Messages, newSessionId, type SessionRecord } from "@shedkit/types";
import { describe, expect, it } from "vitest";
import type { LoopDetectionConfig } from "../src/config.js";
import { type SessionEngine, withEngine } from "../src/internals.js";
import { EMPTY } from "../src/loop/texts.js";
import { echoTool, sessionOf } from "./helpers.js";

const prompt = Messages.user("Go round");

/** A model that says what its step in the turn is due, whoever asks it. */
function byStep(answer: (step: number) => ScriptedAnswer): ScriptedProvider {
  return new ScriptedProvider(({ messages }) => {
    const steps = new Set(messages.map((message) => (message.type === "assistant" ? message.stepId : "")));
    return answer(steps.size - 1 + messages.filter((message) => "role" in message && message.role === "agent").length);
  });
}

/** Runs the turn from what the log holds of it. Gives the whole log, and how long it was after each append. */
async function turn(
  provider: ScriptedProvider,
  loopDetection: Partial<LoopDetectionConfig>,
  soFar: readonly SessionRecord[],
): Promise<{ records: SessionRecord[]; lengths: number[] }> {
  const store = new MemoryDocumentStore();
  const sessionId = newSessionId();
  const lease = await store.acquire(sessionId);
  if (soFar.length > 0) await store.append(lease, soFar);
  await lease.release();
  const builder = sessionOf(provider, echoTool())
    .withDocStore(store)
    .withLoopDetection(loopDetection)
    .withConfig({ maxInnerIterations: 30 });
  const lengths: number[] = [];
  const engine: SessionEngine = {
    effects: (inProcess) => ({
      ...inProcess,
      append: (records) => {
        lengths.push((lengths.at(-1) ?? soFar.length) + records.length);
        return inProcess.append(records);
      },
    }),
    runsAgain: () => true,
    turn: () => ({ id: "turn", soFar }),
  };
  const session = await withEngine(builder.withSessionId(sessionId), engine).build();
  await session.ask(prompt);
  await session.end();
  const records: SessionRecord[] = [];
  for await (const { record } of store.read(sessionId)) records.push(record);
  return { records, lengths };
}

/** What came of it, however often it was taken over. */
function outcome(records: readonly SessionRecord[]) {
  const last = records.at(-1);
  return {
    steps: records.filter(({ type }) => type === "step").length,
    results: records.flatMap((record) => {
      return record.type === "toolFinished" ? [record.outcome] : [];
    }),
    end: last?.type === "failedAction" ? last.error.message : last?.type,
  };
}

describe("a turn that another process goes on with", () => {
  const same = byStep(() => [{ call: "echo", arguments: { text: "again" } }]);
  const results = byStep((step) => {
    const aside = step % 2 === 0 ? "again" : `something else, number ${step}, and long enough to differ`;
    return [{ call: "echo", arguments: { text: aside } }];
  });
  const cases: [string, ScriptedProvider, Partial<LoopDetectionConfig>][] = [
    ["makes the same call", same, { toolCallMaxRepeats: 3, maxRedirects: 1 }],
    ["comes to the same results", results, { toolCallMaxRepeats: 3, maxRedirects: 1 }],
    ["says nothing", byStep((step) => (step < 3 ? " " : "At last.")), {}],
  ];
  it.each(cases)("is found to go in circles as if it was one: a model that %s", async (_, provider, config) => {
    const whole = await turn(provider, config, []);
    const expected = outcome(whole.records);
    expect(expected.steps).toBeGreaterThan(2);
    for (const cut of whole.lengths.slice(0, -1)) {
      const next = whole.records[cut];
      // Not told yet that its answer was empty, the model is asked once more.
      if (next?.type === "conversation" && JSON.stringify(next).includes(EMPTY.text)) continue;
      const { records } = await turn(provider, config, whole.records.slice(0, cut));
      expect({ cut, ...outcome(records) }).toEqual({ cut, ...expected });
    }
  });
});
