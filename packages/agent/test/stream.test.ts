import type { ModelProvider } from "@shedkit/provider";
import { Gate, ScriptedProvider } from "@shedkit/testing";
import { FnTool } from "@shedkit/tool";
import { AgenticError } from "@shedkit/types";
import { describe, expect, it } from "vitest";
import type { SessionItem, StreamItem, TurnEvent, TurnStream } from "../src/index.js";
import { EventMapper } from "../src/turn/events.js";
import { collect, echoTool, generationError, sessionOf, transcript } from "./helpers.js";

describe("a turn stream", () => {
  it("starts at the call, whether it is read or not", async () => {
    const session = await sessionOf(new ScriptedProvider(["Hello."])).build();
    const stream = session.runTurnStream("Hi");
    const turn = await stream.done();
    expect(turn.id).toBe(stream.turnId);
    expect(turn.text).toBe("Hello.");
    // what nobody read is still there
    expect((await collect(stream.events())).at(-1)).toMatchObject({ type: "done" });
  });

  it("shows what a running tool tells the host", async () => {
    const tool = new FnTool("open", "Opens a page.", { type: "object" }, async (_, ctx) => {
      ctx.notify("opened", { page: 1 });
      return "open";
    });
    const provider = new ScriptedProvider([[{ call: "open", id: "c1" }], "Done."]);
    const session = await sessionOf(provider, tool).build();
    const events = await collect(session.runTurnStream("Hi").events());
    const shown = events.filter(({ type }) => type === "toolNotification" || type === "toolResult");
    expect(shown).toMatchObject([
      { type: "toolNotification", tool: "open", name: "opened", data: { page: 1 } },
      { type: "toolResult", name: "open" },
    ]);
    const [told, result] = shown as { toolCallId: string }[];
    expect(told?.toolCallId).toBe(result?.toolCallId);
  });

  it("has one reader", async () => {
    const session = await sessionOf(new ScriptedProvider(["Hello."])).build();
    const stream = session.runTurnStream("Hi");
    await collect(stream.text());
    expect(() => stream[Symbol.asyncIterator]()).toThrow(/one reader/);
    await expect(collect(stream.events())).rejects.toMatchObject({ code: "session" });
  });

  it("aborts the turn when its reader leaves, and is in order when the loop is left", async () => {
    const gate = new Gate();
    const provider = new ScriptedProvider([["Hello", { wait: gate }, " world"], "Still here."]);
    const session = await sessionOf(provider).build();
    for await (const event of session.runTurnStream("Hi").events()) if (event.type === "text") break;
    // no turn is running any more
    expect((await session.ask("Hi")).text).toBe("Still here.");
    expect(transcript(provider.requests[1]?.messages ?? [])).toEqual(["user: Hi", "text: Hello", "user: Hi"]);
  });

  it("can be left while it waits for the next item", async () => {
    const readers: ((stream: TurnStream) => AsyncIterable<unknown>)[] = [
      (stream) => stream,
      (stream) => stream.events(),
      (stream) => stream.text(),
    ];
    for (const reader of readers) {
      const gate = new Gate();
      const session = await sessionOf(new ScriptedProvider([["Hello", { wait: gate }]])).build();
      const stream = session.runTurnStream("Hi");
      const items = reader(stream)[Symbol.asyncIterator]();
      await gate.reached;
      let waiting = items.next();
      const nothing = () => new Promise<"nothing">((resolve) => setImmediate(() => resolve("nothing")));
      for (let read = 0; read < 100; read++) {
        if ((await Promise.race([waiting, nothing()])) === "nothing") break;
        waiting = items.next();
      }
      await items.return?.();
      expect(await waiting).toEqual({ done: true, value: undefined });
      expect((await stream.done()).failure?.code).toBe("cancelled");
    }
  });

  it("ends in the very error that was thrown; a later reader of the log gets one that says the same", async () => {
    const cause = new Error("connect ECONNREFUSED", { cause: new TypeError("socket") });
    const details = { kind: "badRequest", provider: "scripted", model: "m" } as const;
    const error = new AgenticError("generation", "No answer.", details, { cause });
    const session = await sessionOf(new ScriptedProvider([{ fail: error }])).build();
    const stream = session.runTurnStream("Hi");
    const failed = (await collect(stream.events())).at(-1);
    expect(failed?.type === "failed" && failed.error).toBe(error);
    expect((await stream.done()).failure).toBe(error);

    const record = (await collect(session.docStore.read(session.sessionId))).at(-1)?.record;
    const stored = JSON.parse(JSON.stringify(record));
    const read = new EventMapper().map({ type: "record", record: stored });
    if (read?.type !== "failed") throw new Error(`a failure was stored, not ${JSON.stringify(stored)}`);
    expect(read.error.toJSON()).toEqual(error.toJSON());
    expect(read.error.stack).toBe("AgenticError: No answer.");
    expect(read.error.cause).toMatchObject({ name: "Error", message: "connect ECONNREFUSED" });
    expect((read.error.cause as Error).cause).toMatchObject({ name: "TypeError", message: "socket" });
  });

  it("refuses a second turn meanwhile", async () => {
    const gate = new Gate();
    const session = await sessionOf(new ScriptedProvider([["Hello", { wait: gate }]])).build();
    const stream = session.runTurnStream("Hi");
    await gate.reached;
    await expect(session.runTurn("Hi")).rejects.toMatchObject({
      code: "turnInProgress",
      details: { turnId: stream.turnId },
    });
    expect(() => session.runTurnStream("Hi")).toThrow(/A turn is running/);
    gate.open();
    expect((await stream.done()).text).toBe("Hello");
  });

  it("gives records only once they are in the store", async () => {
    const session = await sessionOf(
      new ScriptedProvider([{ call: "echo", arguments: { text: "a" } }, "Done."]),
      echoTool(),
    ).build();
    for await (const item of session.runTurnStream("Hi")) {
      if (item.type !== "record") continue;
      const stored = await collect(session.docStore.read(session.sessionId));
      expect(stored.some(({ record }) => record.id === item.record.id)).toBe(true);
    }
  });

  it("tells text as it comes, and a call before its result", async () => {
    const provider = new ScriptedProvider(
      [[{ thinking: "Hm." }, "Let me see. ", { call: "echo", arguments: { text: "a" } }], "Done."],
      { chunkSize: 100 },
    );
    const session = await sessionOf(provider, echoTool()).build();
    const events = await collect(session.runTurnStream("Hi").events({ toolDeltas: true }));
    const shown = events.filter((event) => event.type !== "progress");
    expect(shown).toMatchObject([
      { type: "thinking", delta: "Hm." },
      { type: "text", delta: "Let me see. " },
      { type: "toolCallDelta", id: "call_1", json: '{"text":"a"}' },
      { type: "toolCall", id: "call_1", name: "echo", arguments: { text: "a" } },
      { type: "toolResult", toolCallId: "call_1", name: "echo" },
      { type: "text", delta: "Done." },
      { type: "done", summary: { messageCount: 6, usage: { input: 20 } } },
    ]);
  });

  it("tells the text of a provider that sends no deltas", async () => {
    const provider = new ScriptedProvider([{ output: { type: "text", text: "All at once." } }]);
    const session = await sessionOf(provider).build();
    const events = await collect(session.runTurnStream("Hi").events());
    expect(events.filter((event) => event.type === "text")).toEqual([{ type: "text", delta: "All at once." }]);
  });

  it("ends with exactly one terminal event, behind what was said", async () => {
    const provider = new ScriptedProvider([["Half ", { fail: generationError("server") }], "Whole."]);
    const session = await sessionOf(provider).build();
    const terminal = (events: TurnEvent[]) =>
      events.filter((event) => event.type === "done" || event.type === "failed");
    const failed = await collect(session.runTurnStream("Hi").events());
    expect(terminal(failed)).toEqual([failed.at(-1)]);
    expect(failed.at(-1)).toMatchObject({
      type: "failed",
      error: { code: "generation", details: { kind: "server" } },
      usage: { input: 10 },
    });
    const done = await collect(session.runTurnStream("Hi").events());
    expect(terminal(done)).toEqual([done.at(-1)]);
  });

  it("gives the text so far, retractions applied", async () => {
    const gate = new Gate();
    const provider = new ScriptedProvider(
      [["Let me see. ", { call: "echo", arguments: { text: "a" } }], ["Wrong", { wait: gate }], "Right."],
      { chunkSize: 100 },
    );
    const session = await sessionOf(provider, echoTool()).build();
    const stream = session.runTurnStream("Hi");
    const texts = collect(stream.text());
    await gate.reached;
    session.steer("No");
    expect(await texts).toEqual(["Let me see. ", "Let me see. Wrong", "Let me see. ", "Let me see. Right."]);
    expect((await stream.done()).text).toBe("Let me see. Right.");
  });

  it("shows what a backend warns of, once a turn", async () => {
    const scripted = new ScriptedProvider([[{ call: "echo", arguments: { text: "a" } }], "Done."]);
    const provider: ModelProvider = {
      id: scripted.id,
      serves: (model) => scripted.serves(model),
      async *stream(request) {
        for await (const event of scripted.stream(request)) {
          if (event.type === "start") yield { type: "start", warnings: [{ tool: "echo", message: "not all is said" }] };
          else if (event.type === "finish") yield { ...event, warnings: [{ message: `it ended for ${event.reason}` }] };
          else yield event;
        }
      },
    };
    const session = await sessionOf(provider, echoTool()).build();
    const items: StreamItem[] = await collect(session.runTurnStream("Hi"));
    const progress = items.flatMap((item) => (item.type === "progress" ? [item.progress] : []));
    expect(progress.filter(({ type }) => type === "modelWarning")).toMatchObject([
      { tool: "echo", message: "not all is said" },
      { message: "it ended for toolUse" },
      { message: "it ended for stop" },
    ]);
  });

  it("tells of a model being loaded", async () => {
    const provider = new ScriptedProvider([[{ loading: 1, total: 4 }, { loading: 4, total: 4 }, "Hello."]]);
    const session = await sessionOf(provider).build();
    const items: StreamItem[] = await collect(session.runTurnStream("Hi"));
    expect(items).toContainEqual({
      type: "progress",
      progress: { type: "loadingModel", what: "load", bytesDone: 1, bytesTotal: 4 },
    });
  });

  it("tells of a prompt being read", async () => {
    const provider = new ScriptedProvider([[{ evaluating: 64, total: 90 }, "Hello."]]);
    const session = await sessionOf(provider).build();
    const items: StreamItem[] = await collect(session.runTurnStream("Hi"));
    const progress = { type: "evaluatingPrompt", tokensDone: 64, tokensTotal: 90 };
    expect(items).toContainEqual({ type: "progress", progress });
  });
});

