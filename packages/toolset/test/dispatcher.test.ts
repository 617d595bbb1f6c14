import {
  defineCommands,
  defineTool,
  FnTool,
  keptResults,
  Resources,
  ToolCallResult,
  ToolError,
  type ToolImpl,
} from "@shedkit/tool";
import { bindTool, Dispatcher, externalTool, loadValidator, MemoryKeptResults } from "@shedkit/toolset";
import { Type } from "@sinclair/typebox";
import { describe, expect, onTestFinished, test, vi } from "vitest";

const validator = await loadValidator();

function dispatcher(...tools: ToolImpl[]) {
  const bound = new Map(tools.map((tool) => bindTool(tool, { validator })).map((tool) => [tool.name, tool]));
  const resources = new Resources();
  return { resources, dispatcher: new Dispatcher({ find: (name) => bound.get(name), resources }) };
}

const echo = new FnTool("echo", "Says it again.", Type.Object({ text: Type.String() }), async (args) =>
  args.str("text"),
);

function raw(name: string, execute: ToolImpl["execute"]): ToolImpl {
  return {
    definition: () => ({
      type: "single",
      definition: { name, category: "other", description: name, arguments: { type: "object" } },
    }),
    execute,
  };
}

test("a call finds its tool, runs it and gives the model's text", async () => {
  const { dispatcher: d } = dispatcher(echo);
  const outcome = await d.run({ id: "1", name: "echo", arguments: { text: "hi" } });
  expect(outcome.promptText).toBe("hi");
  expect(outcome.error).toBeUndefined();
  expect(outcome.repaired).toBeUndefined();
});

test("what was repaired is told", async () => {
  const { dispatcher: d } = dispatcher(echo);
  const outcome = await d.run({ id: "1", name: "echo", arguments: '{"text": 12345678901234567890}' });
  expect(outcome.promptText).toBe("12345678901234567890");
  expect(outcome.repaired).toHaveLength(1);
});

test("an unknown tool and arguments that do not fit are outcomes, not exceptions", async () => {
  const { dispatcher: d } = dispatcher(echo);
  expect((await d.run({ id: "1", name: "nope", arguments: {} })).error?.kind).toBe("unknownTool");
  const outcome = await d.run({ id: "1", name: "echo", arguments: "{" });
  expect(outcome.error?.kind).toBe("invalidArguments");
  expect(outcome.promptText).toContain("broken off");
});

describe("a tool that misbehaves gets an error, and the next call works", () => {
  const cyclic: { self?: unknown } = {};
  cyclic.self = cyclic;
  const cases: [string, ToolImpl["execute"], string][] = [
    [
      "throws",
      () => {
        throw new Error("boom");
      },
      "boom",
    ],
    ["rejects with a string", () => Promise.reject("plain"), "plain"],
    ["rejects with undefined", () => Promise.reject(undefined), "undefined"],
    [
      "has no terminal",
      async function* () {
        yield { type: "progress" };
      },
      "stream_no_terminal",
    ],
    [
      "has two terminals",
      async function* () {
        yield { type: "result", result: ToolCallResult.text("a") };
        yield { type: "result", result: ToolCallResult.text("b") };
      },
      "stream_after_terminal",
    ],
    ["is cyclic", async () => new ToolCallResult([], { output: cyclic as never }), "contains itself"],
    ["gives nothing", async () => undefined as never, "no result"],
    [
      "gives a bigint",
      async () => new ToolCallResult([], { output: 5n as never }),
      "bad gave a result that is not JSON",
    ],
    ["gives a function", async () => new ToolCallResult([], { output: (() => 1) as never }), "a function"],
    ["gives a function inside", async () => new ToolCallResult([], { output: { a: [() => 1] } as never }), "bad gave"],
    ["gives NaN", async () => new ToolCallResult([], { output: Number.NaN }), "the number NaN"],
    ["gives Infinity inside", async () => new ToolCallResult([], { output: { a: 1 / 0 } }), "the number Infinity"],
    ["gives a part that is none", async () => new ToolCallResult([{ type: "zebra" } as never]), "content.0 is no text"],
    ["gives a text that is none", async () => new ToolCallResult([{ type: "text", text: 5 } as never]), "bad gave"],
    ["gives a text without text", async () => new ToolCallResult([{ type: "text" } as never]), "bad gave"],
    ["gives null as a part", async () => new ToolCallResult([null as never]), "bad gave"],
    ["gives an image of nowhere", async () => new ToolCallResult([{ type: "image", source: {} } as never]), "bad gave"],
    ["gives content that is no list", async () => ({ content: "text" }) as never, "no list"],
    ["gives an object as detail", async () => new ToolCallResult([], { errorDetail: {} as never }), "errorDetail"],
  ];
  test.each(cases)("%s", async (_, execute, text) => {
    const { dispatcher: d } = dispatcher(raw("bad", execute), echo);
    const outcome = await d.run({ id: "1", name: "bad", arguments: {} });
    expect(outcome.error).toBeInstanceOf(ToolError);
    expect(outcome.promptText).toContain(text);
    expect((await d.run({ id: "2", name: "echo", arguments: { text: "ok" } })).promptText).toBe("ok");
  });

  test("never settles: stopped when its time is up", async () => {
    vi.useFakeTimers();
    const { dispatcher: d } = dispatcher(raw("stuck", () => new Promise(() => {})));
    const running = d.run({ id: "1", name: "stuck", arguments: {} });
    await vi.advanceTimersByTimeAsync(120_000);
    expect((await running).error?.kind).toBe("timeout");
    expect(vi.getTimerCount()).toBe(0);
    vi.useRealTimers();
  });
});

