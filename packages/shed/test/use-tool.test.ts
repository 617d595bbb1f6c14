import { defineTool, FnTool } from "@shedkit/tool";
import { functionSpec, toolName } from "@shedkit/types";
import { Type } from "@sinclair/typebox";
import { describe, expect, test } from "vitest";
import { type ToolCallManager, type ToolCallRequest, ToolShed, ToolShedError } from "../src/index.js";
import { call, collect, manager, parts, tool } from "./parts.js";

const use = (tool_name: unknown, tool_input?: unknown, id = "c1"): ToolCallRequest =>
  call(id, "use_tool", { arguments: { tool_name, ...(tool_input !== undefined && { tool_input }) } as never });

function session(options: { correct?: boolean; ordering?: boolean; strict?: boolean } = {}): ToolCallManager {
  const { ordering, strict, ...callByName } = options;
  return manager(
    [
      tool("read", { readOnly: true, run: ({ path }) => `read ${path ?? "nothing"}` }),
      tool("write", { run: ({ path }) => `wrote ${path}` }),
      tool("hidden", { shouldList: () => false }),
    ],
    { callByName, ordering, strict },
  );
}

async function run(tools: ToolCallManager, request: ToolCallRequest, options = {}) {
  const [outcome] = await collect(tools.runCalls([request], { offeredOnly: true, ...options }));
  if (outcome === undefined) throw new Error("no outcome");
  return outcome;
}

describe("use_tool", () => {
  test("is there where it was asked for, and what shed finds is not declared", async () => {
    const tools = session();
    const before = tools.offeredTools();
    expect(before.shed).toBeUndefined();
    expect(before.tools.map(toolName)).toEqual(["shed", "use_tool"]);
    const found = await tools.executeOne(call("s", "shed", { arguments: { description: "read" } }));
    expect(found.text).toContain('- read(path?): The tool read.\n{"type":"object"');
    expect(found.text).toMatch(/\nCall them by use_tool: \{"tool_name": "read", "tool_input": \{\.\.\.\}\}$/);
    expect(tools.offeredTools()).toBe(before);
    expect(manager([tool("a")]).offeredTools().tools).toEqual([]);
    expect(manager([], { callByName: {} }).offeredTools()).toEqual({ tools: [], activations: [] });
  });

  test("runs the tool as if it were called directly", async () => {
    const tools = session();
    const direct = await tools.executeOne(call("c1", "read", { arguments: { path: "a" } }));
    const outcome = await run(tools, use("read", { path: "a" }));
    expect(outcome).toMatchObject({ promptText: "read a", effectiveName: "read", attempts: 1 });
    expect(outcome.request).toMatchObject({ id: "c1", name: "read", arguments: { path: "a" } });
    expect(outcome.content).toEqual(direct.content);
    expect((await tools.executeOne(use("read", { path: "a" }))).content).toEqual(direct.content);
    expect((await tools.executeWithRetry(use("read", { path: "a" }))).content).toEqual(direct.content);
    expect(await collect(tools.stream(use("read", { path: "a" })))).toMatchObject([
      { type: "result", result: { content: direct.content } },
    ]);
    expect(tools.validateArguments(use("read", { path: "a" }))).toEqual({ path: "a" });
    expect(tools.callInfo(use("read", { path: "a" }))).toEqual(
      tools.callInfo(call("c1", "read", { arguments: { path: "a" } })),
    );
    expect(tools.isActive("read")).toBe(false);
  });

  test.each([
    ["an object", { path: "a" }, "read a"],
    ["an object as text", '{"path": "a"}', "read a"],
    ["null", null, "read nothing"],
    ["nothing", undefined, "read nothing"],
    ["an empty text", "", "read nothing"],
  ])("takes an input that is %s", async (_, input, said) => {
    expect((await run(session(), use("read", input))).promptText).toBe(said);
  });

  test("takes arguments that came as text, and says what was mended in them and in the input", async () => {
    const count = defineTool({
      id: "count",
      kind: "other",
      description: "",
      input: Type.Object({ to: Type.Integer() }),
      run: ({ to }) => `to ${to}`,
    });
    const tools = manager([count], { callByName: {} });
    const rawArguments = '{"tool_name": "count", "tool_input": "{\\"to\\": \\"3\\"}",}';
    const outcome = await run(tools, call("c1", "use_tool", { rawArguments }));
    expect(outcome.promptText).toBe("to 3");
    expect(outcome.repaired?.length).toBeGreaterThanOrEqual(2);
  });

  test("refuses an input that is no object, and checks it by the tool's own schema", async () => {
    for (const input of [[1], 3, true, "no json"]) {
      const { error, attempts } = await run(session(), use("read", input));
      expect(error).toMatchObject({ kind: "invalidArguments" });
      expect(attempts).toBe(0);
    }
    const wrong = await run(session(), use("read", { file: "a" }));
    expect(wrong.error).toMatchObject({ kind: "invalidArguments" });
    expect(wrong.promptText).toContain("read");
    const without = await run(session(), call("c1", "use_tool", { arguments: { path: "a" } }));
    expect(without.promptText).toContain("tool_name");
  });

  test("tells a model to call a declared tool directly, unless that is switched off", async () => {
    const tools = session();
    tools.activate(["read"], "pin");
    const { error } = await run(tools, use("read", {}));
    expect(error).toMatchObject({ kind: "invalidArguments" });
    expect(error?.message).toBe(
      'tool_name: "read" cannot be called by use_tool. It is a tool that you have: call read directly, with its own arguments.',
    );
    expect((await run(tools, use("shed", { description: "a" }))).error?.message).toContain("call shed directly");
    const generic = session({ correct: false });
    generic.activate(["read"], "pin");
    expect((await run(generic, use("read", {}))).error).toMatchObject({
      kind: "invalidArguments",
      message: 'tool_name: "read" cannot be called by use_tool.',
    });
    expect((await tools.executeOne(call("1", "read"))).text).toBe("read nothing");
    const found = await tools.executeOne(call("s", "shed", { arguments: { description: "read write" } }));
    expect(found.text).toContain('\nCall read directly.\nCall the others by use_tool: {"tool_name": "write"');
  });

  test("does not call itself", async () => {
    const nested = use("use_tool", { tool_name: "read", tool_input: {} });
    const { error, attempts } = await run(session(), nested);
    expect(error).toMatchObject({ kind: "invalidArguments" });
    expect(error?.message).toContain("Give the name of the tool that is to run.");
    expect(attempts).toBe(0);
  });

  test.each(["nothing", "far__away", "__proto__", ""])("sends a model that names no tool to shed: %j", async (name) => {
    const { error } = await run(session(), use(name, {}));
    expect(error).toMatchObject({ kind: "unknownTool" });
    expect(error?.message).toContain("Look tools up with shed.");
  });

  test("a tool that is called directly though it is not declared does not run, and stays so", async () => {
    const tools = session();
    const before = tools.offeredTools();
    const { error, attempts } = await run(tools, call("c1", "read"));
    expect(error).toMatchObject({ kind: "notActive" });
    expect(error?.message).toContain('It is called by use_tool: "tool_name" is "read"');
    expect(attempts).toBe(0);
    expect(tools.offeredTools()).toBe(before);
  });

  test("goes through what every call goes through: access, leave, listing, retries, hooks", async () => {
    const tools = session();
    tools.setAccess((name) => name !== "write");
    expect((await run(tools, use("write", {}))).error).toMatchObject({ kind: "unauthorized" });
    expect((await run(tools, use("hidden", {}))).error).toMatchObject({ kind: "notActive" });
    const asked: [string, object][] = [];
    const before = ({ name, arguments: args }: ToolCallRequest) => void asked.push([name, args]);
    const after: string[] = [];
    await run(tools, use("read", { path: "a" }), {
      before,
      after: ({ request, effectiveName }: { request: ToolCallRequest; effectiveName?: string }) =>
        void after.push(`${request.id} ${effectiveName}`),
    });
    expect(asked).toEqual([["read", { path: "a" }]]);
    expect(after).toEqual(["c1 read"]);
  });

  test("is ordered by what the tools do, not by what it is", async () => {
    const tools = session();
    const reads = tools.buildWorkflow([use("read", {}, "1"), use("read", {}, "2")]);
    expect(reads.stages.map(({ calls }) => calls.length)).toEqual([2]);
    const writes = tools.buildWorkflow([use("write", {}, "1"), use("read", {}, "2"), use("nothing", {}, "3")]);
    expect(writes.stages[0]?.calls.map(({ id }) => id)).not.toContain("2");
  });

  test.each([
    ["its own arguments", { tool_name: "read", tool_input: { path: "b" }, _after: [0] }],
    ["those of the tool", { tool_name: "read", tool_input: { path: "b", _after: [0] } }],
  ])("is ordered by _after in %s", async (_, args) => {
    const tools = session({ ordering: true });
    const declared = tools.offeredTools().tools.map((tool) => functionSpec(tool).parameters);
    expect(JSON.stringify(declared).match(/_after/g)).toHaveLength(2);
    const calls = [use("read", { path: "a" }, "1"), call("2", "use_tool", { arguments: args })];
    expect(tools.buildWorkflow(calls).stages.map(({ calls }) => calls.map(({ id }) => id))).toEqual([["1"], ["2"]]);
    const outcomes = await collect(tools.runCalls(calls, { offeredOnly: true }));
    expect(outcomes.map(({ promptText }) => promptText)).toEqual(["read a", "read b"]);
  });

  test("stands for tools that come later, whatever their names", async () => {
    const tools = session();
    tools.register(new FnTool("late", "Late.", { type: "object" }, async () => "late"));
    expect((await run(tools, use("late", {}))).promptText).toBe("late");
    expect(() => tools.register(tool("use_tool"))).toThrow(/No tool may be named "use_tool"/);
    manager([]).register(tool("use_tool")); // where there is none, the name is like any other
  });
});

