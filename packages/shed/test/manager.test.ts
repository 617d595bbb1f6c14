// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are the markers of templates
import { ToolCallResult, ToolError, type ToolImpl } from "@shedkit/tool";
import { AgenticError, type Tool, toolName } from "@shedkit/types";
import { describe, expect, test } from "vitest";
import type { ActivationChange, ToolCallRequest } from "../src/index.js";
import { call, collect, manager, tool } from "./parts.js";

async function errorOf(promise: Promise<unknown>): Promise<ToolError> {
  return promise.then(
    () => expect.fail("nothing was thrown"),
    (error) => error,
  );
}

describe("what is declared", () => {
  test("a session without tools declares nothing, not even shed", () => {
    expect(manager([]).offeredTools()).toEqual({ tools: [], activations: [] });
  });

  test("the first request declares shed alone, however many tools there are", () => {
    const offered = manager(Array.from({ length: 50 }, (_, i) => tool(`tool_${i}`))).offeredTools();
    expect(offered.shed && toolName(offered.shed)).toBe("shed");
    expect(offered.tools).toEqual([]);
  });

  test("tools stand in the order of their activation, which never changes", () => {
    const tools = manager([tool("a"), tool("b"), tool("c")]);
    tools.activate(["c"], "pin");
    tools.activate(["a", "c"], { toolCallId: "1" });
    expect(tools.offeredTools().activations).toEqual([
      { name: "c", by: "pin" },
      { name: "a", by: { toolCallId: "1" } },
    ]);
    expect(tools.activeDefinitions().map(toolName)).toEqual(["c", "a"]);
    expect(tools.isActive("b")).toBe(false);
    expect(tools.allDeclarations().tools.map(toolName)).toEqual(["a", "b", "c"]);
    expect(tools.names()).toEqual(["a", "b", "c"]);
  });

  test("the same object is offered until something changes", () => {
    const tools = manager([tool("a")]);
    const before = tools.offeredTools();
    expect(tools.offeredTools()).toBe(before);
    tools.activate(["a"]);
    expect(tools.offeredTools()).not.toBe(before);
  });

  test("every activation is told once", () => {
    const tools = manager([tool("a"), tool("b")]);
    const changes: ActivationChange[] = [];
    const end = tools.onActivation((change) => changes.push(change));
    tools.activate(["a"], "pin");
    tools.activate(["a", "b"]);
    tools.deregister("a");
    end();
    tools.deactivate(["b"]);
    expect(changes).toEqual([
      { type: "activated", tools: ["a"], by: "pin" },
      { type: "activated", tools: ["b"], by: "call" },
      { type: "deactivated", tools: ["a"] },
    ]);
  });

  test("an unknown name activates none of the names", () => {
    const tools = manager([tool("a")]);
    expect(() => tools.activate(["a", "b"])).toThrow(/no tool "b"/);
    expect(tools.isActive("a")).toBe(false);
  });

  test("past maxActive the tools used longest ago are dropped, but only when told to; pinned ones stay", async () => {
    const tools = manager(
      ["a", "b", "c", "d"].map((name) => tool(name)),
      { maxActive: 2 },
    );
    tools.activate(["a"], "pin");
    tools.activate(["b", "c", "d"]);
    await collect(tools.runCalls([call("1", "b")], { offeredOnly: true }));
    expect(tools.activeDefinitions()).toHaveLength(4);
    expect(tools.trimActive()).toEqual(["c", "d"]);
    expect(tools.activeDefinitions().map(toolName)).toEqual(["a", "b"]);
    expect(tools.trimActive()).toEqual([]);
  });
});

