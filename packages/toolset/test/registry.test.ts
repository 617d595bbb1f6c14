// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the markers of our own templates look so
import { defineCommands, defineTool, FnTool, paramsOf, type ToolImpl } from "@shedkit/tool";
import { type BoundTool, ToolRegistry, ToolSetBuilder } from "@shedkit/toolset";
import { functionSpec } from "@shedkit/types";
import { Type } from "@sinclair/typebox";
import { describe, expect, test } from "vitest";

const look = new FnTool("look", "Looks.", { type: "object" }, async () => "seen");
const versions = [
  { version: "2", lifecycle: "active" },
  { version: "1", lifecycle: "deprecated", replacement: "2" },
  { version: "0", lifecycle: "removalCandidate", replacement: "2" },
] as const;
const versioned = defineTool({
  id: "late",
  kind: "draw",
  description: ({ version }) => `As of ${version}.`,
  input: Type.Object({}),
  params: { schema: Type.Object({ depth: Type.Integer() }), defaults: { depth: 3 } },
  versions,
  run: (_, ctx) => `version ${ctx.version}, depth ${ctx.params.depth}`,
});

describe("a tool that joins at run time", () => {
  test("has the behaviour version that the set's preset names for it, and its settings", async () => {
    const builder = new ToolSetBuilder().tool(look).preset("old", { "user:late": "1" });
    for (const [behaviorPreset, version] of [
      ["old", "1"],
      [undefined, "2"],
    ] as const) {
      const set = await builder.build({ tools: [], behaviorPreset });
      const tools = set.registry();
      const { definition } = tools.register(versioned);
      expect(functionSpec(definition).description).toBe(`As of ${version}.`);
      expect(set.resources.get(paramsOf("user:late"))).toEqual({ depth: 3 });
      const outcome = await set.dispatcher({ tools }).run({ id: "1", name: "late", arguments: {} });
      expect(outcome.promptText).toBe(`version ${version}, depth 3`);
      const old = { tool: "user:late", category: "deprecated_version" };
      expect(tools.warnings).toMatchObject(version === "1" ? [old] : []);
      tools.unregister("late");
      expect(tools.warnings).toEqual([]);
    }
    expect(new ToolRegistry().register(versioned).version).toBe("2");
  });

  test("is refused where the version that it would have goes away", async () => {
    const builder = new ToolSetBuilder().tool(look).preset("gone", { "user:late": "0" });
    const tools = (await builder.build({ tools: [], behaviorPreset: "gone" })).registry();
    expect(() => tools.register(versioned)).toThrow(expect.objectContaining({ kind: "behaviorVersion" }));
    expect(() => tools.register(versioned)).toThrow(/late: Its behaviour version "0" goes away\. Use "2"/);
    expect(tools.names()).toEqual(["look"]);
  });

  test("is refused beside one that it cannot be with, whichever of the two says so; both are named", () => {
    const own = (id: string, namespace: string, conflicts?: string[]) =>
      defineTool({ id, namespace, kind: "edit", description: "", input: Type.Object({}), conflicts, run: () => "" });
    const edit = own("edit", "files");
    const lines = own("lines", "anchors", ["files:edit", "anchors:lines", "old"]);
    const both = ({ tool, beside }: { tool: string; beside: string }) =>
      expect.objectContaining({
        kind: "invalidArguments",
        message: `The tool "${tool}" cannot be beside "${beside}". Take "${beside}" out first, or leave this one out.`,
      });
    for (const [first, second] of [
      [edit, lines],
      [lines, edit],
      [lines, own("old", "anchors")],
    ] as const) {
      const tools = new ToolRegistry();
      const [beside, tool] = [tools.register(first).name, second.metadata.id];
      expect(() => tools.register(second)).toThrow(both({ tool, beside }));
      expect(tools.names()).toEqual([beside]);
      tools.unregister(beside);
      tools.register(second);
      expect(() => tools.register(first)).toThrow(both({ tool: beside, beside: tool }));
    }
    const tools = new ToolRegistry();
    for (const tool of [lines, own("edit", "other"), own("old", "files2")]) tools.register(tool);
    expect(tools.names()).toEqual(["lines", "edit", "old"]);
  });

  test("is known to the others, to prompts, and to what reminders require; until it goes", async () => {
    const reminder = {
      id: "r",
      requires: { kind: "draw" },
      collect: async () => [{ key: "k", text: "You can draw." }],
    };
    const speak = defineTool({
      id: "speak",
      kind: "other",
      description: "",
      input: Type.Object({}),
      run: (_, { names }) => `use ${names.toolOf("draw") ?? "nothing"}`,
    });
    const set = await new ToolSetBuilder().tools([look, speak]).reminder(reminder).build();
    const tools = set.registry();
    const dispatcher = set.dispatcher({ tools });
    const said = async () => (await dispatcher.run({ id: "1", name: "speak", arguments: {} })).promptText;
    const prompt = () => tools.renderPrompt("${{ tools.by_kind.draw }}|${{ system_reminders_enabled }}");
    expect([await said(), prompt()]).toEqual(["use nothing", "|true"]);
    tools.register(versioned);
    expect([await said(), prompt()]).toEqual([expect.stringMatching(/^use late\n[\s\S]*You can draw/), "late|true"]);
    tools.unregister("late");
    expect([await said(), prompt()]).toEqual(["use nothing", "|true"]);
    expect(set.names()).toEqual(["look", "speak"]);
  });

  test("a reminder of the tool's own has its own requirement, by the tool's settings", async () => {
    const own = (level: number) =>
      defineTool({
        id: "own",
        kind: "other",
        description: "",
        input: Type.Object({}),
        params: { schema: Type.Object({ level: Type.Integer() }), defaults: { level } },
        reminders: [
          {
            id: "r",
            // biome-ignore lint/suspicious/noThenProperty: requirements have one
            requires: { ifParams: { level: 2 }, then: { kind: "draw" } },
            collect: async () => [{ key: "k", text: "Mind it." }],
          },
        ],
        run: () => "done",
      });
    const said = async (tool: ToolImpl) =>
      (await (await new ToolSetBuilder().tool(tool).build()).dispatcher().run({ id: "1", name: "own", arguments: {} }))
        .promptText;
    expect(await said(own(1))).toContain("Mind it.");
    expect(await said(own(2))).toBe("done");
  });

  test("promises no reminders where the set has none", async () => {
    const told = "${% if system_reminders_enabled %}You will be told.${% endif %}";
    const tool = new FnTool("tell", told, { type: "object" }, async () => "");
    const descriptionIn = async (reminders: false | undefined) => {
      const tools = (await new ToolSetBuilder().tool(look).build(undefined, { reminders })).registry();
      return functionSpec(tools.register(tool).definition).description;
    };
    expect([await descriptionIn(undefined), await descriptionIn(false)]).toEqual(["You will be told.", ""]);
  });
});