test("a cancelled call ends at once, even if the tool does not notice", async () => {
  const controller = new AbortController();
  const { dispatcher: d } = dispatcher(raw("stuck", () => new Promise(() => {})));
  const running = d.run({ id: "1", name: "stuck", arguments: {} }, { signal: controller.signal });
  controller.abort();
  expect((await running).error?.kind).toBe("cancelled");
});

test("a reader that leaves stops the tool", async () => {
  let stopped = false;
  const tool = raw("endless", async function* (_, ctx) {
    ctx.signal.addEventListener("abort", () => {
      stopped = true;
    });
    while (!ctx.signal.aborted) yield { type: "progress", text: "." };
  });
  const { dispatcher: d } = dispatcher(tool);
  for await (const _ of d.stream({ id: "1", name: "endless", arguments: {} })) break;
  expect(stopped).toBe(true);
});

test("a result that its schema does not allow is the tool's fault", async () => {
  const tool = raw("liar", async () => new ToolCallResult([], { output: { n: "x" } }));
  const lying: ToolImpl = {
    ...tool,
    definition: () => ({
      type: "single",
      definition: {
        name: "liar",
        category: "other",
        description: "",
        arguments: { type: "object" },
        returns: { type: "object", properties: { n: { type: "number" } } },
      },
    }),
  };
  const { dispatcher: d } = dispatcher(lying);
  const outcome = await d.run({ id: "1", name: "liar", arguments: {} });
  expect(outcome.error?.kind).toBe("execution");
  expect(outcome.promptText).toContain("n: wanted a number");
});

test("a long result is cut head and tail, and the whole kept under its handle", async () => {
  const text = Array.from({ length: 20_000 }, (_, i) => `line ${i} ä€𝄞`).join("\n");
  const { dispatcher: d, resources } = dispatcher(new FnTool("long", "", { type: "object" }, async () => text));
  const outcome = await d.run({ id: "c1", name: "long", arguments: {} });
  expect(new TextEncoder().encode(outcome.promptText).length).toBeLessThan(40_200);
  expect(outcome.promptText.startsWith("line 0 ä€𝄞\n")).toBe(true);
  expect(outcome.promptText.endsWith("line 19999 ä€𝄞")).toBe(true);
  expect(outcome.promptText).not.toContain("\ufffd");
  expect(outcome.promptText).toContain(outcome.handle);
  expect(resources.require(keptResults).get(outcome.handle ?? "")).toBe(text);
});