describe("a call of a tool that is not active", () => {
  test("does not run, carries the schema, and the next one works", async () => {
    let ran = 0;
    const tools = manager([tool("a", { run: () => `${++ran}` })]);
    const [first] = await collect(tools.runCalls([call("1", "a")], { offeredOnly: true }));
    expect(first?.error?.kind).toBe("notActive");
    expect(first?.promptText).toContain('"properties":{"path"');
    expect(first?.attempts).toBe(0);
    expect(tools.offeredTools().activations).toEqual([{ name: "a", by: "call" }]);
    const [second] = await collect(tools.runCalls([call("2", "a")], { offeredOnly: true }));
    expect(second?.promptText).toBe("1");
  });

  test("is refused plainly where the shed is strict", () => {
    const tools = manager([tool("a")], { strict: true });
    expect(() => tools.checkOffered("a")).toThrow(/with shed first/);
    expect(tools.isActive("a")).toBe(false);
  });

  test("activates nothing that may not be listed", () => {
    const tools = manager([tool("a", { shouldList: () => false })]);
    expect(() => tools.checkOffered("a")).toThrow(/not active/);
    expect(tools.isActive("a")).toBe(false);
  });

  test("nor anything that may not be used", async () => {
    const tools = manager([tool("a")]);
    tools.setAccess(async (name) => name !== "a");
    const [outcome] = await collect(tools.runCalls([call("1", "a")], { offeredOnly: true }));
    expect(outcome?.error?.kind).toBe("unauthorized");
    expect(tools.isActive("a")).toBe(false);
  });

  test("access that fails costs only the call it was asked for", async () => {
    const tools = manager([tool("a"), tool("b")]);
    tools.activate(["a", "b"]);
    tools.setAccess((name) => {
      if (name === "a") throw new TypeError("no list of rights");
      return true;
    });
    const outcomes = await collect(tools.runCalls([call("1", "a"), call("2", "b")], { offeredOnly: true }));
    expect(outcomes.map(({ errorDetail, promptText }) => [errorDetail, promptText])).toEqual([
      ["execution", "no list of rights"],
      [undefined, "b"],
    ]);
  });

  test("runs on a manager that stands alone", async () => {
    expect((await manager([tool("a")]).executeOne(call("1", "a"))).text).toBe("a");
  });

  test("an unknown tool is said to be unknown", () => {
    expect(() => manager([]).checkOffered("a")).toThrow(expect.objectContaining({ kind: "unknownTool" }));
    expect(() => manager([]).checkOffered("shed")).not.toThrow();
  });
});

describe("a call that a tool makes of another", () => {
  const relay = (name: string): ToolImpl => ({
    ...tool("relay"),
    execute: async (_, ctx) => (await ctx.dispatch?.(name, { path: "x" })) as ToolCallResult,
  });

  test("is asked about as any call, by an id of its own, and runs only with leave", async () => {
    let ran = 0;
    const tools = manager([relay("edit"), tool("edit", { run: () => `edited ${++ran}` })]);
    tools.activate(["relay"]); // the tool that it calls need not be
    const asked: unknown[] = [];
    const options = (leave: boolean) => ({
      offeredOnly: true,
      beforeInner: (request: ToolCallRequest, outer: ToolCallRequest) => {
        asked.push([request, outer.id]);
        if (!leave) throw new ToolError("permissionDenied", request.name, "The user said no.");
      },
    });
    const [refused] = await collect(tools.runCalls([call("1", "relay")], options(false)));
    expect(refused).toMatchObject({ errorDetail: "permissionDenied", promptText: "The user said no." });
    expect(ran).toBe(0);
    const [done] = await collect(tools.runCalls([call("2", "relay")], options(true)));
    expect(done).toMatchObject({ promptText: "edited 1", effectiveName: "edit" });
    expect(asked).toEqual([
      [{ id: "1/1", name: "edit", arguments: { path: "x" } }, "1"],
      [{ id: "2/1", name: "edit", arguments: { path: "x" } }, "2"],
    ]);
  });

  test("reaches no tool that may not be used", async () => {
    const tools = manager([relay("secret"), tool("secret")]);
    tools.activate(["relay"]);
    tools.setAccess((name) => name !== "secret");
    const [outcome] = await collect(tools.runCalls([call("1", "relay")], { offeredOnly: true }));
    expect(outcome).toMatchObject({ errorDetail: "unauthorized" });
    expect(outcome?.promptText).toContain('"secret" may not be used');
  });
});

test("what is shown of a call is of the arguments that the tool would get", () => {
  const tools = manager([tool("look", { readOnly: true })]);
  const shown = { version: 1, name: "look", kind: "read", namespace: "test", label: "Read", readOnly: true };
  expect(tools.callInfo(call("1", "look", { rawArguments: '{"path": 7}' }))).toEqual({
    ...shown,
    input: { path: "7" },
  });
  expect(tools.callInfo(call("1", "look", { rawArguments: '{"path": ' }))).toEqual(shown);
  const lookUp = call("1", "shed", { arguments: { description: "reads" } });
  expect(tools.callInfo(lookUp)).toMatchObject({ name: "shed", input: { description: "reads" } });
  expect(tools.callInfo(call("1", "gone"))).toBeUndefined();
});

