import { readFileSync } from "node:fs";
import { Gate, type ScriptedAnswer, ScriptedProvider } from "@shedkit/testing";
import { FnTool } from "@shedkit/tool";
import { AgenticError } from "@shedkit/types";
import { describe, expect, it } from "vitest";
import type { AgentConfig, ContextConfig, LoopDetectionConfig, MemoryConfig } from "../src/index.js";
import { echoTool, readOnly, sessionOf, transcript } from "./helpers.js";

type Change = (builder: ReturnType<typeof sessionOf>) => ReturnType<typeof sessionOf>;

/** The same story under two values of one setting. */
interface Case<T> {
  values: readonly [T, T];
  /** What the n-th request is answered; those of the memory model ("small") apart. */
  answers?: (index: number) => ScriptedAnswer;
  memory?: (index: number) => ScriptedAnswer;
  /** What is said; `compact` compacts. Default: one prompt. */
  say?: readonly string[];
  /** A follow-up that comes while the first answer is being written. */
  meanwhile?: string;
  /** Beside the setting. */
  with?: Change;
}

const LONG = "It goes on and on. ".repeat(300);
const echo = (text: string) => ({ call: "echo", arguments: { text } });
const usage = (input: number) => ({ parts: ["Yes."], usage: { input } });
const pressed: Change = (builder) => builder.withContextConfig({ window: 2000, keepRecentTokens: 100 });
const compacted = { say: ["The gate is green.", LONG, "compact", "What of the gate?"] };
const wide: Change = (builder) => builder.withContextConfig({ window: 100_000, keepRecentTokens: 100 });

const busy = new AgenticError(
  "generation",
  "Too many requests.",
  { kind: "rateLimit", provider: "scripted", model: "m" },
  { retryable: true, retryAfterMs: 0 },
);

/** A summary that comes when a timeout of a millisecond is long over. */
function slowly(): ScriptedAnswer {
  const gate = new Gate();
  setTimeout(() => gate.open(), 100);
  return [{ wait: gate }, "A summary."];
}

const agent: { [K in keyof AgentConfig]: Case<AgentConfig[K]> } = {
  maxInnerIterations: { values: [2, 3], answers: (index) => (index < 4 ? echo(`${index}`) : "Done.") },
  maxOuterIterations: { values: [1, 2], meanwhile: "And?" },
  circuitBreakerThreshold: {
    values: [1, 2],
    answers: () => [{ fail: busy }],
    with: (builder) => builder.withFallbackModels(["n"]),
  },
  preflightCompressionThreshold: { values: [0, 0.5], say: ["Hi", LONG + LONG, "Go on"], with: pressed },
  contextPressureThreshold: { values: [0, 0.5], say: ["Hi", "words ".repeat(900)], with: pressed },
  toolConcurrency: {
    values: [1, 2],
    answers: (index) => (index === 0 ? [{ call: "meet" }, { call: "meet" }] : "Done."),
  },
  modelParams: { values: [{}, { temperature: 0.1 }] },
};

const context: { [K in keyof ContextConfig]: Case<ContextConfig[K]> } = {
  window: { values: [2000, 100_000], say: ["Hi", LONG, "Go on", "And on"] },
  keepRecentTokens: { values: [2, 5000], say: ["Hi", LONG, "So it is.", "And so on.", "compact"] },
  compactionTarget: { values: [0.05, 0.9], say: ["Hi", LONG, "words ".repeat(300), "compact"] },
  summaryTokens: { values: [10, 1000], memory: () => LONG, ...compacted },
  summaryTimeoutMs: { values: [1, 60_000], memory: slowly, ...compacted },
  recallBudgetTokens: { values: [0, 4096], with: wide, ...compacted },
};

const remembered = { answers: () => usage(1000), memory: () => '["A note."]', say: ["1", "2", "3"] };
const memory: { [K in keyof MemoryConfig]: Case<MemoryConfig[K]> } = {
  observationTriggerTokens: { values: [0, 1500], ...remembered },
  reflectionTriggerTokens: {
    values: [0, 1],
    with: (builder) => builder.withMemoryConfig({ observationTriggerTokens: 500 }),
    ...remembered,
  },
  timeoutMs: {
    values: [1, 60_000],
    with: (builder) => builder.withMemoryConfig({ observationTriggerTokens: 500 }),
    ...remembered,
    memory: slowly,
  },
};