describe("a shed whose tools are called by name", () => {
  test("keeps the name for itself", async () => {
    const shed = new ToolShed().tools([tool("a"), tool("use_tool")]);
    await (await shed.build(parts())).close();
    await expect(shed.callByName().build(parts())).rejects.toBeInstanceOf(ToolShedError);
    const renamed = new ToolShed().tool(tool("a")).configure({ tools: [{ id: "a", nameOverride: "use_tool" }] });
    await expect(renamed.callByName().build(parts())).rejects.toMatchObject({
      problems: [{ type: "reservedName", name: "use_tool" }],
    });
  });

  test("declares what is pinned, and keeps to what a configuration calls tools", async () => {
    const shed = new ToolShed()
      .tools([tool("a"), tool("b", { run: ({ path }) => `b ${path}` })])
      .configure({ tools: [{ id: "a" }, { id: "b", nameOverride: "bee", paramsNameOverrides: { path: "where" } }] });
    const tools = await shed.pin("a").callByName().build(parts());
    expect(tools.offeredTools().tools.map(toolName)).toEqual(["shed", "use_tool", "a"]);
    expect(tools.offeredTools().activations.map(({ by }) => by)).toEqual(["pin", "pin", "pin"]);
    expect((await run(tools, use("bee", { where: "x" }))).promptText).toBe("b x");
    expect((await run(tools, use("b", {}))).error).toMatchObject({ kind: "unknownTool" });
    await tools.close();
  });
});
