import { Resources, stateOf, type ToolImpl } from "@shedkit/tool";
import type { ToolArguments } from "@shedkit/types";
import { describe, expect, it } from "vitest";
import {
  applyPatchTool,
  deleteTool,
  editTool,
  fileChangeTools,
  filesTools,
  moveTool,
  multiEditTool,
  readTool,
  writeTool,
} from "../src/index.js";
import { content, failed, hosted, memoryFs } from "./helpers.js";

describe("the file tools and their host", () => {
  it("tell it of every change, with the texts before and after", async () => {
    const fs = memoryFs({ a: "one\n" });
    const told = async (tool: Parameters<typeof hosted>[0], args: Parameters<typeof hosted>[1]) =>
      (await hosted(tool, args)).told;
    expect(await told(editTool(fs), { path: "a", old_string: "one", new_string: "1" })).toEqual([
      ["fileChanged", { path: "a", change: "changed", before: "one\n", after: "1\n" }],
    ]);
    expect(await told(writeTool(fs), { path: "b", content: "x" })).toEqual([
      ["fileChanged", { path: "b", change: "created", after: "x" }],
    ]);
    expect(await told(writeTool(fs), { path: "b", content: "y" })).toEqual([
      ["fileChanged", { path: "b", change: "changed", before: "x", after: "y" }],
    ]);
    const edits = ["a", "b"].map((path) => ({ path, old_string: path === "a" ? "1" : "y", new_string: "z" }));
    expect(await told(multiEditTool(fs), { edits })).toEqual([
      ["fileChanged", { path: "a", change: "changed", before: "1\n", after: "z\n" }],
      ["fileChanged", { path: "b", change: "changed", before: "y", after: "z" }],
    ]);
    expect(
      await told(multiEditTool(fs), { edits: [{ path: "a", old_string: "z", new_string: "q" }], dry_run: true }),
    ).toEqual([]);
    expect(await told(moveTool(fs), { from: "a", to: "c" })).toEqual([
      ["fileChanged", { path: "c", change: "moved", from: "a" }],
    ]);
    expect(await told(deleteTool(fs), { path: "c" })).toEqual([["fileChanged", { path: "c", change: "removed" }]]);
    expect(await told(editTool(fs), { path: "b", old_string: "nope", new_string: "q" })).toEqual([]);
  });

  it("do not pass on large texts", async () => {
    const { told } = await hosted(writeTool(memoryFs()), { path: "b", content: "x".repeat(300_000) });
    expect(told).toEqual([["fileChanged", { path: "b", change: "created" }]]);
  });

  it("use the names that it gave to parameters", async () => {
    const fs = memoryFs({ f: "a a" });
    const rename = { old_string: "find", new_string: "put", replace_all: "every" };
    const many = await hosted(editTool(fs), { path: "f", old_string: "a", new_string: "b" }, { rename });
    expect(many.text).toContain("find stands 2 times");
    expect(many.text).toContain("set every to true");
    const same = await hosted(editTool(fs), { path: "f", old_string: "a", new_string: "a" }, { rename });
    expect(same.text).toContain("find and put are the same");
    const none = await hosted(editTool(fs), { path: "f", old_string: "zz", new_string: "a" }, { rename });
    expect(none.text).toMatch(/^find does not stand/);
  });

  it("keep what sessions have seen apart", async () => {
    const fs = memoryFs({ f: "one" });
    const [read, edit] = [readTool(fs), editTool(fs)];
    const first = { resources: new Resources(), sessionId: "first" };
    const second = { resources: new Resources(), sessionId: "second" };
    await hosted(read, { path: "f" }, first);
    await hosted(edit, { path: "f", old_string: "one", new_string: "two" }, second);
    const stale = await hosted(edit, { path: "f", old_string: "two", new_string: "three" }, first);
    expect(stale.text).toContain("changed by something else");
    await hosted(edit, { path: "f", old_string: "two", new_string: "three" }, second);
    expect(await content(fs, "f")).toBe("three");
  });

  it("want files to be read first where they are told to", async () => {
    const fs = memoryFs({ f: "one", g: "g" });
    const [read, edit, write] = [readTool(fs), editTool(fs, { readFirst: true }), writeTool(fs, { readFirst: true })];
    const change = { path: "f", old_string: "one", new_string: "1" };
    const says = '"f" has not been read yet. Nothing was written. Read it first, then make the change.';
    expect(await failed(edit, change)).toBe(says);
    expect(await failed(write, { path: "f", content: "" })).toBe(says);
    expect(await failed(multiEditTool(fs, { readFirst: true }), { edits: [change] })).toBe(says);
    const patch = "*** Begin Patch\n*** Update File: f\n@@\n-one\n+1\n*** End Patch";
    expect(await failed(applyPatchTool(fs, { readFirst: true }), { patch })).toBe(says);
    await read.call({ path: "f" });
    await edit.call(change);
    await write.call({ path: "new", content: "n" });
    await write.call({ path: "new", content: "m" });
    expect([await content(fs, "f"), await content(fs, "new")]).toEqual(["1", "m"]);
  });

  it("say of themselves what they are", () => {
    const fs = memoryFs();
    const tools = [...filesTools(fs), ...fileChangeTools(fs)];
    const facts = tools.map((tool) => {
      const definition = tool.definition();
      if (definition.type !== "single") throw new Error("not single");
      const { name, category, description } = definition.definition;
      expect(description.split("\n")[0]?.length).toBeLessThan(80);
      expect(tool.metadata?.capabilities.readOnly).toBe(["read", "list"].includes(name));
      return `${tool.metadata?.namespace}:${name} ${tool.metadata?.kind} ${category}`;
    });
    expect(facts).toEqual([
      "files:read read read",
      "files:write write write",
      "files:edit edit edit",
      "files:list listDir list",
      "files:multi_edit edit edit",
      "files:apply_patch edit edit",
      "files:delete delete delete",
      "files:move move move",
    ]);
  });

  it("name the tools that a model has, and do without those that it has not", async () => {
    const fs = memoryFs({ "d/f": "a\n", long: "x".repeat(200_000) });
    const tools = { read: "view", listDir: "ls", search: "grep", execute: "sh" };
    const told = async (tool: ToolImpl, args: ToolArguments, named = {}) =>
      (await hosted(tool, args, { tools: named, sessionId: "s" })).text;
    expect(await told(readTool(fs), { path: "d" }, tools)).toContain("List it with ls instead.");
    expect(await told(readTool(fs), { path: "d" })).toContain("List it instead.");
    expect(await told(readTool(fs), { path: "long" }, tools)).toContain(
      "Search the file with grep for what you need, or cut the line with sh.",
    );
    expect(await told(readTool(fs), { path: "long" })).toMatch(/Search the file for what you need\.$/);
    const miss = { path: "d/f", old_string: "b", new_string: "c" };
    expect(await told(editTool(fs), miss, tools)).toContain("Read the file with view and copy the text exactly");
    const edit = editTool(fs, { readFirst: true });
    expect(await told(edit, { ...miss, old_string: "a" }, tools)).toContain("Read it first with view, then");
  });

  it("notice after a restart what was changed while they were away", async () => {
    const fs = memoryFs({ f: "one\n", g: "two\n" });
    const kept = { value: "{}" }; // as a log keeps it
    const session = () => {
      const resources = new Resources();
      resources.insert(stateOf("files:read"), {
        get: () => JSON.parse(kept.value),
        set: (value) => {
          kept.value = JSON.stringify(value);
        },
      });
      return { resources, sessionId: "s" };
    };
    const first = session();
    await hosted(readTool(fs), { path: "f" }, first);
    await hosted(writeTool(fs), { path: "g", content: "two two\n" }, first);
    await fs.writeFile("f", "other\n");
    const again = session();
    const edit = (path: string, old_string: string) =>
      hosted(editTool(fs, { readFirst: true }), { path, old_string, new_string: "new" }, again);
    expect((await edit("f", "other")).text).toContain("was changed by something else");
    expect((await edit("g", "two two")).failed).toBe(false);
    await hosted(readTool(fs), { path: "f" }, again);
    expect((await edit("f", "other")).failed).toBe(false);
    const last = session();
    await fs.writeFile("g", "two\n");
    expect((await hosted(writeTool(fs), { path: "g", content: "" }, last)).failed).toBe(true);
    for (let i = 0; i < 60; i++) await hosted(writeTool(fs), { path: `n${i}`, content: "" }, last);
    expect(Object.keys(JSON.parse(kept.value))).toHaveLength(50);
  });
});