describe("registering", () => {
  test.each<[string, unknown, string]>([
    ["nothing", undefined, "nothing"],
    ["an empty object", {}, "an empty object"],
    ["a text", "read", 'the string "read"'],
  ])("%s is refused as no tool", (_, given, shown) => {
    expect(() => manager([]).register(given as ToolImpl)).toThrow(
      expect.objectContaining({ kind: "invalidArguments", message: expect.stringContaining(shown) }),
    );
  });

  test.each([null, 5, "text"])("a schema that is %j is refused, and the tool named", (schema) => {
    const { definition, ...rest } = tool("odd");
    const single = definition() as Extract<Tool, { type: "single" }>;
    const odd: ToolImpl = {
      ...rest,
      definition: () => ({ type: "single", definition: { ...single.definition, arguments: schema as never } }),
    };
    const tools = manager([tool("a")]);
    expect(() => tools.register(odd)).toThrow(
      expect.objectContaining({ kind: "invalidArguments", message: expect.stringContaining("The tool odd cannot") }),
    );
    expect(tools.names()).toEqual(["a"]);
  });

  test("a name that is taken is refused, and so is shed", () => {
    const tools = manager([tool("a")]);
    expect(() => tools.register(tool("a"))).toThrow(expect.objectContaining({ kind: "invalidArguments" }));
    expect(() => tools.register(tool("shed"))).toThrow(/"shed"/);
  });

  test("a tool registered late is found at once, and one that was removed no more", async () => {
    const tools = manager([tool("a")]);
    tools.register(tool("clock", { description: "Tells the time of day." }));
    expect((await tools.searchTools("time of day")).map(({ name }) => name)).toEqual(["clock"]);
    expect(tools.deregister("clock")).toBe(true);
    expect(tools.deregister("clock")).toBe(false);
    expect(await tools.searchTools("time of day")).toEqual([]);
    expect(tools.get("clock")).toBeUndefined();
  });

  test("shed is no tool of the user's", () => {
    const tools = manager([tool("a")]);
    expect(tools.get("shed")).toBeUndefined();
    expect(tools.deregister("shed")).toBe(false);
  });
});

describe("a manager that stands alone", () => {
  test("fills the names of its tools into prompts, also of those registered late", () => {
    const tools = manager([tool("look", { readOnly: true })]);
    expect(tools.renderPrompt("${{ tools.by_kind.read }} ${{ params.read.path }}${{ extra }}", { extra: "!" })).toBe(
      "look path!",
    );
    tools.deregister("look");
    tools.register(tool("peek", { readOnly: true }));
    expect(tools.renderPrompt("${{ tools.by_kind.read }}")).toBe("peek");
    expect(tools.states).toBeUndefined();
    expect(tools.warnings).toEqual([]);
  });
});

describe("running one call", () => {
  test("arguments that do not fit are refused before the tool runs", async () => {
    let ran = false;
    const tools = manager([
      tool("a", {
        run: () => {
          ran = true;
          return "";
        },
      }),
    ]);
    const request = call("1", "a", { arguments: { path: { deep: 1 } } });
    const error = await errorOf(tools.executeOne(request));
    expect(error.kind).toBe("invalidArguments");
    expect(error.message).toContain("path");
    expect(() => tools.validateArguments(request)).toThrow(error.message);
    expect(ran).toBe(false);
  });

  test("nobody is asked for leave to run a call that cannot run", async () => {
    const requests = [call("1", "a", { arguments: { path: 5, other: 1 } }), call("2", "b")];
    const outcomes = await collect(manager([tool("a")]).runCalls(requests, { before: () => expect.fail("asked") }));
    expect(outcomes.map(({ error, attempts }) => [error?.kind, attempts])).toEqual([
      ["invalidArguments", 0],
      ["unknownTool", 0],
    ]);
    expect(outcomes[1]?.promptText).toContain("Look tools up with shed");
  });

  test("arguments that can be mended are, and the outcome says so", async () => {
    const tools = manager([tool("a", { run: ({ path }) => String(path) })]);
    const [outcome] = await collect(tools.runCalls([call("1", "a", { arguments: { path: null } })]));
    expect(outcome?.promptText).toBe("undefined");
    expect(outcome?.repaired).not.toEqual([]);
  });

  test("a tool that throws gives an error, and the next call works", async () => {
    let broken = true;
    const tools = manager([
      tool("a", {
        run: () => {
          if (broken) throw new Error("it broke");
          return "fine";
        },
      }),
    ]);
    expect(await errorOf(tools.executeOne(call("1", "a")))).toMatchObject({ kind: "execution", message: "it broke" });
    broken = false;
    expect((await tools.executeOne(call("2", "a"))).text).toBe("fine");
  });

  test("an expected failure is a result with its detail", async () => {
    const tools = manager([tool("a", { run: async () => ToolCallResult.failure("no such file") })]);
    expect((await tools.executeOne(call("1", "a"))).errorDetail).toBe("no such file");
  });

  test("a stream gives progress, then one result, and never throws", async () => {
    const tools = manager([]);
    tools.register({
      ...tool("a"),
      async *execute() {
        yield { type: "progress", text: "half" };
        yield { type: "result", result: ToolCallResult.text("whole") };
      },
    });
    const events = await collect(tools.stream(call("1", "a")));
    expect(events.map(({ type }) => type)).toEqual(["progress", "result"]);
    expect(await collect(tools.stream(call("2", "b")))).toMatchObject([
      { type: "error", error: { kind: "unknownTool" } },
    ]);
  });

  test("an unknown tool is an AgenticError of code tool", async () => {
    expect(AgenticError.is(await errorOf(manager([]).executeOne(call("1", "a"))), "tool")).toBe(true);
  });
});
