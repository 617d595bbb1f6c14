import { ScriptedProvider } from "@shedkit/testing";
import type { TypedSchema } from "@shedkit/tool";
import { describe, expect, expectTypeOf, it } from "vitest";
import { echoTool, generationError, sessionOf, transcript } from "./helpers.js";

type Person = { name: string; age: number };
const person = {
  type: "object",
  properties: { name: { type: "string" }, age: { type: "integer" } },
  required: ["name", "age"],
} as unknown as TypedSchema & { static: Person };

describe("ask", () => {
  it("gives the text", async () => {
    const session = await sessionOf(new ScriptedProvider(["Hello."])).build();
    const answer = await session.ask("Hi");
    expect(answer).toMatchObject({ type: "complete", isComplete: true, text: "Hello.", usage: { input: 10 } });
    expect(answer.intoResult()).toBe("Hello.");
  });

  it("with a schema gives the final answer as a value, tools on the way", async () => {
    const provider = new ScriptedProvider([
      ["Let me see. ", { call: "echo", arguments: { text: "a" } }],
      '```json\n{"name":"Ada","age":36}\n```',
    ]);
    const session = await sessionOf(provider, echoTool()).build();
    const answer = await session.ask("Who?", { output: person });
    expectTypeOf(answer).toHaveProperty("usage");
    if (answer.type === "complete") expectTypeOf(answer.value).toEqualTypeOf<Person>();
    expect(answer).toMatchObject({ type: "complete", value: { name: "Ada", age: 36 } });
    expect(provider.requests[1]?.output).toBe(person);
    expect(provider.requests[1]?.tools.tools).toHaveLength(1);
  });

  it("asks the backend for the schema in a turn that streams, too", async () => {
    const provider = new ScriptedProvider(['{"name":"Ada","age":36}']);
    const session = await sessionOf(provider).build();
    const turn = await session.runTurnStream("Who?", { output: person }).done();
    expect(turn.text).toBe('{"name":"Ada","age":36}');
    expect(provider.requests[0]?.output).toBe(person);
  });

  it("shows the model what does not fit, and takes the mended answer", async () => {
    const provider = new ScriptedProvider(["Ada, 36", '{"name":"Ada","age":"old"}', '{"name":"Ada","age":36}']);
    const session = await sessionOf(provider).build();
    const answer = await session.ask("Who?", { output: person });
    expect(answer).toMatchObject({ value: { name: "Ada", age: 36 }, usage: { input: 30 } });
    expect(transcript(provider.requests[1]?.messages ?? []).at(-1)).toContain("not JSON");
    expect(transcript(provider.requests[2]?.messages ?? []).at(-1)).toContain("age");
  });

  it("fails where no answer fits, and where the turn fails", async () => {
    const session = await sessionOf(
      new ScriptedProvider(["a", "b", "c", [{ fail: generationError("server") }]]),
    ).build();
    expect(await session.ask("Who?", { output: person })).toMatchObject({
      type: "failed",
      partialText: "c",
      error: { code: "generation" },
    });
    expect(await session.ask("Who?", { output: person })).toMatchObject({ error: { details: { kind: "server" } } });
  });

  it("refuses an empty prompt, and one that no user said", async () => {
    const session = await sessionOf(new ScriptedProvider(["Hello."])).build();
    await expect(session.ask(" \n")).rejects.toThrow(/empty/);
    const turn = await session.runTurn("Hi");
    const said = turn.records[1];
    if (said?.type !== "conversation") throw new Error("no answer");
    await expect(session.ask(said.message)).rejects.toThrow(/user message/);
  });

  it("takes a refusal of the model for a failure", async () => {
    const provider = new ScriptedProvider([
      { parts: [{ output: { type: "refusal", text: "I will not." } }], finish: "refusal" },
    ]);
    const session = await sessionOf(provider).build();
    const answer = await session.ask("Do it");
    expect(answer).toMatchObject({ type: "failed", error: { message: "I will not.", details: { kind: "refusal" } } });
  });
});
