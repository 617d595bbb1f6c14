// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are the markers of templates
import { paramsOf, stateOf, ToolCallResult, type ToolImpl, type ToolMetadata } from "@shedkit/tool";
import { functionSpec } from "@shedkit/types";
import { describe, expect, test } from "vitest";
import { type ToolNotification, ToolShed } from "../src/index.js";
import { call, manager, parts, tool } from "./parts.js";

function toolWith(name: string, extra: Partial<ToolMetadata>, description?: string): ToolImpl {
  const plain = tool(name, description === undefined ? {} : { description });
  return { ...plain, metadata: { ...(plain.metadata as ToolMetadata), ...extra } };
}

/** Counts its calls. */
function counter(): ToolImpl {
  return {
    ...toolWith("counter", { state: { schema: { type: "integer" }, version: 1, initial: () => 0 } }),
    execute: async (_, { resources }) => {
      const count = resources.require(stateOf("test:counter"));
      const next = Number(count.get()) + 1;
      count.set(next);
      return ToolCallResult.text(String(next));
    },
  };
}

const sessions = [
  ["a shed", () => new ToolShed().tool(tool("look", { readOnly: true })).build(parts())],
  ["no shed", async () => manager([tool("look", { readOnly: true })])],
] as const;

describe.each(sessions)("a tool that joins a session of %s", (_, session) => {
  test("remembers, and its memory is told for the log; also after it was away", async () => {
    const tools = await session();
    tools.register(counter());
    await tools.executeOne(call("1", "counter"));
    expect(tools.states?.takeChanges()).toEqual([{ key: "test:counter", version: 1, value: 1 }]);
    tools.deregister("counter");
    tools.register(counter());
    expect((await tools.executeOne(call("2", "counter"))).text).toBe("2");
  });

  test("finds what it remembered in an earlier run", async () => {
    const tools = await new ToolShed().build(parts());
    tools.states?.restore({ key: "test:counter", version: 1, value: 41 });
    tools.register(counter());
    expect((await tools.executeOne(call("1", "counter"))).text).toBe("42");
  });

  test("has its reminders and its settings", async () => {
    const tools = await session();
    const reminders = [{ id: "r", collect: async () => [{ key: "k", text: "Mind the gap." }] }];
    const params = { schema: { type: "object" }, defaults: { depth: 3 } };
    tools.register(toolWith("late", { reminders, params }));
    expect((await tools.executeOne(call("1", "late"))).text).toContain("Mind the gap.");
    expect(tools.resources.get(paramsOf("test:late"))).toEqual({ depth: 3 });
  });

  test("has the names of the others in its description, and they can be told its own", async () => {
    const tools = await session();
    tools.register(toolWith("draw", { kind: "draw" as never }, "After ${{ tools.by_kind.read }}."));
    const described = toolWith("tell", { describe: ({ tool: named }) => `Like ${named("read")}.` });
    tools.register(described);
    const definitions = ["draw", "tell"].map((name) => tools.getDef(name));
    expect(definitions.map((each) => each && functionSpec(each).description)).toEqual(["After look.", "Like look."]);
    expect(tools.renderPrompt("${{ tools.by_kind.draw }}, ${{ tools.by_kind.read }}")).toBe("draw, look");
    tools.deregister("draw");
    expect(tools.renderPrompt("${{ tools.by_kind.draw }}!")).not.toContain("draw");
  });

  test("is named to the others, and no more once it is gone; shed is none of them", async () => {
    const tools = await session();
    tools.register({
      ...tool("guide"),
      execute: async (_, { names }) =>
        ToolCallResult.text(`${names.toolOf("draw")} ${names.paramOf("draw", "path")} ${names.toolOf("other")}`),
    });
    expect((await tools.executeOne(call("1", "guide"))).text).toBe("undefined undefined guide");
    tools.register(toolWith("draw", { kind: "draw" as never }));
    expect((await tools.executeOne(call("2", "guide"))).text).toBe("draw path guide");
    tools.deregister("draw");
    expect((await tools.executeOne(call("3", "guide"))).text).toBe("undefined undefined guide");
  });

  test("is refused with a description that cannot be filled in; one from elsewhere loses the markers", async () => {
    const tools = await session();
    expect(() => tools.register(toolWith("bad", {}, "Use ${{ 1 + }}."))).toThrow(
      expect.objectContaining({ kind: "invalidArguments", message: expect.stringContaining('"bad"') }),
    );
    tools.register(toolWith("far", { foreign: true }, "Use ${{ secrets.key }}."));
    const far = tools.getDef("far");
    expect(far && functionSpec(far).description).toBe("Use .");
  });

  test("may tell the host something, as others may", async () => {
    const tools = await session();
    tools.register({
      ...tool("late"),
      execute: async (__, ctx) => {
        ctx.notify("opened", { page: 1 });
        ctx.notify("closed");
        return ToolCallResult.text("");
      },
    });
    const heard: ToolNotification[] = [];
    const end = tools.onNotify((notification) => heard.push(notification));
    await tools.executeOne(call("1", "late"));
    end();
    await tools.executeOne(call("2", "late"));
    expect(heard).toEqual([
      { toolCallId: "1", tool: "late", name: "opened", data: { page: 1 } },
      { toolCallId: "1", tool: "late", name: "closed" },
    ]);
  });
});
