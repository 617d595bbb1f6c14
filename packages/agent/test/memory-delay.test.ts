import type { ModelProvider, ModelRequest } from "@shedkit/provider";
import { ScriptedProvider } from "@shedkit/testing";
import { describe, expect, it } from "vitest";
import type { TurnEvent } from "../src/index.js";
import { collect, echoTool, generationError, sessionOf } from "./helpers.js";

/** Hangs until its signal aborts. */
const aborted = ({ signal }: ModelRequest) =>
  new Promise<never>((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason), { once: true }));

/** A backend whose memory model is `stream`, and the calls of that. */
function withMemory(stream: ModelProvider["stream"], describe?: ModelProvider["describe"]) {
  const answers = new ScriptedProvider((_, i) =>
    i % 2 === 0 ? ["I look. ", { call: "echo", arguments: { text: `${i}` } }] : `Answer ${i}.`,
  );
  const asked: ModelRequest[] = [];
  const provider: ModelProvider = {
    id: "both",
    serves: () => "yes",
    ...(describe && { describe }),
    stream: (request) => {
      if (request.model.name !== "memory") return answers.stream(request);
      asked.push(request);
      return stream(request);
    },
  };
  return { provider, asked };
}

const memories: [string, () => ReturnType<typeof withMemory>, boolean][] = [
  [
    "never answers",
    () =>
      withMemory(async function* (request) {
        yield { type: "start", warnings: [] };
        await aborted(request);
      }),
    true,
  ],
  [
    "fails",
    () =>
      withMemory(async function* () {
        yield { type: "failure", error: generationError("server", true) };
      }),
    true,
  ],
  [
    "throws",
    () =>
      withMemory(() => {
        throw new Error("it broke");
      }),
    true,
  ],
  [
    "cannot say what it is",
    () =>
      withMemory(
        async function* () {},
        () => new Promise(() => undefined),
      ),
    false,
  ],
];

/** Two turns, and how often anything but the turn itself was waited for: the event loop came round meanwhile. */
async function turns(provider: ModelProvider, observationTriggerTokens: number) {
  const builder = sessionOf(provider, echoTool()).withMemoryModel("memory").withContextConfig({ window: 100_000 });
  const session = await builder.withMemoryConfig({ observationTriggerTokens }).build();
  const events: TurnEvent[] = [];
  let rounds = 0;
  for (const text of ["1", "2"]) {
    let over = false;
    const count = () => {
      if (over) return;
      rounds++;
      setImmediate(count);
    };
    setImmediate(count);
    const stream = session.runTurnStream(text);
    const shown = collect(stream.events());
    await stream.done();
    over = true;
    events.push(...(await shown));
  }
  return { events, rounds, session };
}

const isMemory = (event: TurnEvent) => event.type === "progress" && event.progress.type === "processingMemory";

describe("an answer does not wait for a memory model that", () => {
  it.each(memories)("%s", async (_, make, isAsked) => {
    // What is imported at the first use is there then.
    await import("../src/memory/memory.js");
    await import("../src/loop/loop-detection.js");
    const without = await turns(make().provider, 0);
    expect(without.rounds).toBe(0);
    const { provider, asked } = make();
    const { events, rounds, session } = await turns(provider, 1);
    // Whatever is not there at once, a timer, a file, a network, takes a round of the event loop at least.
    expect(rounds).toBe(0);
    expect(events.filter(isMemory)).not.toEqual([]);
    expect(events.filter((event) => !isMemory(event))).toEqual(without.events);
    await session.end();
    await without.session.end();
    expect(asked.length > 0).toBe(isAsked);
  });
});