test("a result from elsewhere may be half as long", async () => {
  const answer = (bytes: number) =>
    externalTool({
      server: "far",
      name: "read",
      description: "",
      call: async () => ({ content: [{ type: "text", text: "x".repeat(bytes) }] }),
    });
  for (const [bytes, cut] of [
    [20_000, false],
    [20_001, true],
  ] as const) {
    const { dispatcher: d, resources } = dispatcher(answer(bytes));
    const outcome = await d.run({ id: "1", name: "far__read", arguments: {} });
    expect(outcome.handle !== undefined).toBe(cut);
    expect(outcome.promptText.length).toBeLessThan(20_200);
    if (cut) expect(resources.require(keptResults).get(outcome.handle ?? "")).toHaveLength(bytes);
  }
});

test("kept results make room, the oldest first, but never for the newest alone", () => {
  const kept = new MemoryKeptResults(10);
  const [a, b, c] = ["a", "b", "c"].map((id) => kept.keep(id, id.repeat(4)));
  expect([a, b, c].map((handle) => kept.get(handle ?? ""))).toEqual([undefined, "bbbb", "cccc"]);
  expect(kept.keep("b", "again")).toBe(b);
  expect(kept.get(b ?? "")).toBe("again");
  const long = kept.keep("d", "d".repeat(100));
  expect([b, c, long].map((handle) => kept.get(handle ?? "")?.length)).toEqual([undefined, undefined, 100]);
});

test("progress comes in order, then one end; a tool without one gets an error, streamed or not", async () => {
  const steps = raw("steps", async function* () {
    yield { type: "progress", text: "1" };
    yield { type: "progress", data: 2 };
    yield { type: "result", result: ToolCallResult.text("3") };
  });
  const empty = raw("empty", async function* () {});
  const { dispatcher: d } = dispatcher(steps, empty);
  const events = async (name: string) => {
    const all = [];
    for await (const event of d.stream({ id: "1", name, arguments: {} })) all.push(event);
    return all;
  };
  expect(await events("steps")).toMatchObject([
    { type: "progress", text: "1" },
    { type: "progress", data: 2 },
    { type: "done", outcome: { promptText: "3" } },
  ]);
  expect((await d.run({ id: "1", name: "steps", arguments: {} })).promptText).toBe("3");
  const [only, ...more] = await events("empty");
  expect(only).toMatchObject({ type: "done", outcome: { promptText: expect.stringContaining("stream_no_terminal") } });
  expect(more).toEqual([]);
  expect((await d.run({ id: "1", name: "empty", arguments: {} })).promptText).toContain("stream_no_terminal");
});

test("a fault is cut too, wherever its text came from", async () => {
  const long = "é\n".repeat(1_000_000);
  const thrown = raw("thrown", () => Promise.reject(new Error(long)));
  const own = raw("own", () => Promise.reject(new ToolError("network", "own", long, { retryable: true, status: 502 })));
  const failure = raw("failure", async () => ToolCallResult.failure(long));
  const { dispatcher: d, resources } = dispatcher(thrown, own, failure);
  for (const name of ["thrown", "own"]) {
    const outcome = await d.run({ id: name, name, arguments: {} });
    expect(outcome.promptText.length).toBeLessThan(9_000);
    expect(JSON.stringify([outcome.error, outcome.content, outcome.errorDetail]).length).toBeLessThan(40_000);
    expect(resources.require(keptResults).get(outcome.handle ?? "")).toBe(long);
  }
  const { error } = await d.run({ id: "own2", name: "own", arguments: {} });
  expect(error).toMatchObject({ kind: "network", retryable: true, status: 502 });
  const failed = await d.run({ id: "failure", name: "failure", arguments: {} });
  expect(failed.errorDetail?.length).toBeLessThan(600);
  expect(failed.result?.text).toBe(long);
});

test("a plain object with content is taken as a result, with all that a result has", async () => {
  const plain = raw(
    "plain",
    async () => ({ content: [{ type: "text", text: "hi" }], output: { at: new Date(0) } }) as never,
  );
  const { dispatcher: d } = dispatcher(plain);
  expect((await d.run({ id: "1", name: "plain", arguments: {} })).result?.text).toBe("hi");
});

