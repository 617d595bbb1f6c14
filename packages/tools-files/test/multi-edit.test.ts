import { describe, expect, it } from "vitest";
import { editTool, multiEditTool, readTool } from "../src/index.js";
import { content, failed, memoryFs, realFs, said } from "./helpers.js";

describe("multi_edit", () => {
  it("makes all its replacements, a later one on what an earlier one did", async () => {
    for (const fs of [memoryFs(), await realFs()]) {
      await fs.writeFile("a", "one two\n");
      await fs.writeFile("b", "\ufeffone\r\ntwo\r\n");
      const output = await multiEditTool(fs).call({
        edits: [
          { path: "a", old_string: "one", new_string: "1 1" },
          { path: "b", old_string: "one\ntwo", new_string: "1\n2" },
          { path: "./a", old_string: "1", new_string: "I", replace_all: true },
        ],
      });
      expect(output).toEqual({
        files: [
          { path: "a", replacements: 3 },
          { path: "b", replacements: 1 },
        ],
        written: true,
      });
      expect(await content(fs, "a")).toBe("I I two\n");
      expect(await content(fs, "b")).toBe("\ufeff1\r\n2\r\n");
      await editTool(fs).call({ path: "a", old_string: "two", new_string: "2" }); // its own change is no surprise
    }
  });

  it("changes nothing when one of them cannot be made, and says which", async () => {
    const fs = memoryFs({ a: "one", b: "x x" });
    const tool = multiEditTool(fs);
    const first = { path: "a", old_string: "one", new_string: "1" };
    expect(await failed(tool, { edits: [first, { path: "b", old_string: "x", new_string: "y" }] })).toContain(
      'old_string of edit 2 stands 2 times in "b"',
    );
    expect(await failed(tool, { edits: [first, { path: "a", old_string: "one", new_string: "2" }] })).toContain(
      'old_string of edit 2 does not stand in "a". Nothing was changed.',
    );
    expect(await failed(tool, { edits: [first, { path: "c", old_string: "one", new_string: "2" }] })).toContain('"c"');
    expect(await failed(tool, { edits: [{ path: "b", old_string: "", new_string: "2" }] })).toContain("is empty");
    expect(await content(fs, "a")).toBe("one");
  });

  it("shows what it would do in a dry run", async () => {
    const fs = memoryFs({ a: "one\ntwo\n" });
    const edits = [{ path: "a", old_string: "two", new_string: "2" }];
    expect(await said(multiEditTool(fs), { edits, dry_run: true })).toBe(
      'This would edit "a" (1 replacement). Nothing was written.\n\n--- a\n+++ a\n@@ -1,2 +1,2 @@\n one\n-two\n+2',
    );
    expect(await content(fs, "a")).toBe("one\ntwo\n");
  });

  it("refuses files that were changed since they were read", async () => {
    const fs = memoryFs({ a: "one", b: "one" });
    await readTool(fs).call({ path: "b" });
    await fs.writeFile("b", "one!");
    const edits = ["a", "b"].map((path) => ({ path, old_string: "one", new_string: "1" }));
    expect(await failed(multiEditTool(fs), { edits })).toContain('"b" was changed by something else');
    expect(await content(fs, "a")).toBe("one");
  });

  it("waits for other changes of its files, in whatever order these are named", async () => {
    const words = ["one", "two", "three", "four", "five"];
    const fs = memoryFs({ a: words.join(" "), b: words.join(" ") });
    const tool = multiEditTool(fs);
    await Promise.all(
      words.map((word, i) => {
        const paths = i % 2 === 0 ? ["a", "b"] : ["b", "a"];
        return tool.call({
          edits: paths.map((path) => ({ path, old_string: word, new_string: word.toUpperCase() })),
        });
      }),
    );
    const all = words.join(" ").toUpperCase();
    expect([await content(fs, "a"), await content(fs, "b")]).toEqual([all, all]);
  });
});
