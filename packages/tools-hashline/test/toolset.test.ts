import { MemoryFileSystem } from "@shedkit/fs/memory";
import { ToolShed, ToolShedError } from "@shedkit/shed";
import { Resources } from "@shedkit/tool";
import { filesTools } from "@shedkit/tools-files";
import { searchFileTool } from "@shedkit/tools-search";
import type { StateFile } from "@shedkit/toolset";
import { newSessionId } from "@shedkit/types";
import { describe, expect, test } from "vitest";
import { hashlineTools } from "../src/index.js";
import { anchors, content } from "./helpers.js";

function parts() {
  return {
    sessionId: newSessionId(),
    context: { search: async () => [] },
    memory: { facts: async () => [], edit: async () => 1 },
    resources: new Resources(),
  };
}

async function problems(shed: ToolShed) {
  try {
    await (await shed.build(parts())).close();
    return [];
  } catch (error) {
    if (error instanceof ToolShedError) return error.problems;
    throw error;
  }
}

const fs = new MemoryFileSystem({ "a.txt": "one\ntwo\n" });
const standard = [...filesTools(fs), searchFileTool(fs)];

describe("a configuration", () => {
  test("has the standard tools or these, not both", async () => {
    expect(await problems(new ToolShed().tools(standard).tools(hashlineTools(fs)))).toMatchObject([
      {
        type: "configuration",
        tool: "(file-toolset)",
        category: "file_toolset_conflict",
        fieldPath: "tools",
        badValue: [
          "hashline:hashline_read",
          "hashline:hashline_grep",
          "hashline:hashline_edit",
          "files:read",
          "files:edit",
          "search:search_file",
        ],
      },
    ]);
    expect(await problems(new ToolShed().tools(standard))).toEqual([]);
    expect(await problems(new ToolShed().tools(hashlineTools(fs)))).toEqual([]);
  });

  test.each(["files:read", "files:edit", "search:search_file"])("one of them is enough: %s", async (id) => {
    const shed = new ToolShed().tools(standard).tools(hashlineTools(fs));
    const mixed = shed.configure({ tools: [{ id }, { id: "hashline:hashline_edit" }] });
    expect(await problems(mixed)).toMatchObject([{ category: "file_toolset_conflict" }]);
    expect(await problems(shed.configure({ tools: [{ id }] }))).toEqual([]);
  });

  test("may have other file tools beside these, which know what was seen", async () => {
    const files = new MemoryFileSystem({ "a.txt": "one\ntwo\n" });
    const [, write, , list] = filesTools(files);
    if (!write || !list) throw new Error("no tools");
    const tools = await new ToolShed().tools([...hashlineTools(files), write, list]).build(parts());
    const call = (name: string, args: object) => tools.executeOne({ id: name, name, arguments: { ...args } });
    await call("hashline_read", { path: "a.txt" });
    await files.writeFile("a.txt", "changed\n");
    expect((await call("write", { path: "a.txt", content: "x" })).text).toContain("Read it again with hashline_read");
    await tools.close();
  });

  test("what was seen of files is there again when the tools' memories are", async () => {
    const files = new MemoryFileSystem({ "a.txt": "one\ntwo\n" });
    let kept: string | undefined;
    const stateFile: StateFile = {
      read: async () => kept,
      write: async (text) => {
        kept = text;
      },
      setAside: () => expect.fail("it was understood"),
    };
    const session = () => new ToolShed().tools(hashlineTools(files)).build(parts(), { stateFile });
    const one = await session();
    await one.executeOne({ id: "1", name: "hashline_read", arguments: { path: "a.txt" } });
    await one.flush();
    await one.close();
    await files.writeFile("a.txt", "other\n");
    const two = await session();
    const edits = [{ op: "write", content: "mine" }];
    const { text } = await two.executeOne({ id: "2", name: "hashline_edit", arguments: { path: "a.txt", edits } });
    expect(text).toContain("was changed by something else");
    await two.close();
  });

  test.each([0, 1, 9, -3])("with hashes of %d letters is refused, naming the field", async (hashLength) => {
    for (const id of ["hashline_read", "hashline_grep", "hashline_edit"]) {
      const shed = new ToolShed().tools(hashlineTools(fs)).configure({ tools: [{ id, params: { hashLength } }] });
      expect(await problems(shed)).toMatchObject([
        {
          tool: `hashline:${id}`,
          category: "params_constraint",
          fieldPath: "params.hashLength",
          badValue: hashLength,
          message: `It must be a number of letters from 2 to 8, and is ${hashLength}.`,
        },
      ]);
    }
  });

  test("may give the tools hashes of other lengths, and other names", async () => {
    const files = new MemoryFileSystem({ "a.txt": "one\ntwo\n" });
    const tools = await new ToolShed()
      .tools(hashlineTools(files, { hashLength: 2 }))
      .configure({
        tools: [
          { id: "hashline_read", nameOverride: "look", params: { hashLength: 8 } },
          { id: "hashline_edit", nameOverride: "change", paramsNameOverrides: { edits: "changes" } },
        ],
      })
      .build(parts());
    const [one] = await anchors(files, "a.txt", 8);
    const shown = await tools.executeOne({ id: "1", name: "look", arguments: { path: "a.txt" } });
    expect(shown.text).toContain(`${one}→one`);
    const changes = [{ op: "replace", anchor: one ?? "", content: "1" }];
    const done = await tools.executeOne({ id: "2", name: "change", arguments: { path: "a.txt", changes } });
    expect(await content(files, "a.txt")).toBe("1\ntwo\n");
    expect(done.text).toMatch(/\n1:[a-z2-7]{2}→1\n/);
    await tools.close();
  });

  test.each([
    ["by its anchor", hashlineTools, "hashline"],
    ["by its text", filesTools, "files"],
  ] as const)("a line with a tag of the session is changed %s as it was shown", async (_, make, kind) => {
    const files = new MemoryFileSystem({ "a.txt": "one\n<hint>two</hint>\n" });
    const tools = await new ToolShed().tools(make(files)).reminding({ tag: "hint" }).build(parts());
    const call = (name: string, args: object) => tools.executeOne({ id: name, name, arguments: { ...args } });
    const shown = await call(kind === "files" ? "read" : "hashline_read", { path: "a.txt" });
    expect(shown.text).toContain("&lt;hint>two&lt;/hint>");
    const next = "&lt;hint>three&lt;/hint>";
    const done =
      kind === "files"
        ? await call("edit", { path: "a.txt", old_string: "&lt;hint>two&lt;/hint>", new_string: next })
        : await call("hashline_edit", {
            path: "a.txt",
            edits: [{ op: "replace", anchor: (await anchors(files, "a.txt"))[1], content: next }],
          });
    expect(done.errorDetail).toBeUndefined();
    expect(await content(files, "a.txt")).toBe("one\n<hint>three</hint>\n");
    await tools.close();
  });

  test("wants a tool that reads where files are to be read first", async () => {
    const shed = new ToolShed().tools(hashlineTools(fs));
    const alone = shed.configure({ tools: [{ id: "hashline_edit", params: { readFirst: true } }] });
    expect(await problems(alone)).toMatchObject([{ category: "requirements" }]);
  });

  test("in a mode that only reads has no edit", async () => {
    const tools = await new ToolShed()
      .tools(hashlineTools(fs))
      .configure({ tools: [], capability: "readOnly" })
      .build(parts());
    expect(tools.names()).toEqual(["hashline_read", "hashline_grep"]);
    await tools.close();
  });
});