test("each command's result is held against its own schema", async () => {
  const command = (id: string, n: unknown) =>
    defineTool({
      id,
      kind: "read",
      description: "",
      input: Type.Object({}),
      output: Type.Object({ n: Type.Number() }),
      run: () => new ToolCallResult([], { output: { n } as never }),
    });
  const typed = defineCommands({ name: "typed", commands: { good: command("good", 1), bad: command("bad", "x") } });
  const returns = { type: "object", properties: { n: { type: "number" } } };
  const one = { category: "other", description: "", arguments: { type: "object" } };
  const bare: ToolImpl = {
    definition: () => ({
      type: "multi",
      name: "bare",
      commands: [
        { ...one, name: "good" },
        { ...one, name: "bad", returns },
      ],
    }),
    execute: async () => new ToolCallResult([], { output: { n: "x" } }),
  };
  const { dispatcher: d } = dispatcher(typed, bare);
  for (const name of ["typed", "bare"]) {
    expect((await d.run({ id: "1", name, arguments: { command: "good" } })).error).toBeUndefined();
    const { error } = await d.run({ id: "2", name, arguments: { command: "bad" } });
    expect(error?.kind).toBe("execution");
    expect(error?.message).toContain("n: wanted a number");
  }
});

test("a running tool may call another, which may call none", async () => {
  const outer = defineTool({
    id: "outer",
    kind: "other",
    description: "",
    input: Type.Object({}),
    run: async (_, ctx) => (await ctx.dispatch?.("inner", {}))?.text ?? "none",
  });
  const inner = defineTool({
    id: "inner",
    kind: "other",
    description: "",
    input: Type.Object({}),
    run: (_, ctx) => (ctx.dispatch === undefined ? "no dispatch inside" : "dispatch"),
  });
  const { dispatcher: d } = dispatcher(outer, inner);
  expect((await d.run({ id: "1", name: "outer", arguments: {} })).promptText).toBe("no dispatch inside");
});

test("a call that a tool made ends with the tool's own", async () => {
  const controller = new AbortController();
  let ended: ((value: unknown) => void) | undefined;
  const innerEnd = new Promise((resolve) => {
    ended = resolve;
  });
  const inner = raw("inner", (_, ctx) => {
    ctx.signal.addEventListener("abort", ended as () => void);
    controller.abort();
    return new Promise(() => {});
  });
  const outer = raw("outer", async (_, ctx) => (await ctx.dispatch?.("inner", {})) as ToolCallResult);
  const { dispatcher: d } = dispatcher(outer, inner);
  const outcome = await d.run({ id: "1", name: "outer", arguments: {} }, { signal: controller.signal });
  expect(outcome.error?.kind).toBe("cancelled");
  await innerEnd;
});

