// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are the markers of templates
import { toolFn } from "@shedkit/tool";
import { externalTool } from "@shedkit/toolset";
import { AgenticError, type Embedder, type JsonSchema, toolName } from "@shedkit/types";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { ToolShed, ToolShedError } from "../src/index.js";
import { parts, tool } from "./parts.js";

async function problemsOf(shed: ToolShed) {
  const error = await shed.build(parts()).then(
    () => expect.fail("nothing was thrown"),
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(ToolShedError);
  expect(AgenticError.is(error, "toolShed")).toBe(true);
  return error as ToolShedError;
}

function external(name: string, input: JsonSchema) {
  return { server: "far", name, description: "Far away.", input, call: async () => ({ content: [] }) };
}

describe("ToolShed", () => {
  test("is immutable: one shed may be the start of several", () => {
    const shed = new ToolShed().tool(tool("a"));
    const more = shed.tools([tool("b"), toolFn("c", () => tool("c"))]);
    expect(shed.names()).toEqual(["a"]);
    expect(more.names()).toEqual(["a", "b", "c"]);
    expect(more.contains("c")).toBe(true);
    expect(more.get("d")).toBeUndefined();
  });

  test("calls every constructor once a session, with the session's own parts", async () => {
    const given: unknown[] = [];
    const shed = new ToolShed().tool(
      toolFn("late", async (session) => {
        given.push(session);
        return tool("late");
      }),
    );
    const first = parts();
    const second = parts();
    const manager = await shed.build(first);
    await shed.build(second);
    expect(given).toEqual([first, second]);
    expect(given[0]).toBe(first);
    expect(manager.names()).toEqual(["late"]);
    expect(manager.resources).toBe(first.resources);
    expect(manager.sessionId).toBe(first.sessionId);
  });

  test.each<[string, unknown]>([
    ["null", null],
    ["an object", {}],
    ["the string", "read"],
  ])("takes nothing but tools: %s", (shown, entry) => {
    expect(() => new ToolShed().tool(entry as never)).toThrow(shown);
    expect(() => new ToolShed().tools(5 as never)).toThrow("A shed takes a list of tools");
  });

  test.each([-1, Number.NaN, "many"])("keeps no number of tools active that is none: %s", (count) => {
    expect(() => new ToolShed().maxActive(count as never)).toThrow("maxActive: wanted a number of at least 0");
  });

  test("a constructor that makes no tool is a problem", async () => {
    const shed = new ToolShed().tools([toolFn("a", () => undefined as never), toolFn("b", async () => ({}) as never)]);
    expect((await problemsOf(shed)).problems).toMatchObject([
      { tool: "a", category: "construct", message: "The constructor made no tool, but gave nothing." },
      { tool: "b", category: "construct" },
    ]);
  });

  test("reports every problem at once", async () => {
    const shed = new ToolShed().tools([tool("a"), tool("a"), tool("a"), tool("b"), tool("b"), tool("shed")]).pin("z");
    expect((await problemsOf(shed)).problems).toEqual([
      { type: "duplicateTool", name: "a" },
      { type: "duplicateTool", name: "b" },
      { type: "reservedName", name: "shed" },
      {
        type: "configuration",
        tool: "z",
        category: "pin",
        message: 'It is pinned, but there is no tool of that name. There are "a", "b".',
      },
    ]);
  });

  test("says once what keeps several tools from being made", async () => {
    const missing = () => {
      throw new Error("The package p is not installed.");
    };
    const { message, problems } = await problemsOf(
      new ToolShed().tools([toolFn("a", missing), toolFn("b", missing), toolFn("c", () => tool("d"))]),
    );
    expect(problems).toHaveLength(3);
    expect(message.split("\n")).toEqual([
      expect.stringMatching(/^a, b: The constructor failed: .*The package p is not installed\./),
      expect.stringContaining('"c"'),
    ]);
  });

  test("reports constructors that make a tool of another name, and those that fail, by name", async () => {
    const shed = new ToolShed().tools([
      toolFn("a", () => tool("b")),
      toolFn("c", () => tool("d")),
      toolFn("e", () => {
        throw new Error("no key");
      }),
    ]);
    const error = await problemsOf(shed);
    expect(error.problems).toMatchObject([
      { type: "nameMismatch", declared: "a", built: "b" },
      { type: "nameMismatch", declared: "c", built: "d" },
      { type: "configuration", tool: "e", category: "construct" },
    ]);
    expect(error.message).toContain('"a"');
    expect(error.message).toContain("no key");
  });

  test("declares pinned tools from the start, in the order of the pins", async () => {
    const manager = await new ToolShed()
      .tools([tool("a"), tool("b"), tool("c")])
      .pin("c")
      .pin("a")
      .build(parts());
    expect(manager.offeredTools().tools.map(toolName)).toEqual(["c", "a"]);
    expect(manager.offeredTools().activations).toEqual([
      { name: "c", by: "pin" },
      { name: "a", by: "pin" },
    ]);
  });

  test("what comes and goes in one session is nothing to another, or to the next", async () => {
    const shed = new ToolShed().tools(["a", "b", "c"].map((name) => tool(name))).pin("a", "b");
    const changing = await shed.build(parts());
    const beside = await shed.build(parts());
    expect(beside.offeredTools()).toBe(changing.offeredTools()); // what they begin with is made once
    const begun = structuredClone(beside.offeredTools());
    changing.activate(["c"]);
    changing.register(tool("d"));
    changing.activate(["d"], "pin");
    changing.deactivate(["a"]);
    changing.deregister("b");
    expect(changing.names()).toEqual(["a", "c", "d"]);
    expect(changing.offeredTools().activations.map(({ name }) => name)).toEqual(["c", "d"]);
    for (const session of [beside, await shed.build(parts())]) {
      expect(session.names()).toEqual(["a", "b", "c"]);
      expect(session.offeredTools()).toEqual(begun);
      expect(session.isActive("a")).toBe(true);
    }
  });

  test("hands its settings to the sessions", async () => {
    const manager = await new ToolShed().tool(tool("a")).strict().ordering().maxActive(0).build(parts());
    expect(() => manager.checkOffered("a")).toThrow(/Look tools up with shed/);
    expect(manager.isActive("a")).toBe(false);
    manager.activate(["a"]);
    expect(JSON.stringify(manager.getDef("a"))).toContain("_after");
    expect(manager.trimActive()).toEqual(["a"]);
  });

  test("gives the tools the names, the settings and the limits of a configuration", async () => {
    const shed = new ToolShed()
      .tools([tool("a", { readOnly: true, run: ({ path }) => String(path) }), tool("b"), tool("c", { readOnly: true })])
      .pin("open")
      .configure({
        tools: [{ id: "a", nameOverride: "open", paramsNameOverrides: { path: "file" } }, { id: "b" }],
        capability: "readOnly",
      });
    const manager = await shed.build(parts());
    expect(manager.names()).toEqual(["open"]);
    expect(manager.warnings).toMatchObject([{ tool: "test:b", category: "pruned" }]);
    const result = await manager.executeOne({ id: "1", name: "open", arguments: { file: "x" } });
    expect(result.text).toBe("x");
    expect(manager.renderPrompt("Use ${{ tools.by_kind.read }}.")).toBe("Use open.");
    expect((await manager.searchTools("file", 1)).map(({ name }) => name)).toEqual(["open"]);
    await manager.close();
  });

  test("reports what is wrong with a configuration, pins of tools that it leaves out, and ids used twice", async () => {
    const shed = new ToolShed().tools([tool("a"), tool("b")]);
    expect((await problemsOf(shed.configure({ tools: "all" } as never))).problems).toMatchObject([
      { type: "configuration", tool: "(global)", category: "config", fieldPath: "tools" },
    ]);
    expect((await problemsOf(shed.configure({ tools: [{ id: "x" }] }))).problems).toMatchObject([
      { type: "configuration", tool: "x", category: "tool_not_found" },
    ]);
    expect((await problemsOf(shed.pin("a").configure({ tools: [], capability: "readOnly" }))).problems).toMatchObject([
      { type: "configuration", tool: "a", category: "pin" },
    ]);
    const twin = { ...tool("b2"), metadata: tool("b").metadata };
    expect((await problemsOf(shed.tool(twin))).problems).toMatchObject([
      { type: "configuration", tool: "test:b", category: "duplicate_id" },
    ]);
  });

  test("reports every tool whose schema is not valid", async () => {
    const broken = (name: string) => ({
      ...tool(name),
      definition: () => ({
        type: "single" as const,
        definition: {
          name,
          category: "c",
          description: "d",
          arguments: { type: "object", properties: { p: { type: 5 } } },
        },
      }),
    });
    const problems = (await problemsOf(new ToolShed().tools([broken("a"), tool("b"), broken("c")]))).problems;
    expect(problems).toMatchObject([
      { tool: "test:a", category: "schema" },
      { tool: "test:c", category: "schema" },
    ]);
  });

  test("leaves out tools from elsewhere whose schemas are not valid, by name, pinned ones too", async () => {
    const good = externalTool(external("good", { type: "object" }));
    const bad = externalTool(external("bad", { type: "object", properties: { p: { type: 5 } } }));
    const shed = new ToolShed().tools([good, bad, tool("own")]).pin("far__bad", "far__good");
    const manager = await shed.build(parts());
    expect(manager.names()).toEqual(["far__good", "own"]);
    expect(manager.offeredTools().tools.map(toolName)).toEqual(["far__good"]);
    expect(manager.warnings).toMatchObject([{ tool: "external:far__bad", category: "schema" }]);
    expect(manager.warnings[0]?.message).toContain("far__bad");
    const own = {
      ...tool("broken"),
      definition: () => ({
        type: "single" as const,
        definition: { name: "broken", category: "c", description: "d", arguments: { type: 5 } },
      }),
    };
    expect((await problemsOf(shed.tool(own))).problems).toMatchObject([{ tool: "test:broken", category: "schema" }]);
    expect((await problemsOf(shed.pin("far__no"))).problems).toMatchObject([{ tool: "far__no", category: "pin" }]);
  });

  test("makes code only for the schemas of tools that are called often", async () => {
    await new ToolShed().tool(tool("first")).build(parts()); // tries whether code can be made
    const made = vi.spyOn(globalThis, "Function");
    onTestFinished(() => made.mockRestore());
    const tools = Array.from({ length: 20 }, (_, i) => tool(`t${i}`));
    const manager = await new ToolShed().tools(tools).build(parts());
    expect(made).not.toHaveBeenCalled();
    const call = (i: number, name: string) => manager.executeOne({ id: `${i}`, name, arguments: {} });
    for (let i = 0; i < 5; i++) await call(i, "t3");
    expect(made).not.toHaveBeenCalled();
    for (let i = 0; i < 300; i++) await call(i, "t7");
    expect(made).toHaveBeenCalledTimes(1);
  });

  test("appends what reminders have to say to the results of calls", async () => {
    const shed = new ToolShed()
      .tool(tool("a"))
      .reminder({ id: "r", collect: async () => [{ key: "k", text: "Mind the gap." }] });
    const manager = await shed.build(parts());
    expect((await manager.executeOne({ id: "1", name: "a", arguments: {} })).text).toContain("Mind the gap.");
  });

  test("searches by meaning where the session has an embedder", async () => {
    const embedder: Embedder = {
      id: "feline",
      embed: async (texts) => texts.map((text) => Float32Array.of(/cat|feline/i.test(text) ? 1 : 0, 0.1)),
    };
    const shed = new ToolShed().tools([
      tool("a", { description: "Feeds a dog." }),
      tool("b", { description: "Feeds a cat." }),
    ]);
    const manager = await shed.build(parts(embedder));
    expect((await manager.searchTools("feline companions", 1)).map(({ name }) => name)).toEqual(["b"]);
  });

  test("an embedder that fails costs no session: tools are looked up by words, and the warnings say so", async () => {
    let broken = true;
    const embedder: Embedder = {
      id: "down",
      embed: (texts) =>
        broken ? Promise.reject(new Error("embedder down")) : Promise.resolve(texts.map(() => Float32Array.of(1))),
    };
    const shed = new ToolShed().tools([tool("dog", { description: "Feeds a dog." }), tool("cat")]);
    const manager = await shed.build(parts(embedder));
    expect(manager.warnings).toMatchObject([
      { category: "embedder", message: expect.stringContaining("embedder down") },
    ]);
    const look = { id: "1", name: "shed", arguments: { description: "feed a dog", limit: 1 } };
    expect((await manager.executeOne(look)).text).toMatch(/^- dog\(/);
    broken = false;
    const nothing = { id: "2", name: "shed", arguments: { description: "xylophone" } };
    expect((await manager.executeOne(nothing)).text).toContain("No tool matches");
    expect(manager.warnings).toEqual([]);
  });
});
