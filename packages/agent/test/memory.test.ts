import { KvMemoryStore, MemoryDocumentStore, MemoryStorage, type SessionLease } from "@shedkit/store";
import { Gate, type ScriptedAnswer, ScriptedProvider } from "@shedkit/testing";
import { AgenticError, type SessionRecord } from "@shedkit/types";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { parseNotes } from "../src/memory/memory.js";
import { collect, generationError, sessionOf, transcript } from "./helpers.js";

const usage = { input: 14_000, output: 1000 };

/** Turns of 15,000 tokens on the model "m"; the memory model "small" answers as told. */
function remembering(memory: (index: number) => ScriptedAnswer) {
  let asked = 0;
  return new ScriptedProvider((request) =>
    request.model.name === "small" ? memory(asked++) : { parts: ["Yes."], usage },
  );
}

function build(provider: ScriptedProvider, store = new MemoryDocumentStore()) {
  return sessionOf(provider)
    .withMemoryModel("small")
    .withDocStore(store)
    .withSessionId("s")
    .withContextConfig({ window: 10_000_000 });
}

async function recordsOf(store: MemoryDocumentStore): Promise<SessionRecord[]> {
  return (await collect(store.read("s" as never))).map(({ record }) => record);
}

const count = (records: readonly SessionRecord[], type: string) =>
  records.filter((record) => record.type === type).length;