describe("a call that a tool makes of another", () => {
  const caller = (inner: string, id = "caller", maxConcurrency?: number) =>
    defineTool({
      id,
      kind: "other",
      description: "",
      input: Type.Object({}),
      capabilities: { maxConcurrency },
      run: async (_, ctx) => (await ctx.dispatch?.(inner, {})) as ToolCallResult,
    });
  function narrow() {
    const open: (() => void)[] = [];
    const seen = { running: 0, most: 0 };
    const tool = defineTool({
      id: "narrow",
      kind: "other",
      description: "",
      input: Type.Object({}),
      capabilities: { maxConcurrency: 1 },
      run: async () => {
        seen.most = Math.max(seen.most, ++seen.running);
        await new Promise<void>((resolve) => open.push(resolve));
        seen.running--;
        return "ok";
      },
    });
    return { tool, open, seen };
  }

  test("takes a place as any call", async () => {
    const { tool, open, seen } = narrow();
    const { dispatcher: d } = dispatcher(caller("narrow"), tool);
    const calls = ["caller", "narrow", "caller"].map((name, i) => d.run({ id: `${i}`, name, arguments: {} }));
    for (let done = 0; done < 3; done++) {
      await vi.waitUntil(() => open.length > 0);
      open.shift()?.();
    }
    expect((await Promise.all(calls)).map(({ promptText }) => promptText)).toEqual(["ok", "ok", "ok"]);
    expect(seen.most).toBe(1);
  });

  test("never waits while its caller holds a place: the two could wait for each other", async () => {
    const { tool, open } = narrow();
    const { dispatcher: d } = dispatcher(caller("narrow", "holder", 1), tool);
    const first = d.run({ id: "1", name: "narrow", arguments: {} });
    await vi.waitUntil(() => open.length === 1);
    const { error } = await d.run({ id: "2", name: "holder", arguments: {} });
    expect(error).toMatchObject({ kind: "concurrencyLimit", retryable: true });
    open.shift()?.();
    expect((await first).promptText).toBe("ok");
  });

  test("of itself needs no second place", async () => {
    let inner = false;
    const own = defineTool({
      id: "own",
      kind: "other",
      description: "",
      input: Type.Object({}),
      capabilities: { maxConcurrency: 1 },
      run: async (_, ctx) => {
        inner ||= ctx.dispatch === undefined;
        await ctx.dispatch?.("own", {});
        return "ok";
      },
    });
    const { dispatcher: d } = dispatcher(own);
    expect((await d.run({ id: "1", name: "own", arguments: {} })).promptText).toBe("ok");
    expect(inner).toBe(true);
  });

  test("needs leave where calls do", async () => {
    const { dispatcher: d } = dispatcher(
      caller("echo2"),
      raw("echo2", async () => ToolCallResult.text("ran")),
    );
    const asked: unknown[] = [];
    const refuse = (call: { name: string; arguments: unknown }): void => {
      asked.push([call.name, call.arguments]);
      throw new ToolError("permissionDenied", call.name, "No.");
    };
    const call = { id: "1", name: "caller", arguments: {} };
    const outcome = await d.run(call, { beforeInner: refuse });
    expect(outcome.error).toMatchObject({ kind: "permissionDenied", message: "No." });
    expect(asked).toEqual([["echo2", {}]]);
    expect((await d.run(call, { beforeInner: async () => {} })).promptText).toBe("ran");
  });

  test("has an id of its own, and its caller's time stands still while leave is asked for", async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const twice = raw("twice", async (_, ctx) => {
      await ctx.dispatch?.("inner", { n: 1 });
      return (await ctx.dispatch?.("inner", { n: 2 })) as ToolCallResult;
    });
    const inner = raw("inner", async (args, ctx) => {
      ctx.notify("ran", args.n);
      return ToolCallResult.text(`inner ${args.n} of ${ctx.callId}`);
    });
    const bound = new Map([twice, inner].map((tool) => bindTool(tool)).map((tool) => [tool.name, tool]));
    const heard: unknown[] = [];
    const d = new Dispatcher({
      find: (name) => bound.get(name),
      resources: new Resources(),
      onNotify: (_, name, data, callId) => heard.push([name, data, callId]),
    });
    const asked: string[] = [];
    const leave: (() => void)[] = [];
    const running = d.run(
      { id: "7", name: "twice", arguments: {} },
      {
        beforeInner: async ({ id }) => {
          asked.push(id);
          await new Promise<void>((resolve) => leave.push(resolve));
        },
      },
    );
    for (const _ of [1, 2]) {
      await vi.advanceTimersByTimeAsync(3_600_000);
      leave.pop()?.();
    }
    expect((await running).promptText).toBe("inner 2 of 7");
    expect(asked).toEqual(["7/1", "7/2"]);
    expect(heard).toEqual([
      ["ran", 1, "7"],
      ["ran", 2, "7"],
    ]);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("that hangs after it was given leave is stopped with its caller, in time", async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const { dispatcher: d } = dispatcher(
      caller("stuck"),
      raw("stuck", () => new Promise(() => {})),
    );
    const running = d.run({ id: "1", name: "caller", arguments: {} }, { beforeInner: async () => {} });
    await vi.advanceTimersByTimeAsync(120_000);
    expect((await running).error?.kind).toBe("timeout");
    expect(vi.getTimerCount()).toBe(0);
  });

  test("takes what a model would send, and its fault is the caller's to see, once", async () => {
    let failures = 0;
    const use = defineTool({
      id: "use",
      kind: "other",
      description: "",
      input: Type.Object({ name: Type.String(), args: Type.Any() }),
      run: async ({ name, args }, ctx) => (await ctx.dispatch?.(name, args)) as ToolCallResult,
    });
    const target = raw("target", async (args) => ToolCallResult.text(JSON.stringify(args)));
    const broken = raw("broken", async () => {
      throw new ToolError("network", "broken", `failure ${++failures}`);
    });
    const { dispatcher: d } = dispatcher(use, target, broken);
    const said = async (name: string, args: unknown) =>
      (await d.run({ id: "1", name: "use", arguments: { name, args } as never })).promptText;
    expect(await said("target", '{"a": 1}')).toBe('{"a":1}');
    expect(await said("target", { a: 1 })).toBe('{"a":1}');
    expect(await said("target", null)).toBe("{}");
    expect(await said("target", "[1]")).toContain("wanted an object");
    expect(await said("broken", {})).toBe("failure 1");
    expect(failures).toBe(1);
  });

  test("is not run for a tool whose time is up, and that goes on all the same", async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    let ran = 0;
    let late: Promise<unknown> | undefined;
    let wake: () => void = () => {};
    const deaf = raw("deaf", async (_, ctx) => {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
      late = ctx.dispatch?.("write", {});
      return (await late) as ToolCallResult;
    });
    const write = raw("write", async () => ToolCallResult.text(String(++ran)));
    const { dispatcher: d } = dispatcher(deaf, write);
    const running = d.run({ id: "1", name: "deaf", arguments: {} });
    await vi.advanceTimersByTimeAsync(120_000);
    expect((await running).error?.kind).toBe("timeout");
    wake();
    await vi.advanceTimersByTimeAsync(0);
    await expect(late).rejects.toMatchObject({ kind: "cancelled" });
    expect(ran).toBe(0);
  });

  test("asks no longer for leave once its caller has ended", async () => {
    const controller = new AbortController();
    const { dispatcher: d } = dispatcher(
      caller("echo2"),
      raw("echo2", async () => ToolCallResult.text("ran")),
    );
    let ended: AbortSignal | undefined;
    const outcome = await d.run(
      { id: "1", name: "caller", arguments: {} },
      {
        signal: controller.signal,
        beforeInner: (_, __, signal) => {
          ended = signal;
          controller.abort();
          return new Promise(() => {});
        },
      },
    );
    expect(outcome.error?.kind).toBe("cancelled");
    expect(ended?.aborted).toBe(true);
  });
});

