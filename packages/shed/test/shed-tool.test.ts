import { describe, expect, test } from "vitest";
import { call, collect, manager, tool } from "./parts.js";

const tools = () =>
  manager([
    tool("read", { category: "files", description: "Reads\n a file." }),
    tool("write", { category: "files", description: "Writes a file." }),
    tool("clock", { category: "time", description: "Tells the time of day." }),
  ]);

function shed(args: { [key: string]: string | number }) {
  return call("s1", "shed", { arguments: args });
}

describe("shed", () => {
  test("returns a line and the schema of each hit, and activates the hits under the id of its call", async () => {
    const session = tools();
    const result = await session.executeOne(shed({ description: "read a file" }));
    const [line, schema] = result.text.split("\n");
    expect(line).toBe("- read(path?): Reads a file.");
    expect(JSON.parse(schema ?? "")).toMatchObject({ type: "object", properties: { path: { type: "string" } } });
    expect(session.offeredTools().activations).toEqual([
      { name: "read", by: { toolCallId: "s1" } },
      { name: "write", by: { toolCallId: "s1" } },
    ]);
    expect(result.output).toMatchObject({ tools: [{ name: "read", category: "files" }, { name: "write" }] });
  });

  test("puts the tool whose name was given first, whatever else fits", async () => {
    const session = tools();
    session.register(tool("clock_of_clocks", { description: "A clock, a clock, a clock." }));
    const result = await session.executeOne(shed({ description: "Clock", limit: 1 }));
    expect(result.text).toMatch(/^- clock\(/);
    expect(session.activeDefinitions()).toHaveLength(1);
  });

  test("lists categories and names where nothing fits, and activates nothing", async () => {
    const session = tools();
    const result = await session.executeOne(shed({ description: "xylophone" }));
    expect(result.text).toContain("- files: read, write\n- time: clock");
    expect(session.activeDefinitions()).toEqual([]);
    expect((await session.executeOne(shed({ description: "" }))).text).toContain("- time: clock");
  });

  test("returns at most limit tools, 5 by default", async () => {
    const session = manager(Array.from({ length: 30 }, (_, i) => tool(`t${i}`, { description: "Paints a picture." })));
    await session.executeOne(shed({ description: "paint" }));
    expect(session.activeDefinitions()).toHaveLength(5);
    await session.executeOne(shed({ description: "picture", limit: "12" }));
    expect(session.activeDefinitions()).toHaveLength(12);
    await session.executeOne(shed({ description: "picture", limit: 1000 }));
    expect(session.activeDefinitions()).toHaveLength(20);
  });

  test("never returns what may not be used or listed, and fills the list with others", async () => {
    const session = manager([
      ...Array.from({ length: 20 }, (_, i) => tool(`hidden${i}`, { description: "Paint, paint, paint." })),
      tool("secret", { description: "Paint, paint.", shouldList: () => false }),
      tool("brush", { description: "Helps to paint a wall." }),
    ]);
    session.setAccess((name) => !name.startsWith("hidden"));
    const result = await session.executeOne(shed({ description: "paint" }));
    expect(result.text).toMatch(/^- brush\(/);
    expect(session.offeredTools().activations.map(({ name }) => name)).toEqual(["brush"]);
    expect((await session.executeOne(shed({ description: "zzzz" }))).text).not.toMatch(/hidden|secret/);
  });

  test("a tool that fails to say whether it may be listed is not listed, and costs no other", async () => {
    const shouldList = () => {
      throw new Error("not now");
    };
    const session = manager([tool("secret", { description: "Paint, paint.", shouldList }), tool("paint")]);
    expect((await session.executeOne(shed({ description: "paint" }))).text).toMatch(/^- paint\(/);
    expect(session.isActive("secret")).toBe(false);
    expect((await session.executeOne(shed({ description: "zzzz" }))).text).not.toContain("secret");
    const [refused] = await collect(session.runCalls([call("a", "secret")], { offeredOnly: true }));
    expect(refused).toMatchObject({ errorDetail: "notActive", attempts: 0 });
  });
});
