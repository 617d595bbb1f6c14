import { MemoryDocumentStore, type SessionLease } from "@shedkit/store";
import { Gate, ScriptedProvider } from "@shedkit/testing";
import type { SessionRecord } from "@shedkit/types";
import { describe, expect, it } from "vitest";
import type { TurnEvent } from "../src/index.js";
import { checkValid, collect, echoTool, hangingTool, sessionOf, transcript } from "./helpers.js";

describe("abort", () => {
  it("reaches a running model call, keeps what was said, and leaves the session usable", async () => {
    const gate = new Gate();
    const provider = new ScriptedProvider([["Half", { wait: gate }, " whole"], "Again."]);
    const session = await sessionOf(provider).build();
    const running = session.runTurn("Hi");
    await gate.reached;
    session.abort("enough");
    const turn = await running;
    expect(turn.text).toBe("Half");
    expect(turn.failure).toMatchObject({ code: "cancelled", details: { reason: "enough" } });
    expect(turn.usage?.input).toBe(10);
    expect((await session.ask("Go on")).text).toBe("Again.");
    expect(transcript(provider.requests[1]?.messages ?? [])).toEqual(["user: Hi", "text: Half", "user: Go on"]);
    await session.end();
  });

  it("reaches a running tool and gives its call a result", async () => {
    const hanging = hangingTool();
    const provider = new ScriptedProvider([{ call: "hang" }, "Fine."]);
    const session = await sessionOf(provider, hanging.tool).build();
    const running = session.runTurn("Hi");
    await hanging.started;
    session.abort();
    const turn = await running;
    expect(hanging.cancelled()).toBe(true);
    expect(turn.failure?.code).toBe("cancelled");
    expect(turn.toolResults()).toHaveLength(1);
    expect(turn.toolResults()[0]?.errorDetail).toBeDefined();
    await session.ask("Go on");
    checkValid(provider.requests[1]?.messages ?? []);
  });

  it("does not wait for a tool that does not hear its signal", async () => {
    let start: () => void = () => undefined;
    const started = new Promise<void>((resolve) => {
      start = resolve;
    });
    const deaf = hangingTool().tool;
    const provider = new ScriptedProvider([{ call: "hang" }, "Fine."]);
    const session = await sessionOf(provider, {
      definition: () => deaf.definition(),
      execute: () => {
        start();
        return new Promise(() => undefined);
      },
    }).build();
    const running = session.runTurn("Hi");
    await started;
    session.abort();
    const turn = await running;
    expect(turn.toolResults()).toHaveLength(1);
    expect(turn.failure?.code).toBe("cancelled");
  });

  it("comes from the signal of a turn too, also one that has aborted already", async () => {
    const gate = new Gate();
    const provider = new ScriptedProvider([["Half", { wait: gate }]]);
    const session = await sessionOf(provider).build();
    const controller = new AbortController();
    const running = session.runTurn("Hi", { signal: controller.signal });
    await gate.reached;
    controller.abort(new Error("the user left"));
    expect((await running).failure?.message).toContain("the user left");
    const none = await session.runTurn("Hi", { signal: AbortSignal.abort() });
    expect(none.failure?.code).toBe("cancelled");
    expect(provider.requests).toHaveLength(1);
  });
});

describe("steer", () => {
  it("discards the answer being written, says so, and asks again with the message", async () => {
    const gate = new Gate();
    const provider = new ScriptedProvider([["In French", { wait: gate }], "In German."]);
    const session = await sessionOf(provider).build();
    const stream = session.runTurnStream("Hi");
    const events: TurnEvent[] = [];
    const texts = (async () => {
      for await (const event of stream.events()) events.push(event);
    })();
    await gate.reached;
    session.steer("German, please");
    await texts;
    const turn = await stream.done();
    expect(turn.text).toBe("In German.");
    expect(events.map((event) => event.type).filter((type) => type !== "progress" && type !== "text")).toEqual([
      "retract",
      "done",
    ]);
    expect(transcript(provider.requests[1]?.messages ?? [])).toEqual(["user: Hi", "user: German, please"]);
    // what the discarded answer cost is counted
    expect(turn.usage?.input).toBe(20);
  });

  it("cancels running tools and gives every call of the step a result", async () => {
    const hanging = hangingTool();
    const provider = new ScriptedProvider([[{ call: "hang" }, { call: "hang" }], "Stopped."]);
    const session = await sessionOf(provider, hanging.tool).build();
    const running = session.runTurn("Hi");
    await hanging.started;
    session.steer("Stop that");
    const turn = await running;
    expect(turn.text).toBe("Stopped.");
    expect(turn.toolResults()).toHaveLength(2);
    const sent = provider.requests[1]?.messages ?? [];
    checkValid(sent);
    expect(transcript(sent).at(-1)).toBe("user: Stop that");
  });

  it("waits for the next turn when none is running", async () => {
    const provider = new ScriptedProvider(["Yes."]);
    const session = await sessionOf(provider).build();
    session.steer("Be short");
    session.followUp("And kind");
    await session.ask("Hi");
    expect(transcript(provider.requests[0]?.messages ?? [])).toEqual(["user: Be short", "user: And kind", "user: Hi"]);
  });
});