describe("the memory", () => {
  it("observes once for 30,000 rolling tokens, and reflects once for 40,000 of observations", async () => {
    const notes = { parts: ['["They like trees."]'], usage: { output: 20_000 } };
    const provider = remembering((index) => (index === 2 ? '["Trees matter to them."]' : notes));
    const store = new MemoryDocumentStore();
    const session = await build(provider, store).build();
    const counts: number[][] = [];
    for (let turn = 1; turn <= 5; turn++) {
      await session.ask(`Turn ${turn}`);
      await session.settled();
      const records = await recordsOf(store);
      counts.push([count(records, "observation"), count(records, "reflection")]);
    }
    expect(counts).toEqual([
      [0, 0],
      [1, 0],
      [1, 0],
      [2, 0],
      [2, 1], // one piece of work at a time
    ]);
    const asked = provider.requests.filter((request) => request.model.name === "small");
    expect(transcript(asked[0]?.messages ?? [])[0]).toContain("user: Turn 1");
    expect(transcript(asked[1]?.messages ?? [])[0]).not.toContain("user: Turn 1\n"); // that was observed already
    const tiers = await session.memoryStore.read(session.sessionId);
    expect(tiers.observation?.observations).toEqual([{ content: "They like trees." }]);
    expect(tiers.reflection?.reflections).toEqual([{ summary: "Trees matter to them." }]);
  });

  it("is told to the model at the end of the conversation, once for each change", async () => {
    const provider = remembering(() => '["They like trees."]');
    const session = await build(provider).build();
    for (let turn = 1; turn <= 3; turn++) {
      await session.ask(`Turn ${turn}`);
      await session.settled();
    }
    await session.ask("Turn 4");
    const lines = transcript(provider.requests.filter((request) => request.model.name === "m").at(-1)?.messages ?? []);
    expect(lines.filter((line) => line.includes("trees"))).toEqual(["system: Observations:\n- They like trees."]);
    expect(lines.slice(0, 4)).toEqual(["user: Turn 1", "text: Yes.", "user: Turn 2", "text: Yes."]);
  });

  it("is not an event unless it is asked for, but a record of the stream", async () => {
    const [memory, answer] = [new Gate(), new Gate()];
    let asked = 0;
    const provider = new ScriptedProvider((request) => {
      if (request.model.name === "small") return [{ wait: memory }, '["They like trees."]'];
      return asked++ === 0 ? { parts: ["Yes."], usage: { input: 30_000 } } : ["Yes.", { wait: answer }];
    });
    const session = await build(provider).build();
    await session.ask("Turn 1");
    const plain = session.subscribe();
    const seen: string[] = [];
    for await (const event of session.runTurnStream("Turn 2").events({ memory: true })) {
      if (event.type === "text") memory.open();
      if (event.type !== "memory") continue;
      seen.push(event.record.type);
      answer.open();
    }
    await session.end();
    expect(seen).toEqual(["observation"]);
    expect((await collect(plain)).map((event) => event.type)).not.toContain("memory");
  });

  it("delays no answer when its model hangs, and lets the session end", async () => {
    const never = new Gate();
    const provider = remembering(() => ["[", { wait: never }]);
    const session = await build(provider).build();
    await session.ask("Turn 1");
    await session.ask("Turn 2");
    await never.reached;
    expect((await session.ask("Turn 3")).text).toBe("Yes.");
    await session.end();
    expect(count(await recordsOf(session.docStore), "observation")).toBe(0);
  });

  it("is made by and by where its model hung: what took too long is tried again", async () => {
    const never = new Gate();
    const provider = remembering((index) => (index === 0 ? ["[", { wait: never }] : '["They like trees."]'));
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const session = await build(provider).build();
    await session.ask("Turn 1");
    await session.ask("Turn 2");
    await never.reached;
    await vi.advanceTimersByTimeAsync(301_000);
    await session.settled();
    expect(count(await recordsOf(session.docStore), "observation")).toBe(0);
    await session.ask("Turn 3");
    await session.settled();
    expect(count(await recordsOf(session.docStore), "observation")).toBe(1);
    await session.end();
  });

  it("delays no answer when its model fails, and does not ask it again at once", async () => {
    const provider = remembering(() => [{ fail: generationError("server") }]);
    const session = await build(provider).build();
    for (let turn = 1; turn <= 3; turn++) {
      expect((await session.ask(`Turn ${turn}`)).text).toBe("Yes.");
      await session.settled();
    }
    // at 30,000; the next try is due with a quarter more
    expect(provider.requests.filter((request) => request.model.name === "small")).toHaveLength(2);
  });

  it("is made once, whenever the program is killed between the call and its record", async () => {
    for (const written of [true, false]) {
      class Dying extends MemoryDocumentStore {
        dead = false;
        override async append(lease: SessionLease, records: readonly SessionRecord[]): Promise<number> {
          const last = records.some((record) => record.type === "observation");
          if (this.dead || (last && !written)) throw this.#die();
          const seq = await super.append(lease, records);
          if (last) throw this.#die();
          return seq;
        }
        #die(): AgenticError {
          this.dead = true;
          return new AgenticError("store", "The process is gone.", { store: "test", operation: "append" });
        }
      }
      const dying = new Dying();
      const killed = await build(
        remembering(() => '["They like trees."]'),
        dying,
      ).build();
      await killed.ask("Turn 1");
      await killed.ask("Turn 2");
      await killed.settled();
      const records = await recordsOf(dying);
      expect(count(records, "observation")).toBe(written ? 1 : 0);
      const store = new MemoryDocumentStore();
      const lease = await store.acquire("s" as never);
      await store.append(lease, records);
      await lease.release();
      const resumed = await build(
        remembering(() => '["They like trees."]'),
        store,
      ).build();
      await resumed.ask("Turn 3");
      await resumed.settled();
      expect(count(await recordsOf(store), "observation")).toBe(1);
    }
  });

  it("is taken over from the memory store where the log does not know it, and found by resume", async () => {
    const memoryStore = new KvMemoryStore(new MemoryStorage());
    const first = await build(remembering(() => '["They like trees."]'))
      .withMemoryStore(memoryStore)
      .build();
    await first.ask("Turn 1");
    await first.ask("Turn 2");
    await first.settled();
    await first.end();
    const provider = remembering(() => "[]");
    const elsewhere = build(provider).withMemoryStore(memoryStore); // a new log
    const session = await elsewhere.resume("s").build();
    await session.ask("What do they like?");
    expect(transcript(provider.requests[0]?.messages ?? [])).toEqual([
      "user: What do they like?",
      "system: Observations:\n- They like trees.",
    ]);
    expect((await session.contextProvider.search("trees", { mode: "memory" }))[0]?.source).toBe("observation");
    await expect(elsewhere.resume("t").build()).rejects.toMatchObject({ code: "sessionNotFound" });
  });

  it("of a store that a killed program left behind its log is brought up to date", async () => {
    class Dying extends KvMemoryStore {
      override async write(): Promise<void> {
        throw new AgenticError("store", "The process is gone.", { store: "test", operation: "write" });
      }
    }
    const storage = new MemoryStorage();
    const store = new MemoryDocumentStore();
    const killed = await build(
      remembering(() => '["They like trees."]'),
      store,
    )
      .withMemoryStore(new Dying(storage))
      .build();
    await killed.ask("Turn 1");
    await killed.ask("Turn 2");
    await killed.settled();
    await killed.end();
    const again = await build(
      remembering(() => "[]"),
      store,
    )
      .withMemoryStore(new KvMemoryStore(storage))
      .build();
    const { observation } = await again.memoryStore.read(again.sessionId);
    expect(observation?.observations).toEqual([{ content: "They like trees." }]);
    expect(count(await recordsOf(store), "observation")).toBe(1);
  });

  it("of facts that a tool edits is in the next request", async () => {
    const { toolFn, ToolCallResult } = await import("@shedkit/tool");
    const { ToolShed } = await import("@shedkit/shed");
    const remember = toolFn("remember", (parts) => ({
      definition: () => ({
        type: "single",
        definition: { name: "remember", category: "memory", description: "Remembers.", arguments: { type: "object" } },
      }),
      execute: async () => {
        await parts.memory.edit((facts) => [...facts, { fact: "The sky is blue." }]);
        return ToolCallResult.text("noted");
      },
    }));
    const provider = new ScriptedProvider([{ call: "remember" }, "Done."]);
    const session = await sessionOf(provider).withToolshed(new ToolShed().tool(remember).pin("remember")).build();
    const events = await collect(session.runTurnStream("Remember it").events({ memory: true }));
    const told = events.map((event) => (event.type === "progress" ? event.progress.type : event.type));
    expect(told.indexOf("processingMemory")).toBe(told.indexOf("memory") - 1);
    expect(transcript(provider.requests[1]?.messages ?? []).at(-1)).toBe("system: Working memory:\n- The sky is blue.");
  });
});

describe("notes of a memory model", () => {
  it("are read from JSON wherever it stands, and from lists", () => {
    expect(parseNotes('```json\n["a", {"content": "b"}, 3]\n```')).toEqual(["a", "b", "3"]);
    expect(parseNotes("Notes:\n- a\n* b\n2. c\n\n")).toEqual(["Notes:", "a", "b", "c"]);
    expect(parseNotes('["a" "b"]')).toEqual(['["a" "b"]']);
    expect(parseNotes("")).toEqual([]);
  });
});