test("a schema that is not valid is refused, and the tool named", () => {
  const tool = new FnTool("odd", "", { type: "object", properties: { a: { type: "strin" } } }, async () => "");
  expect(() => bindTool(tool, { validator })).toThrow(/odd/);
});

test("no more calls of a tool run at once than it takes; one that is cancelled leaves the line", async () => {
  let running = 0;
  let most = 0;
  const open: (() => void)[] = [];
  const tool = defineTool({
    id: "narrow",
    kind: "other",
    description: "",
    input: Type.Object({}),
    capabilities: { maxConcurrency: 2 },
    run: async () => {
      most = Math.max(most, ++running);
      await new Promise<void>((resolve) => open.push(resolve));
      running--;
      return "ok";
    },
  });
  const { dispatcher: d } = dispatcher(tool);
  const controller = new AbortController();
  const calls = [1, 2, 3, 4].map((id) =>
    d.run({ id: `${id}`, name: "narrow", arguments: {} }, id === 3 ? { signal: controller.signal } : {}),
  );
  await vi.waitUntil(() => open.length === 2);
  controller.abort();
  expect((await calls[2])?.error?.kind).toBe("cancelled");
  for (let done = 0; done < 3; done++) {
    await vi.waitUntil(() => open.length > 0);
    open.shift()?.();
  }
  expect((await Promise.all(calls)).map(({ promptText }) => promptText === "ok")).toEqual([true, true, false, true]);
  expect(most).toBe(2);
});

test.each([
  [Number.NaN, 1],
  [0, 1],
  [1.5, 1],
])("a tool that takes %d calls at once takes %d", async (maxConcurrency, wanted) => {
  let running = 0;
  let most = 0;
  const tool = defineTool({
    id: "narrow",
    kind: "other",
    description: "",
    input: Type.Object({}),
    capabilities: { maxConcurrency },
    run: async () => {
      most = Math.max(most, ++running);
      await new Promise<void>((resolve) => setTimeout(resolve, 0));
      running--;
      return "ok";
    },
  });
  const { dispatcher: d } = dispatcher(tool);
  const calls = ["1", "2", "3"].map((id) => d.run({ id, name: "narrow", arguments: {} }));
  expect((await Promise.all(calls)).map(({ promptText }) => promptText)).toEqual(["ok", "ok", "ok"]);
  expect(most).toBe(wanted);
});