const same = (times: number) => (index: number) => (index < times ? echo("a") : "Done.");
const loops: { [K in keyof LoopDetectionConfig]: Case<LoopDetectionConfig[K]> } = {
  windowSize: { values: [2, 9], answers: (index) => (index < 4 ? echo(`the very same long text ${index}`) : "Done.") },
  similarityThreshold: {
    values: [0.1, 1],
    answers: (index) => (index < 5 ? echo(`the very same long text ${index}`) : "Done."),
  },
  toolCallMaxRepeats: { values: [2, 9], answers: same(4) },
  maxRedirects: { values: [0, 9], answers: same(4) },
  temperatureDelta: { values: [0, 0.5], answers: same(12), with: (b) => b.withLoopDetection({ maxRedirects: 0 }) },
  detectVacuousAnswers: { values: [true, false], answers: () => "..." },
  judgeBareNumbers: { values: [true, false], answers: () => "7" },
  pollingTools: { values: [[], ["echo"]], answers: same(4) },
};

/** What the model was asked, with what, and what came of it. */
async function told(change: Change, one: Case<unknown>): Promise<string> {
  const counts = { main: 0, small: 0 };
  const provider = new ScriptedProvider(({ model }) => {
    if (model.name === "small") return one.memory?.(counts.small++) ?? "A summary.";
    if (one.meanwhile !== undefined && counts.main === 0) session.followUp(one.meanwhile);
    const index = counts.main++;
    return one.answers?.(index) ?? "Yes.";
  });
  let [running, most] = [0, 0];
  const meet = new FnTool("meet", "Meets.", { type: "object", properties: {} }, async () => {
    most = Math.max(most, ++running);
    await new Promise((resolve) => setImmediate(resolve));
    running--;
    return `${most} at once`;
  });
  const base = sessionOf(provider, readOnly(echoTool()), readOnly(meet)).withMemoryModel("small");
  const session = await change(one.with?.(base) ?? base).build();
  const outcomes: unknown[] = [];
  for (const text of one.say ?? ["Hi"]) {
    if (text === "compact") outcomes.push(await session.compact().catch((error: Error) => error.message));
    else outcomes.push((await session.runTurn(text)).failure?.message);
    await session.settled();
  }
  await session.end();
  const requests = provider.requests.map(({ model, params, messages }) => [model.name, params, transcript(messages)]);
  return JSON.stringify([requests, outcomes]);
}

function everyOne<T extends object>(cases: { [K in keyof T]: Case<T[K]> }, set: (value: Partial<T>) => Change): void {
  for (const [name, one] of Object.entries(cases) as [string, Case<unknown>][]) {
    it(name, async () => {
      const outcomes = await Promise.all(one.values.map((value) => told(set({ [name]: value } as Partial<T>), one)));
      expect(outcomes[0]).not.toBe(outcomes[1]);
      // and it is the setting that makes the difference, not chance
      const [value] = one.values;
      expect(await told(set({ [name]: value } as Partial<T>), one)).toBe(outcomes[0]);
    });
  }
}

describe("a setting does something:", () => {
  everyOne<AgentConfig>(agent, (value) => (builder) => builder.withConfig(value));
  everyOne<ContextConfig>(context, (value) => (builder) => builder.withContextConfig(value));
  everyOne<MemoryConfig>(memory, (value) => (builder) => builder.withMemoryConfig(value));
  everyOne<LoopDetectionConfig>(loops, (value) => (builder) => builder.withLoopDetection(value));
});

describe("the entries of the package", () => {
  const names = (file: string) =>
    [...readFileSync(new URL(`../src/${file}.ts`, import.meta.url), "utf8").matchAll(/export (?:type )?\{([^}]*)\}/g)]
      .flatMap(([, list = ""]) => list.split(","))
      .map((name) => name.trim().replace(/^type /, ""));

  it("have each name once, under one name, and each entry has some", async () => {
    const { exports } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
    expect(Object.keys(exports)).toEqual([".", "./internals", "./package.json"]);
    const all = [...names("index"), ...names("internals")];
    expect(names("index")).toContain("AgentSession");
    expect(names("internals")).toContain("AgentLoop");
    expect(all.filter((name, i) => all.indexOf(name) !== i)).toEqual([]);
    expect(all.filter((name) => name.includes(" as "))).toEqual([]);
  });
});
