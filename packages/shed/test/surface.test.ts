// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are the markers of templates
import { defineTool, FnTool, type ToolImpl, type ToolMetadata, toolFn } from "@shedkit/tool";
import { externalTool, type StateFile } from "@shedkit/toolset";
import { functionSpec, toolName } from "@shedkit/types";
import { Type } from "@sinclair/typebox";
import { describe, expect, test } from "vitest";
import { type ToolCallManager, ToolShed } from "../src/index.js";
import { call, parts, tool } from "./parts.js";

function toolOf(namespace: string, name: string, extra: Partial<ToolMetadata> = {}): ToolImpl {
  const plain = tool(name, { run: () => `${name} of ${namespace}` });
  return { ...plain, metadata: { ...(plain.metadata as ToolMetadata), namespace, ...extra } };
}

const remote = (name: string, readOnly?: boolean) =>
  externalTool({
    server: "far",
    name,
    description: "Far away.",
    capabilities: { readOnly },
    call: async () => ({ content: [{ type: "text", text: "far" }] }),
  });

const text = async (manager: ToolCallManager, name: string) => (await manager.executeOne(call("1", name))).text;

describe("a package", () => {
  test("adds what it has to a shed: tools, reminders, behaviour presets, what runs in the background", async () => {
    const log: string[] = [];
    const versions = [
      { version: "2", lifecycle: "active" },
      { version: "1", lifecycle: "deprecated", replacement: "2" },
    ] as const;
    const drawing = (shed: ToolShed) =>
      shed
        .tool(
          defineTool({
            id: "draw",
            kind: "write",
            description: "",
            versions,
            input: Type.Object({}),
            run: (_, ctx) => `drawn by ${ctx.version}`,
          }),
        )
        .preset("classic", { "user:draw": "1" })
        .reminder({ id: "wet", collect: async () => [{ key: "k", text: "The paint is wet." }] })
        .scheduler((set) => {
          log.push(`start with ${set.names()}`);
          return () => void log.push("stop");
        });
    const shed = new ToolShed().tool(tool("look")).use(drawing);
    expect(shed.names()).toEqual(["look", "draw"]);
    const manager = await shed.configure({ tools: [], behaviorPreset: "classic" }).build(parts());
    expect(await text(manager, "draw")).toMatch(/^drawn by 1\n<system-reminder>\nThe paint is wet/);
    expect(manager.warnings).toMatchObject([{ tool: "user:draw", category: "deprecated_version" }]);
    await manager.close();
    expect(log).toEqual(["start with look,draw", "stop"]);
    expect(await text(await shed.build(parts()), "draw")).toMatch(/^drawn by 2\n/);
    await expect(shed.configure({ tools: [], behaviorPreset: "no" }).build(parts())).rejects.toMatchObject({
      problems: [{ category: "behavior_preset" }],
    });
  });

  test("each session has a background of its own, which ends with it", async () => {
    const running = new Set<object>();
    const shed = new ToolShed().tool(tool("a")).scheduler((set) => {
      running.add(set);
      return () => void running.delete(set);
    });
    const [one, two] = [await shed.build(parts()), await shed.build(parts())];
    expect(running.size).toBe(2);
    await one.close();
    expect(running.size).toBe(1);
    await two.close();
    expect(running.size).toBe(0);
  });
});

test("what was started for a session that cannot be built is ended", async () => {
  const log: string[] = [];
  const started = new ToolShed().tool(tool("a")).scheduler(() => {
    log.push("start");
    return () => void log.push("stop");
  });
  const failing = started.scheduler(() => {
    throw new Error("no clock");
  });
  await expect(failing.build(parts())).rejects.toThrow("no clock");
  await expect(
    started
      .pin("b")
      .configure({ tools: [{ id: "a" }] })
      .build(parts()),
  ).rejects.toThrow(/pinned/);
  await expect(started.pin("a").configure({ tools: [], capability: "readOnly" }).build(parts())).rejects.toThrow(
    /pinned/,
  );
  expect(log).toEqual(["start", "stop", "start", "stop"]);
});

describe("reminders", () => {
  const told = "${% if system_reminders_enabled %}You will be told.${% endif %}";
  const shed = new ToolShed()
    .tool(new FnTool("a", told, { type: "object" }, async () => "done"))
    .reminder({ id: "r", collect: async () => [{ key: "k", text: "Mind the gap." }] });

  test("stand in the tag that was asked for", async () => {
    const manager = await shed.reminding({ tag: "note" }).build(parts());
    expect(await text(manager, "a")).toBe("done\n<note>\nMind the gap.\n</note>");
  });

  test("can be off, and descriptions and prompts know it", async () => {
    const manager = await shed.reminding(false).build(parts());
    expect(await text(manager, "a")).toBe("done");
    const described = (tools: ToolCallManager) => {
      const definition = tools.getDef("a");
      return definition && functionSpec(definition).description;
    };
    const on = await shed.build(parts());
    expect([described(manager), described(on)]).toEqual(["", "You will be told."]);
    expect([manager.renderPrompt(told), on.renderPrompt(told)]).toEqual(["", "You will be told."]);
  });
});

