import { KvMemoryStore, MemoryDocumentStore, MemoryStorage, type MemoryTiers, type StoredRecord } from "@shedkit/store";
import { ScriptedProvider } from "@shedkit/testing";
import type { SessionId } from "@shedkit/types";
import { describe, expect, it } from "vitest";
import { AgentSession, type AgentSessionBuilder } from "../src/index.js";
import { collect, echoTool, sessionOf } from "./helpers.js";

const again = () => new ScriptedProvider((_, i) => (i < 40 ? { call: "echo", arguments: { text: `${i}` } } : "Done."));

describe("what cannot be meant", () => {
  const builder = AgentSession.builder(new ScriptedProvider(() => "Yes.")).withModel("m");
  const cases: { [name: string]: [AgentSessionBuilder<MemoryDocumentStore, KvMemoryStore>, string] } = {
    "a limit that is no number": [
      builder.withConfig({ maxInnerIterations: Number.NaN }),
      "maxInnerIterations must be a number from 0 on, not NaN.",
    ],
    "a limit below zero": [
      builder.withConfig({ maxOuterIterations: -1 }),
      "maxOuterIterations must be a number from 0 on, not -1.",
    ],
    "no room for any tool": [
      builder.withConfig({ toolConcurrency: 0 }),
      "toolConcurrency must be a number from 1 on, not 0.",
    ],
    "percents for a share": [
      builder.withConfig({ contextPressureThreshold: 70 }),
      "contextPressureThreshold must be a number from 0 to 1, not 70.",
    ],
    "a number as text": [
      builder.withContextConfig({ window: "8k" as never }),
      'window must be a number from 1 on, not "8k".',
    ],
    "a trigger below zero": [
      builder.withMemoryConfig({ observationTriggerTokens: -5 }),
      "observationTriggerTokens must be a number from 0 on, not -5.",
    ],
    "a loop that is none": [
      builder.withLoopDetection({ toolCallMaxRepeats: 1 }),
      "toolCallMaxRepeats must be a number from 2 on, not 1.",
    ],
    "sub-agents without end": [
      builder.withChildren({ maxDepth: Number.NaN }),
      "maxDepth must be a number from 0 on, not NaN.",
    ],
    "a session without a name": [
      builder.withSessionId(""),
      "The session id is empty. Leave it out for a new session, or name one.",
    ],
  };
  for (const [name, [wrong, message]] of Object.entries(cases)) {
    it(`is refused when the session is built: ${name}`, async () => {
      await expect(wrong.build()).rejects.toMatchObject({ code: "session", message });
    });
  }

  it("a setting that is undefined keeps its default", async () => {
    const provider = again();
    const settings = { maxInnerIterations: undefined, toolConcurrency: undefined } as object;
    const session = await sessionOf(provider, echoTool()).withConfig(settings).build();
    await session.runTurn("Go round");
    expect(provider.requests).toHaveLength(26); // 25 rounds, and one to sum up
  });

  it("no limit is `Infinity`", async () => {
    const provider = again();
    const limits = { maxInnerIterations: Number.POSITIVE_INFINITY };
    const session = await sessionOf(provider, echoTool()).withConfig(limits).build();
    expect((await session.ask("Go round")).text).toBe("Done.");
  });

  it("an export in a format that there is not is refused by name", async () => {
    const session = await builder.build();
    await expect(collect(session.export({ format: "html" as never }))).rejects.toMatchObject({
      code: "session",
      message: 'A session is exported as "jsonl" or "markdown", not as "html".',
    });
  });
});

describe("facts that no store can hold", () => {
  it("are refused, and neither the facts before them nor the session are lost", async () => {
    const session = await AgentSession.builder(new ScriptedProvider(["Yes."]))
      .withModel("m")
      .build();
    await session.memory.edit(() => ["The sky is blue."]);
    const circle: { self?: unknown } = {};
    circle.self = circle;
    for (const wrong of [[10n], [circle], "no list", undefined, null]) {
      await expect(session.memory.edit(() => wrong as never)).rejects.toMatchObject({ code: "memory" });
    }
    const thrown = session.memory.edit(() => {
      throw new Error("changed my mind");
    });
    await expect(thrown).rejects.toThrow("changed my mind");
    expect(await session.memory.edit((facts) => [...facts, { at: new Date(0), gone: undefined } as never])).toBe(2);
    expect(await session.memory.facts()).toEqual(["The sky is blue.", { at: "1970-01-01T00:00:00.000Z" }]);
    expect((await session.ask("Is it?")).text).toBe("Yes.");
  });
});

describe("a store that does not answer", () => {
  const never = () => new Promise<never>(() => undefined);
  class SilentLease extends MemoryDocumentStore {
    override acquire() {
      return never();
    }
  }
  class SilentLog extends MemoryDocumentStore {
    override async *read(session: SessionId): AsyncGenerator<StoredRecord, void, void> {
      await never();
      yield* super.read(session);
    }
  }
  class SilentMemory extends KvMemoryStore {
    override read(): Promise<MemoryTiers> {
      return never();
    }
  }
  const parts = {
    "its leases": [new SilentLease(), new KvMemoryStore(new MemoryStorage())],
    "its logs": [new SilentLog(), new KvMemoryStore(new MemoryStorage())],
    "its memory": [new MemoryDocumentStore(), new SilentMemory(new MemoryStorage())],
  } as const;
  for (const [part, [docStore, memoryStore]] of Object.entries(parts)) {
    it(`keeps nobody who gives up the building: ${part}`, async () => {
      const giveUp = new AbortController();
      const building = sessionOf(new ScriptedProvider([]))
        .withDocStore(docStore)
        .withMemoryStore(memoryStore)
        .withSessionId("s")
        .build({ signal: giveUp.signal });
      giveUp.abort(new Error("it took too long"));
      await expect(building).rejects.toMatchObject({
        ...{ code: "cancelled", message: "The session was not built: it took too long" },
      });
    });
  }

  it("and answers late leaves the session to others", async () => {
    let answer: () => void = () => undefined;
    class Late extends MemoryDocumentStore {
      override async acquire(...args: Parameters<MemoryDocumentStore["acquire"]>) {
        const lease = await super.acquire(...args);
        await new Promise<void>((resolve) => {
          answer = resolve;
        });
        return lease;
      }
    }
    const store = new Late();
    const giveUp = new AbortController();
    const builder = sessionOf(new ScriptedProvider(["Yes."]))
      .withDocStore(store)
      .withSessionId("s");
    const building = builder.build({ signal: giveUp.signal });
    await Promise.resolve();
    giveUp.abort();
    await expect(building).rejects.toMatchObject({ code: "cancelled" });
    answer();
    const second = builder.build({ waitMs: 30_000 });
    await new Promise((resolve) => setImmediate(resolve));
    answer();
    expect((await (await second).ask("Hi")).text).toBe("Yes.");
  });
});
