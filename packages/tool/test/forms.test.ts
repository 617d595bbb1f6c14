import {
  callTool,
  defineCommands,
  defineTool,
  FnTool,
  isToolConstructor,
  paramsOf,
  Resources,
  resource,
  stateOf,
  ToolArgs,
  ToolCallResult,
  ToolError,
  type ToolImpl,
  toolFn,
  toToolError,
} from "@shedkit/tool";
import { AgenticError, functionSpec } from "@shedkit/types";
import { Type } from "@sinclair/typebox";
import { describe, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";

async function failure(promise: Promise<unknown>): Promise<ToolError> {
  const error: unknown = await promise.then(
    () => undefined,
    (e: unknown) => e,
  );
  expect(error).toBeInstanceOf(ToolError);
  return error as ToolError;
}

describe("defineTool", () => {
  const base = { id: "t", kind: "other", description: "", input: Type.Object({}) } as const;

  test("progress comes before the result", async () => {
    const tool = defineTool({
      ...base,
      async *execute() {
        yield { text: "a" };
        yield { data: { n: 1 } };
        return "end";
      },
    });
    const seen: unknown[] = [];
    const result = await callTool(tool, {}, { onProgress: (progress) => seen.push(progress) });
    expect(seen).toEqual([{ text: "a" }, { data: { n: 1 } }]);
    expect(result.text).toBe("end");
    expectTypeOf(tool.call).returns.toEqualTypeOf<Promise<string>>();
  });

  test("a generator's cleanup runs when its reader leaves", async () => {
    let cleaned = false;
    const controller = new AbortController();
    const tool = defineTool({
      ...base,
      async *execute() {
        try {
          while (true) yield { text: "." };
        } finally {
          cleaned = true;
        }
      },
    });
    const stop = { signal: controller.signal, onProgress: () => controller.abort() };
    expect((await failure(callTool(tool, {}, stop))).kind).toBe("cancelled");
    expect(cleaned).toBe(true);
  });

  test("output that its schema does not allow is an error", async () => {
    const tool = defineTool({ ...base, output: Type.Object({ n: Type.Number() }), run: () => ({ n: "x" }) as never });
    expect((await failure(callTool(tool, {}))).message).toContain("n: wanted a number");
    expect((await failure(tool.call({}))).kind).toBe("execution");
  });

  test("output that a result carries is held against the schema, whoever calls", async () => {
    const liar = (output?: unknown) =>
      defineTool({
        ...base,
        output: Type.Object({ n: Type.Number() }),
        run: () => new ToolCallResult([{ type: "text", text: "x" }], { output: output as never }),
      });
    for (const output of [{ n: "x" }, undefined]) {
      expect((await failure(liar(output).call({}))).message).toContain("t returned what its output schema");
      expect((await failure(callTool(liar(output), {}))).kind).toBe("execution");
    }
    expect(await liar({ n: 1 }).call({})).toEqual({ n: 1 });
    const erased: ToolImpl = {
      definition: () => liar().definition(),
      execute: async () => new ToolCallResult([], { output: { n: "x" } }),
    };
    expect((await failure(callTool(erased, {}))).message).toContain("n: wanted a number");
  });

  test("what JSON cannot hold is no output", async () => {
    for (const output of [5n, () => 1, Number.NaN, { a: [Number.POSITIVE_INFINITY] }, Symbol("s")]) {
      const tool = defineTool({ ...base, run: () => output });
      expect((await failure(callTool(tool, {}))).message).toContain("t gave a result that is not JSON");
    }
    const fine = { gone: undefined, at: new Date(0), deep: [null, { a: 1e308 }] };
    expect((await callTool(defineTool({ ...base, run: () => fine }), {})).output).toEqual(fine);
  });

  test("toModel says what the model reads", async () => {
    const tool = defineTool({
      ...base,
      output: Type.Object({ n: Type.Number() }),
      toModel: ({ n }) => `n is ${n}`,
      run: () => ({ n: 1 }),
    });
    const result = await callTool(tool, {});
    expect(result.text).toBe("n is 1");
    expect(result.output).toEqual({ n: 1 });
  });

  test("parts that the body returns are parts", async () => {
    const image = { type: "image", source: { type: "url", url: "x:" }, mediaType: "image/png" } as const;
    const tool = defineTool({ ...base, run: () => ({ width: 3, image }) });
    expect((await callTool(tool, {})).content).toEqual([{ type: "text", text: '{"width":3}' }, image]);
  });

  test("neither run nor execute: an error, no crash", async () => {
    const tool = defineTool(base as never);
    expect((await failure(callTool(tool, {}))).kind).toBe("notImplemented");
  });

  test("a failure of its own rejects a typed call, and is a result for a model", async () => {
    const tool = defineTool({
      ...base,
      output: Type.String(),
      run: () => ToolCallResult.failure("gone", "It is gone."),
    });
    expect((await failure(tool.call({}))).message).toBe("It is gone.");
    expect((await callTool(tool, {})).errorDetail).toBe("gone");
  });

  test("metadata is filled in by kind", () => {
    const read = defineTool({ ...base, kind: "read", run: () => "" }).metadata.capabilities;
    expect(read).toMatchObject({
      readOnly: true,
      idempotent: true,
      destructive: false,
      scope: "read",
      timeoutMs: 120_000,
    });
    const shell = defineTool({ ...base, kind: "execute", run: () => "" }).metadata.capabilities;
    expect(shell).toMatchObject({ readOnly: false, idempotent: false, destructive: true, scope: "write" });
    const own = defineTool({ ...base, kind: "execute", capabilities: { readOnly: true }, run: () => "" }).metadata;
    expect(own.capabilities).toMatchObject({ readOnly: true, idempotent: true, destructive: false });
  });

  test("an id that no wire takes is refused", () => {
    for (const id of ["", "a b", "a.b", "ä", "a".repeat(65)]) {
      expect(() => defineTool({ ...base, id, run: () => "" })).toThrow(ToolError);
    }
  });
});

test("a Standard Schema gives types, checks, and its own defaults and transforms", async () => {
  const tool = defineTool({
    id: "weather",
    kind: "other",
    description: "",
    input: z.object({
      city: z.string().trim(),
      days: z.int().default(3),
      from: z.string().refine((text) => text !== "x"),
    }),
    output: z.object({ text: z.string() }),
    access: ({ days }) => [{ action: "network", target: String(days) }],
    run: ({ city, days }) => {
      expectTypeOf(days).toEqualTypeOf<number>();
      return { text: `${city}, ${days} days` };
    },
  });
  expectTypeOf(tool.call).parameter(0).toEqualTypeOf<{ city: string; days?: number | undefined; from: string }>();
  expect(await tool.call({ city: " Rome ", from: "" })).toEqual({ text: "Rome, 3 days" });
  expect((await callTool(tool, { city: "Rome", days: "4", from: "" })).output).toEqual({ text: "Rome, 4 days" });
  expect((await failure(callTool(tool, { city: "Rome", from: "x" }))).message).toContain("from: ");
  expect((await failure(callTool(tool, { from: "" }))).message).toContain("city: wanted a string");
});

describe("defineCommands", () => {
  const add = defineTool({
    id: "add",
    kind: "write",
    description: "Adds.",
    input: Type.Object({ text: Type.String() }, { additionalProperties: false }),
    capabilities: { touches: () => ["notes"] },
    run: ({ text }) => `added ${text}`,
  });
  const list = defineTool({
    id: "list",
    kind: "read",
    description: "Lists.",
    input: Type.Object({ limit: Type.Optional(Type.Integer()) }, { additionalProperties: false }),
    run: ({ limit }) => `limit ${limit}`,
  });
  const notes = defineCommands({ name: "notes", commands: { add, list } });

  test("the command named decides what is checked and run", async () => {
    expect((await callTool(notes, { command: "add", text: "x" })).text).toBe("added x");
    expect((await callTool(notes, { command: "list", limit: "2", text: null })).text).toBe("limit 2");
    expect((await failure(callTool(notes, { command: "list", text: "x" }))).message).toContain("text");
    expect((await failure(callTool(notes, { command: "drop" }))).message).toContain('"add" or "list"');
    expect((await failure(callTool(notes, {}))).message).toContain("command");
  });

  test("over the wire it is one flat object", () => {
    expect(functionSpec(notes.definition()).parameters).toMatchObject({ type: "object", required: ["command"] });
  });

  test("the whole may do what any command may", () => {
    expect(notes.metadata?.capabilities.readOnly).toBe(false);
    expect(notes.metadata?.capabilities.touches({ command: "add", text: "x" })).toEqual(["notes"]);
  });

  test("what the commands ask for, the whole asks for", () => {
    const common = { kind: "write", description: "", input: Type.Object({}), run: () => "" } as const;
    const version = (name: string) => ({ version: name, lifecycle: "active" }) as const;
    const one = defineTool({
      ...common,
      id: "one",
      requires: { kind: "read" },
      conflicts: ["user:other"],
      versions: [version("1"), version("2")],
      capabilities: { maxConcurrency: 3, maxResultBytes: 10 },
      shouldList: ({ activeTools }) => activeTools.includes("one"),
    });
    const two = defineTool({
      ...common,
      id: "two",
      requires: { tool: "x" },
      versions: [version("2"), version("3")],
      capabilities: { maxConcurrency: 1, maxResultBytes: 20 },
      shouldList: ({ activeTools }) => activeTools.includes("two"),
    });
    const { metadata } = defineCommands({ name: "both", commands: { one, two } });
    expect(metadata).toMatchObject({
      requires: { all: [{ kind: "read" }, { tool: "x" }] },
      conflicts: ["user:other"],
      versions: [version("1"), version("2"), version("3")],
      capabilities: { maxConcurrency: 1, maxResultBytes: 20, scope: "write" },
    });
    expect([["one"], ["two"], []].map((activeTools) => metadata?.shouldList?.({ activeTools }))).toEqual([
      true,
      true,
      false,
    ]);
    expect(notes.metadata?.shouldList?.({ activeTools: [] })).toBe(true);
    expect(notes.metadata?.requires).toBeUndefined();
  });

  test("each command has its own settings and its own memory", async () => {
    const counter = (id: string, step: number) =>
      defineTool({
        id,
        kind: "other",
        description: "",
        input: Type.Object({}),
        params: {
          schema: Type.Object({ step: Type.Integer() }),
          defaults: { step },
          check: (params) => (params.step === 0 ? [{ field: "step", message: "must not be 0" }] : []),
        },
        state: { schema: Type.Object({ n: Type.Integer() }), version: 2, initial: () => ({ n: 0 }) },
        run: (_, ctx) => {
          ctx.state.set({ n: ctx.state.get().n + ctx.params.step });
          return ctx.state.get().n;
        },
      });
    const tool = defineCommands({ name: "count", commands: { up: counter("up", 1), down: counter("down", -1), list } });
    const resources = new Resources();
    const call = async (command: string) => (await callTool(tool, { command }, { resources })).output;
    expect([await call("up"), await call("up"), await call("down")]).toEqual([1, 2, -1]);
    expect(resources.get(stateOf("user:count"))?.get()).toEqual({ up: { n: 2 }, down: { n: -1 } });
    resources.insert(paramsOf("user:count"), { up: { step: 10 }, down: { step: -1 } });
    expect(await call("up")).toBe(12);
    expect(tool.metadata?.params?.defaults).toEqual({ up: { step: 1 }, down: { step: -1 } });
    expect(tool.metadata?.params?.check?.({ up: { step: 0 }, down: { step: 1 } })).toEqual([
      { field: "up.step", message: "must not be 0" },
    ]);
    expect(tool.metadata?.state).toMatchObject({ version: 4, schema: { required: ["up", "down"] } });
  });

  test("a memory that changes its shape keeps what the other commands remember", () => {
    const remembering = (id: string, version: number, migrate?: (old: unknown, from: number) => string) =>
      defineTool({
        id,
        kind: "other",
        description: "",
        input: Type.Object({}),
        state: { schema: Type.String(), version, initial: () => "new", migrate },
        run: () => "",
      });
    const asked: unknown[] = [];
    const one = remembering("one", 5, (old, from) => {
      asked.push([old, from]);
      return `was ${String(old)}`;
    });
    const state = defineCommands({ name: "both", commands: { one, two: remembering("two", 1) } }).metadata?.state;
    expect(state?.version).toBe(6);
    expect(state?.migrate?.({ one: 7, two: "kept" }, 4)).toEqual({ one: "was 7", two: "kept" });
    expect(asked).toEqual([[7, 3]]);
    expect(state?.migrate?.({ one: 7, two: 8 }, 4)).toEqual({ one: "new", two: "new" });
    expect(state?.migrate?.({ two: "kept" }, 1)).toEqual({ one: "new", two: "kept" });
    expect(state?.migrate?.(null, 1)).toEqual({ one: "new", two: "new" });
    expect(asked).toHaveLength(1);
  });

  test("no commands, or one that takes a parameter named command, is refused", () => {
    const odd = defineTool({
      id: "o",
      kind: "other",
      description: "",
      input: Type.Object({ command: Type.String() }),
      run: () => 1,
    });
    expect(() => defineCommands({ name: "x", commands: {} })).toThrow(ToolError);
    expect(() => defineCommands({ name: "x", commands: { odd: { run: 1 } as never } })).toThrow(
      /odd of x must be a tool/,
    );
    expect(() => defineCommands({ id: "x", commands: { list } } as never)).toThrow("The tool id nothing is not");
    expect(() => defineCommands({ name: "x", commands: { odd } })).toThrow(/command/);
  });
});

describe("FnTool and ToolArgs", () => {
  test("a string is a text result", async () => {
    const schema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
    const tool = new FnTool("twice", "", schema, async (args) => String(args.int("n") * 2));
    expect((await callTool(tool, { n: 4 })).text).toBe("8");
  });

  test("each reader takes its kind and names what it did not get", () => {
    const args = new ToolArgs("t", { s: "x", i: -1, f: 1.5, b: false, z: null });
    expect([args.str("s"), args.int("i"), args.num("f"), args.bool("b")]).toEqual(["x", -1, 1.5, false]);
    expect([args.optStr("z"), args.optInt("none"), args.optNat("none"), args.optNum("z"), args.optBool("z")]).toEqual(
      Array(5).fill(undefined),
    );
    expect(args.optValue("z")).toBe(null);
    expect(args.optValue("toString")).toBe(undefined);
    expect(() => args.nat("i")).toThrow(/"i".*0 or more.*-1/);
    expect(() => args.int("f")).toThrow(/whole number/);
    const texts = new ToolArgs("t", { n: " 12 ", f: "1.5", b: "TRUE", big: "9007199254740993", odd: "12x" });
    expect([texts.int("n"), texts.nat("n"), texts.num("f"), texts.bool("b")]).toEqual([12, 12, 1.5, true]);
    for (const key of ["big", "odd", "f"]) expect(() => texts.int(key)).toThrow(ToolError);
    expect(() => args.str("none")).toThrow(/got nothing/);
    expect(args.parse(Type.Object({ s: Type.String() })).s).toBe("x");
    expect(() => args.parse(Type.Object({ s: Type.Integer() }))).toThrow(/s: wanted a whole number/);
  });
});

test("what is thrown keeps its class", () => {
  const refused = Object.assign(new Error("connect"), { code: "ECONNREFUSED" });
  expect(toToolError(new TypeError("fetch failed", { cause: refused }), "t")).toMatchObject({
    kind: "network",
    retryable: true,
  });
  expect(toToolError(Object.assign(new Error("no"), { code: "ENOENT" }), "t").kind).toBe("notFound");
  expect(toToolError(new DOMException("x", "AbortError"), "t").kind).toBe("cancelled");
  expect(toToolError(new DOMException("x", "TimeoutError"), "t").kind).toBe("timeout");
  expect(toToolError(new Error("odd"), "t").kind).toBe("execution");
  const own = new ToolError("rateLimited", "t", "slow down");
  expect(toToolError(own, "t")).toBe(own);
  for (const [status, kind] of [
    [401, "unauthorized"],
    [404, "notFound"],
    [429, "rateLimited"],
    [503, "serviceUnavailable"],
    [500, "execution"],
  ] as const) {
    const answer = Object.assign(new Error("HTTP"), { status });
    expect(toToolError(answer, "t")).toMatchObject({ kind, status, retryable: status === 429 || status === 503 });
    expect(toToolError(new Error("outer", { cause: answer }), "t").kind).toBe(kind);
  }
});

test("an error of our own packages keeps what it says", () => {
  const details = { provider: "p", model: "m" };
  const busy = { retryable: true, status: 429, retryAfterMs: 7000 };
  const limited = new AgenticError("generation", "Slow down.", { kind: "rateLimit", ...details }, busy);
  expect(toToolError(limited, "t")).toMatchObject({ kind: "rateLimited", message: "Slow down.", ...busy });
  const kinds = [
    new AgenticError("generation", "", { kind: "network", ...details }),
    new AgenticError("auth", "", { provider: "p" }),
    new AgenticError("cancelled", "", {}),
    new AgenticError("file", "", { path: "a", reason: "outside" }),
    new AgenticError("file", "", { path: "a", reason: "notEmpty" }),
    new AgenticError("store", "", { store: "s", operation: "o" }, { cause: new DOMException("x", "TimeoutError") }),
  ].map((error) => toToolError(error, "t").kind);
  expect(kinds).toEqual(["network", "unauthorized", "cancelled", "permissionDenied", "execution", "timeout"]);
});

test("resources are found by name, and a missing one is named", () => {
  const resources = new Resources();
  expect(() => resources.require({ name: "terminal" })).toThrow(
    expect.objectContaining({ kind: "serviceUnavailable", message: expect.stringContaining('"terminal"') }),
  );
});

test("resources: put in, replaced, made on first use, taken out, and released from the latest on", async () => {
  const resources = new Resources();
  const limit = resource<number>("limit");
  expect([resources.get(limit), resources.has(limit), resources.delete(limit)]).toEqual([undefined, false, false]);
  expect(resources.getOrDefault(limit, () => 1)).toBe(1);
  expect(resources.getOrDefault(limit, () => expect.fail("it is there"))).toBe(1);
  resources.insert(limit, 2);
  expect(resources.require(resource<number>("limit"))).toBe(2); // the name decides
  expect([resources.delete(limit), resources.has(limit)]).toEqual([true, false]);
  // Settings and memory of one tool stand apart.
  resources.insert(paramsOf("a:b"), { max: 1 });
  resources.insert(stateOf("a:b"), { get: () => 2, set: () => {} });
  expect([resources.get(paramsOf("a:b")), resources.get(stateOf("a:b"))?.get()]).toEqual([{ max: 1 }, 2]);
  const log: string[] = [];
  resources.defer(() => void log.push("first"));
  resources.defer(() => Promise.reject(new Error("it is gone already")));
  resources.defer(async () => void log.push("last"));
  await resources.dispose();
  await resources.dispose();
  expect(log).toEqual(["last", "first"]);
});

test("a constructor is told from a tool", () => {
  const make = toolFn("x", () => new FnTool("x", "", {}, async () => ""));
  expect(isToolConstructor(make)).toBe(true);
  expect(isToolConstructor(new FnTool("x", "", {}, async () => ""))).toBe(false);
});