test("a command writes its description for the names and its own settings in force, in a set and later", async () => {
  const add = defineTool({
    id: "add",
    kind: "write",
    description: ({ tool, params }) =>
      `Adds up to ${(params as { max: number }).max}; see \${{ tools.by_kind.read }}/${tool("read")}.`,
    input: Type.Object({}),
    params: { schema: Type.Object({ max: Type.Integer() }), defaults: { max: 3 } },
    run: () => "",
  });
  const notes = defineCommands({ name: "notes", namespace: "n", commands: { add } });
  const see = defineTool({ id: "see", kind: "read", description: "", input: Type.Object({}), run: () => "" });
  const text = (tool: BoundTool | undefined) => {
    const definition = tool?.definition;
    return definition?.type === "multi" ? definition.commands[0]?.description : undefined;
  };
  const builder = new ToolSetBuilder().tools([see, notes]);
  const set = await builder.build({
    tools: [
      { id: "see", nameOverride: "cat" },
      { id: "notes", params: { add: { max: 9 } } },
    ],
  });
  expect(text(set.get("notes"))).toBe("Adds up to 9; see cat/cat.");
  const registry = (await new ToolSetBuilder().tool(see).build()).registry();
  expect(text(registry.register(notes))).toBe("Adds up to 3; see see/see.");
});

test("registries of one set do not see each other's tools", async () => {
  const set = await new ToolSetBuilder().tool(look).build();
  const [one, two] = [set.registry(), set.registry()];
  one.register(versioned);
  expect([one.names(), two.names(), set.names()]).toEqual([["look", "late"], ["look"], ["look"]]);
});
