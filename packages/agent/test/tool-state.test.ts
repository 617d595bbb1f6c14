import { MemoryDocumentStore } from "@shedkit/store";
import { ScriptedProvider } from "@shedkit/testing";
import { defineTool, type TypedSchema } from "@shedkit/tool";
import { describe, expect, it } from "vitest";
import { collect, sessionOf, transcript } from "./helpers.js";

const schema = <T>(json: object) => json as unknown as TypedSchema & { static: T };

/** Counts its calls. */
const counter = () =>
  defineTool({
    id: "counter",
    kind: "other",
    description: "Counts.",
    input: schema<Record<string, never>>({ type: "object", properties: {} }),
    state: {
      schema: schema<{ n: number }>({ type: "object", properties: { n: { type: "integer" } } }),
      version: 1,
      initial: () => ({ n: 0 }),
    },
    run: (_, ctx) => {
      const n = ctx.state.get().n + 1;
      ctx.state.set({ n });
      return `count ${n}`;
    },
  });

describe("what a tool remembers", () => {
  it("is in the log before the result that tells of it, and is there after a resume and in a fork", async () => {
    const docStore = new MemoryDocumentStore();
    const provider = new ScriptedProvider((_, index) => (index % 2 === 0 ? { call: "counter" } : "Done."));
    const builder = sessionOf(provider, counter()).withDocStore(docStore).withSessionId("s");
    const session = await builder.build();
    const first = await session.runTurn("1");
    const types = [...first].map((record) => record.type);
    expect(types.slice(types.indexOf("toolStarted"))).toEqual([
      "toolStarted",
      "toolState",
      "conversation",
      "toolFinished",
      "conversation",
      "step",
      "summary",
    ]);
    await session.runTurn("2");
    const fork = await session.fork(first.at(-1)?.id ?? "");
    await fork.runTurn("2 again");
    await session.end();
    const again = await builder.build();
    await again.runTurn("3");
    const counts = async (messages: AsyncIterable<Parameters<typeof transcript>[0][number]>) =>
      transcript(await collect(messages)).filter((line) => line.startsWith("counter ->"));
    expect(await counts(again.messages())).toEqual(["counter -> count 1", "counter -> count 2", "counter -> count 3"]);
    expect(await counts(fork.messages())).toEqual(["counter -> count 1", "counter -> count 2"]);
  });

  it("must fit its schema: what does not fails the call, by the field, and what was there stays", async () => {
    const careless = defineTool({
      id: "careless",
      kind: "other",
      description: "Remembers what it is given.",
      input: schema<{ value: unknown }>({ type: "object", properties: { value: {} }, required: ["value"] }),
      state: {
        schema: schema<{ n: number }>({ type: "object", properties: { n: { type: "integer" } }, required: ["n"] }),
        version: 1,
        initial: () => ({ n: 7 }),
      },
      run: ({ value }, ctx) => {
        ctx.state.set(value as never);
        return JSON.stringify(ctx.state.get());
      },
    });
    const calls = [{ n: "many" }, {}, { n: Number.NaN }, { n: 8 }];
    const provider = new ScriptedProvider((_, i) => {
      const value = calls[i];
      return value ? { call: "careless", arguments: { value: i === 2 ? "no object" : value } as never } : "Done.";
    });
    const session = await sessionOf(provider, careless).build();
    const turn = await session.runTurn("Go");
    expect(turn.toolResults().map(({ errorDetail }) => errorDetail)).toEqual([
      "execution",
      "execution",
      "execution",
      undefined,
    ]);
    const [first = "", second = "", , last = ""] = turn
      .toolResults()
      .map(({ content: [part] }) => (part?.type === "text" ? part.text : ""));
    expect(first).toMatch(/careless wanted to remember what its state schema does not allow:\n- n: .*many/);
    expect(second).toMatch(/- n: /);
    expect(last).toBe('{"n":8}');
    expect(turn.records.filter((record) => record.type === "toolState")).toMatchObject([{ value: { n: 8 } }]);
    // also where no session keeps it
    await expect(careless.call({ value: { n: "many" } })).rejects.toMatchObject({ kind: "execution" });
    expect(await careless.call({ value: { n: 9 } })).toBe('{"n":9}');
  });
});