describe("followUp", () => {
  it("is worked on in the same turn, one message at a time", async () => {
    const gate = new Gate();
    const provider = new ScriptedProvider([["One", { wait: gate }], "Two", "Three"]);
    const session = await sessionOf(provider).build();
    const running = session.runTurn("1");
    await gate.reached;
    session.followUp("2");
    session.followUp("3");
    gate.open();
    const turn = await running;
    expect(turn.text).toBe("OneTwoThree");
    expect(transcript(await collect(session.messages()))).toEqual([
      "user: 1",
      "text: One",
      "user: 2",
      "text: Two",
      "user: 3",
      "text: Three",
    ]);
  });

  it("leaves what is past the outer limit for the next turn", async () => {
    const gate = new Gate();
    const provider = new ScriptedProvider([["One", { wait: gate }], "Two", "Three"]);
    const session = await sessionOf(provider).withConfig({ maxOuterIterations: 2 }).build();
    const stream = session.runTurnStream("1");
    const events = collect(stream.events());
    await gate.reached;
    for (const text of ["2", "3"]) session.followUp(text);
    gate.open();
    expect((await stream.done()).text).toBe("OneTwo");
    // it says so, before its end
    const told = (await events).filter((event) => event.type === "progress" || event.type === "done").slice(-3);
    expect(told).toMatchObject([
      { progress: { type: "outerLimit", limit: 2, waiting: 1 } },
      { progress: { type: "turnComplete" } },
      { type: "done" },
    ]);
    expect((await session.ask("4")).text).toBe("Three");
    expect(transcript(provider.requests[2]?.messages ?? []).slice(-2)).toEqual(["user: 3", "user: 4"]);
  });
});

describe("end", () => {
  it("ends a running turn, and refuses the next", async () => {
    const hanging = hangingTool();
    const provider = new ScriptedProvider([{ call: "hang" }]);
    const session = await sessionOf(provider, hanging.tool).build();
    const running = session.runTurn("Hi");
    await hanging.started;
    await Promise.all([session.end(), session.end()]);
    expect((await running).failure?.code).toBe("cancelled");
    await expect(session.runTurn("Hi")).rejects.toMatchObject({ code: "session" });
    expect(() => session.steer("Hi")).toThrow(/ended/);
    expect(provider.closed).toBe(false);
  });

  it("keeps what is queued for a session that resumes", async () => {
    const provider = new ScriptedProvider(["Yes."]);
    const builder = sessionOf(provider, echoTool());
    const session = await builder.build();
    session.followUp("Remember me");
    await session.end();
    const again = await builder.resume(session.sessionId).build();
    await again.ask("Hi");
    expect(transcript(provider.requests[0]?.messages ?? [])).toEqual(["user: Remember me", "user: Hi"]);
  });

  it("tells how many records are still on their way to the store", async () => {
    const gate = new Gate();
    class SlowStore extends MemoryDocumentStore {
      override async append(lease: SessionLease, records: readonly SessionRecord[]): Promise<number> {
        await gate.wait();
        return super.append(lease, records);
      }
    }
    const session = await sessionOf(new ScriptedProvider([])).withDocStore(new SlowStore()).build();
    const seen: unknown[] = [];
    const following = (async () => {
      for await (const event of session.subscribe()) {
        if (event.type === "progress") seen.push(event.progress);
        gate.open();
      }
    })();
    session.followUp("One");
    session.followUp("Two");
    await session.end();
    await following;
    expect(seen).toEqual([{ type: "flushingRecords", count: 2 }]);
    expect(await collect(session.docStore.read(session.sessionId))).toHaveLength(2);
  });
});