describe("tools of several sources", () => {
  test("give way in order: the program's own, external ones, remote ones; the warnings say whom to", async () => {
    const shed = new ToolShed()
      .tools([toolOf("hub", "read"), toolOf("hub", "paint"), toolOf("hub", "dance")], "remote")
      .tools([toolOf("mcp", "read"), toolOf("mcp", "paint"), toolOf("mcp", "read2", { id: "read" })], "external")
      .tools([toolOf("own", "read"), toolOf("own", "edit")]);
    expect(shed.names()).toEqual(["read", "edit", "paint", "read2", "dance"]);
    const manager = await shed.build(parts());
    expect(manager.names()).toEqual(["read", "edit", "paint", "dance"]);
    expect([await text(manager, "read"), await text(manager, "paint"), await text(manager, "dance")]).toEqual([
      "read of own",
      "paint of mcp",
      "dance of hub",
    ]);
    expect(manager.warnings.map(({ tool, category, message }) => [tool, category, message])).toEqual([
      ["mcp:read", "shadowed", expect.stringMatching(/external.*same id/)],
      ["mcp:read", "shadowed", expect.stringMatching(/external.*"own:read" of baseline/)],
      ["hub:read", "shadowed", expect.stringMatching(/remote.*"own:read" of baseline/)],
      ["hub:paint", "shadowed", expect.stringMatching(/remote.*"mcp:paint" of external/)],
    ]);
  });

  test("those of others are judged by the mode that the configuration gives", async () => {
    const manager = await new ToolShed()
      .tools([remote("look", true), remote("act"), toolOf("mcp", "read", { kind: "read" })], "external")
      .tool(toolOf("own", "edit", { kind: "edit" }))
      .configure({ tools: [], capability: "readOnly" })
      .pin("far__look")
      .pin("far__act")
      .build(parts());
    expect(manager.names()).toEqual(["far__look", "read"]);
    expect(manager.offeredTools().tools.map(toolName)).toEqual(["far__look"]);
    expect(manager.warnings.map(({ tool, category }) => `${tool} ${category}`)).toEqual([
      "external:far__act pruned",
      "own:edit pruned",
    ]);
    expect(() => manager.register(remote("do"))).toThrow(expect.objectContaining({ kind: "permissionDenied" }));
    manager.register(remote("see", true));
    expect(manager.names()).toEqual(["far__look", "read", "far__see"]);
  });

  test("nothing is left where a mode allows none of them", async () => {
    const manager = await new ToolShed()
      .tools([remote("act")], "external")
      .configure({ tools: [], capability: "readOnly" })
      .build(parts());
    expect(manager.names()).toEqual([]);
    expect(manager.offeredTools()).toEqual({ tools: [], activations: [] });
  });

  test("a configuration of the program's own tools takes none of the others away, and may say how it wants one", async () => {
    const manager = await new ToolShed()
      .tools([toolOf("own", "read"), toolOf("own", "edit")])
      .tools([toolOf("mcp", "paint"), toFn("late"), toolOf("mcp", "draw")], "external")
      .configure({ tools: [{ id: "read" }, { id: "paint", nameOverride: "brush" }] })
      .build(parts());
    expect(manager.names()).toEqual(["read", "brush", "late", "draw"]);
    expect(await text(manager, "brush")).toBe("paint of mcp");
    expect(manager.warnings).toEqual([]);
  });

  const toFn = (name: string) => toolFn(name, () => toolOf("mcp", name));

  test("a name that is given to an own tool is taken", async () => {
    const manager = await new ToolShed()
      .tool(toolOf("own", "read"))
      .tools([toolOf("mcp", "cat")], "external")
      .configure({ tools: [{ id: "own:read", nameOverride: "cat" }] })
      .build(parts());
    expect(await text(manager, "cat")).toBe("read of own");
    expect(manager.warnings).toMatchObject([{ tool: "mcp:cat", category: "shadowed" }]);
  });
});

test("without a session, a file keeps what tools remember, of late ones too", async () => {
  const counter = (id: string) =>
    defineTool({
      id,
      kind: "other",
      description: "",
      input: Type.Object({}),
      state: { schema: Type.Integer(), version: 1, initial: () => 0 },
      run: (_, { state }) => {
        state.set(state.get() + 1);
        return state.get();
      },
    });
  let kept: string | undefined;
  const stateFile: StateFile = {
    read: async () => kept,
    write: async (text) => {
      kept = text;
    },
    setAside: () => expect.fail("it was understood"),
  };
  const session = async () => {
    const manager = await new ToolShed().tool(counter("a")).build(parts(), { stateFile });
    manager.register(counter("late"));
    return manager;
  };
  const one = await session();
  expect([await text(one, "a"), await text(one, "a"), await text(one, "late")]).toEqual(["1", "2", "1"]);
  await one.flush();
  expect(kept).toContain('"user:late"');
  await one.close();
  const two = await session();
  expect([await text(two, "a"), await text(two, "late")]).toEqual(["3", "2"]);
  await two.close();
});