describe("subscribe", () => {
  it("follows a session over turns, for several listeners, until it ends", async () => {
    const session = await sessionOf(new ScriptedProvider(["One.", "Two."])).build();
    const followers = [collect(session.subscribe()), collect(session.subscribe())];
    const first = await session.runTurn("1");
    const second = await session.runTurn("2");
    await session.end();
    for (const events of await Promise.all(followers)) {
      const shown = events.filter((event) => event.type === "text" || event.type === "done");
      expect(shown.map((event) => [event.type, event.turnId])).toEqual([
        ["text", first.id],
        ["done", first.id],
        ["text", second.id],
        ["done", second.id],
      ]);
    }
  });

  it("goes on behind any event, with nothing lost and nothing said twice", async () => {
    const gate = new Gate();
    const provider = new ScriptedProvider(
      [[{ call: "echo", arguments: { text: "a" } }], ["This is the ", { wait: gate }, "whole answer."], "Two."],
      { chunkSize: 3 },
    );
    const session = await sessionOf(provider, echoTool()).build();
    const whole = collect(session.subscribe({ after: "" }));
    const running = session.runTurn("1");
    await gate.reached;
    const early = session.subscribe({ after: "" })[Symbol.asyncIterator]();
    const seen = [];
    for (;;) {
      const next = await early.next();
      if (next.done) break;
      seen.push(next.value);
      if (next.value.type === "text" && next.value.delta.includes("e")) break;
    }
    await early.return?.();
    gate.open();
    await running;
    await session.runTurn("2");
    const rest = collect(session.subscribe({ after: seen.at(-1)?.id ?? "" }));
    await session.end();
    const said = (events: { type: string; delta?: string }[]) =>
      events.map((event) => (event.type === "text" ? event.delta : event.type === "progress" ? "" : `[${event.type}]`));
    const joined = [...said(seen), ...said(await rest)].join("");
    expect(joined).toBe(said(await whole).join(""));
    expect(joined).toBe("[toolCall][toolResult]This is the whole answer.[done]Two.[done]");
  });

  it("goes on behind any raw item: records whole, deltas from there, also across what was queued meanwhile", async () => {
    const gate = new Gate();
    const provider = new ScriptedProvider(
      [
        [{ thinking: "hm" }, { call: "echo", arguments: { text: "a" } }],
        ["This is the ", { wait: gate }, "answer."],
        "Two.",
      ],
      { chunkSize: 3 },
    );
    const session = await sessionOf(provider, echoTool()).build();
    const whole = collect(session.items({ after: "" }));
    const running = session.runTurn("1");
    await gate.reached;
    session.followUp("more");
    gate.open();
    await running;
    await session.end();
    const items = await whole;
    const said = (all: SessionItem[]) =>
      all.flatMap((item) => (item.type === "record" ? [item.record.id] : item.type === "delta" ? [...item.text] : []));
    expect(items.flatMap((item) => (item.type === "record" ? [item.record.type] : []))).toContain("queued");
    expect(
      said(items)
        .filter((text) => text.length === 1)
        .join(""),
    ).toContain("This is the answer.Two.");
    const records = said(items).filter((text) => text.length > 1);
    for (const [i, { id }] of items.entries()) {
      const seen = said(items.slice(0, i + 1)).filter((text) => text.length > 1);
      const again = await sessionOf(provider, echoTool())
        .withDocStore(session.docStore)
        .resume(session.sessionId)
        .build();
      const rest = collect(again.items({ after: id }));
      await again.end();
      expect([...seen, ...said(await rest)]).toEqual(records);
    }
  });

  it("leaves out what was seen of a running step, whatever was stored in its middle", async () => {
    const gate = new Gate();
    const session = await sessionOf(new ScriptedProvider([["Hello", { wait: gate }, " world"]])).build();
    const running = session.runTurn("Hi");
    await gate.reached;
    const first = session.items()[Symbol.asyncIterator]();
    const seen = (await first.next()).value as SessionItem;
    expect(seen).toMatchObject({ type: "delta", text: "Hello" });
    session.followUp("and then?");
    const queued = (await first.next()).value as SessionItem;
    expect(queued).toMatchObject({ type: "record", record: { type: "queued" } });
    const followers = [seen, queued].map(({ id }) => session.items({ after: id })[Symbol.asyncIterator]());
    const events = session.subscribe({ after: queued.id })[Symbol.asyncIterator]();
    expect((await followers[0]?.next())?.value).toMatchObject({ type: "record", record: { type: "queued" } });
    gate.open();
    for (const follower of [...followers, events]) {
      const { value } = await follower.next();
      expect(value).toMatchObject(follower === events ? { type: "text", delta: " world" } : { text: " world" });
    }
    session.abort();
    await running;
    for (const follower of [first, ...followers, events]) await follower.return?.();
    await session.end();
  });

  it("tells a listener that comes in the middle of a step the whole of it", async () => {
    const gate = new Gate();
    const session = await sessionOf(new ScriptedProvider([["Hello", { wait: gate }, " world"]])).build();
    const running = session.runTurn("Hi");
    await gate.reached;
    const late = collect(session.subscribe());
    gate.open();
    await running;
    await session.end();
    const text = (await late).map((event) => (event.type === "text" ? event.delta : "")).join("");
    expect(text).toBe("Hello world");
  });

  it("can be left while it waits", async () => {
    const session = await sessionOf(new ScriptedProvider([])).build();
    const events = session.subscribe()[Symbol.asyncIterator]();
    const waiting = events.next();
    await events.return?.();
    expect(await waiting).toEqual({ done: true, value: undefined });
  });

  it("ends when its signal aborts", async () => {
    const session = await sessionOf(new ScriptedProvider([])).build();
    const controller = new AbortController();
    const events = collect(session.subscribe({ signal: controller.signal }));
    controller.abort();
    expect(await events).toEqual([]);
    expect(await collect(session.subscribe({ signal: controller.signal }))).toEqual([]);
  });
});
