import { callTool } from "@shedkit/tool";
import { describe, expect, it } from "vitest";
import { deleteTool, editTool, moveTool, readTool } from "../src/index.js";
import { content, failed, memoryFs, said } from "./helpers.js";

describe("delete", () => {
  it("deletes a file, a link but not its target, and an empty folder", async () => {
    const fs = memoryFs({ a: "a", "d/b": "b" });
    await fs.symlink("d", "link");
    await fs.mkdir("empty");
    const tool = deleteTool(fs);
    expect(await said(tool, { path: "a" })).toBe('Deleted "a".');
    expect(await said(tool, { path: "link" })).toBe('Deleted the link "link".');
    expect(await said(tool, { path: "empty" })).toBe('Deleted the folder "empty".');
    expect((await fs.readdir(".")).map(({ name }) => name)).toEqual(["d"]);
  });

  it("deletes a folder with what is in it only when told to", async () => {
    const fs = memoryFs({ "d/b": "b" });
    const tool = deleteTool(fs);
    expect(await failed(tool, { path: "d" })).toBe(
      '"d" is not empty. Set recursive to true to delete all that is in it.',
    );
    await tool.call({ path: "d", recursive: true });
    expect(await fs.readdir(".")).toEqual([]);
  });

  it("refuses the root, what is outside or missing, and a file that was changed since it was read", async () => {
    const fs = memoryFs({ a: "a" });
    const tool = deleteTool(fs);
    expect(await failed(tool, { path: ".", recursive: true })).toContain("root folder itself");
    expect(await failed(tool, { path: "b" })).toContain("no file or folder");
    await expect(callTool(tool, { path: "../b" })).rejects.toMatchObject({ kind: "permissionDenied" });
    await readTool(fs).call({ path: "a" });
    await fs.writeFile("a", "new");
    expect(await failed(tool, { path: "a" })).toContain("changed by something else");
    expect(await content(fs, "a")).toBe("new");
  });
});

describe("move", () => {
  it("moves and renames files and folders, and makes the folders of the new place", async () => {
    const fs = memoryFs({ a: "a", "d/b": "b" });
    const tool = moveTool(fs);
    expect(await said(tool, { from: "a", to: "x/y/a2" })).toBe('Moved "a" to "x/y/a2".');
    await tool.call({ from: "d", to: "x/d" });
    expect(await content(fs, "x/y/a2")).toBe("a");
    expect(await content(fs, "x/d/b")).toBe("b");
  });

  it("does not replace a file that was changed since it was read; one that was replaced is seen as what it is now", async () => {
    const fs = memoryFs({ a: "a", b: "b", c: "c" });
    const [tool, read, edit] = [moveTool(fs), readTool(fs), editTool(fs)];
    for (const path of ["b", "c"]) await read.call({ path });
    await fs.writeFile("b", "of somebody else");
    const refusal = await failed(tool, { from: "a", to: "b", overwrite: true });
    expect(refusal).toContain('"b" was changed by something else since you last read or wrote it.');
    expect(refusal).toContain("+of somebody else");
    expect([await content(fs, "a"), await content(fs, "b")]).toEqual(["a", "of somebody else"]);
    expect(await said(tool, { from: "a", to: "c", overwrite: true })).toBe('Moved "a" to "c".');
    expect(await said(edit, { path: "c", old_string: "a", new_string: "d" })).toContain('Edited "c"');
  });

  it("overwrites nothing unless told to, and says how to move into a folder", async () => {
    const fs = memoryFs({ a: "a", b: "b", "d/x": "" });
    const tool = moveTool(fs);
    expect(await failed(tool, { from: "a", to: "b" })).toContain(
      '"b" exists already. Choose another path, or set overwrite',
    );
    expect(await failed(tool, { from: "a", to: "d" })).toContain(
      '"d" is a folder. To move something into it, give its whole new path, e.g. "d/a".',
    );
    expect(await failed(tool, { from: "a", to: "d", overwrite: true })).toContain("is a folder");
    expect(await failed(tool, { from: "nope", to: "x" })).toContain('no file or folder "nope"');
    expect(await failed(tool, { from: "d", to: "d/e/f" })).toContain("into itself");
    await tool.call({ from: "a", to: "b", overwrite: true });
    expect(await content(fs, "b")).toBe("a");
  });

  it("takes along what was seen of a file", async () => {
    const fs = memoryFs({ "d/a": "one" });
    await readTool(fs).call({ path: "d/a" });
    await moveTool(fs).call({ from: "d", to: "e" });
    await fs.writeFile("e/a", "two");
    expect(await failed(editTool(fs), { path: "e/a", old_string: "two", new_string: "2" })).toContain(
      "changed by something else",
    );
  });

  it("moves a link itself", async () => {
    const fs = memoryFs({ a: "a" });
    await fs.symlink("a", "link");
    await moveTool(fs).call({ from: "link", to: "link2" });
    expect((await fs.lstat("link2")).type).toBe("symlink");
    expect(await content(fs, "a")).toBe("a");
  });
});

it("deletes and moves what looks the same as what was asked for", async () => {
  const fs = memoryFs({ "cafe\u0301.txt": "x", "a\u00a0b.txt": "x" });
  expect(await said(deleteTool(fs), { path: "caf\u00e9.txt" })).toBe('Deleted "cafe\u0301.txt".');
  expect(await said(moveTool(fs), { from: "a b.txt", to: "c.txt" })).toBe('Moved "a\u00a0b.txt" to "c.txt".');
});
