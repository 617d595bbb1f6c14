import { ScriptedProvider } from "@shedkit/testing";
import { describe, expect, it } from "vitest";
import type { SessionObservation } from "../src/index.js";
import { echoTool, generationError, sessionOf } from "./helpers.js";

describe("an observer", () => {
  it("is told of turns, model calls and tool calls, each from its start to its end", async () => {
    const seen: SessionObservation[] = [];
    const provider = new ScriptedProvider([
      { call: "echo", arguments: { text: "a" } },
      ["Half", { fail: generationError("server") }],
    ]);
    const session = await sessionOf(provider, echoTool())
      .withObserver({ observe: (observation) => seen.push(observation) })
      .build();
    const turn = await session.runTurn("Hi", { metadata: { request: 7 } });
    expect(seen.map(({ type }) => type)).toEqual([
      "turnStarted",
      ...["modelCallStarted", "modelCallEnded", "toolCallStarted", "toolCallEnded"],
      ...["modelCallStarted", "modelCallEnded"],
      "turnEnded",
    ]);
    expect(new Set(seen.map(({ turnId }) => turnId))).toEqual(new Set([turn.id]));
    expect(seen[0]).toMatchObject({ metadata: { request: 7 } });
    expect(seen[1]).toMatchObject({ provider: "scripted", request: { model: { name: "m" } } });
    expect(seen[2]).toMatchObject({ finish: "toolUse", usage: { input: 10 }, outputs: [{ name: "echo" }] });
    expect(seen[3]).toMatchObject({ name: "echo", arguments: { text: "a" }, attempt: 1 });
    expect(seen[4]).toMatchObject({ outcome: "ok", content: [{ text: "echo: a" }] });
    expect(seen[6]).toMatchObject({ error: { code: "generation" }, outputs: [{ text: "Half" }] });
    expect(seen[7]).toMatchObject({ error: { code: "generation" }, usage: { input: 20 } });
  });

  it("is told of calls of the memory model too, which belong to no turn", async () => {
    const seen: SessionObservation[] = [];
    const session = await sessionOf(new ScriptedProvider(["Hello.", "A summary."]))
      .withObserver({ observe: (observation) => seen.push(observation) })
      .build();
    await session.ask(`Hi ${"words ".repeat(300)}`);
    await session.compact();
    expect(seen.slice(-2)).toMatchObject([
      { type: "modelCallStarted", turnId: "" },
      { type: "modelCallEnded", turnId: "", finish: "stop", usage: { input: 10 } },
    ]);
  });

  it("that throws changes nothing", async () => {
    const session = await sessionOf(new ScriptedProvider(["Hello."]))
      .withObserver({
        observe: () => {
          throw new Error("broken");
        },
      })
      .build();
    expect((await session.ask("Hi")).text).toBe("Hello.");
  });
});
