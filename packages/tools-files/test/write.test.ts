import { chmod, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { NodeFileSystem } from "@shedkit/fs/node";
import { callTool } from "@shedkit/tool";
import { describe, expect, it } from "vitest";
import { applyPatchTool, editTool, moveTool, readTool, writeTool } from "../src/index.js";
import { content, failed, memoryFs, said, tempFolder } from "./helpers.js";

describe("write", () => {
  it("makes a file with its folders, and overwrites it", async () => {
    const fs = memoryFs();
    const tool = writeTool(fs);
    expect(await said(tool, { path: "a/b/c.txt", content: "é\n" })).toBe('Created "a/b/c.txt" (3 bytes).');
    expect(await said(tool, { path: "a/b/c.txt", content: "" })).toBe('Overwrote "a/b/c.txt" (0 bytes).');
    expect(await tool.call({ path: "a/b/c.txt", content: "x" })).toEqual({
      path: "a/b/c.txt",
      bytes: 1,
      created: false,
    });
  });

  it("keeps the mode, and leaves nothing else behind", async () => {
    const folder = await tempFolder();
    const fs = new NodeFileSystem(folder);
    const tool = writeTool(fs);
    await tool.call({ path: "run.sh", content: "a" });
    await chmod(join(folder, "run.sh"), 0o755);
    await tool.call({ path: "run.sh", content: "b" });
    expect((await stat(join(folder, "run.sh"))).mode & 0o777).toBe(0o755);
    expect(await readdir(folder)).toEqual(["run.sh"]);
  });

  it("keeps the form of the file that it overwrites, and says so", async () => {
    const fs = memoryFs({
      crlf: "a\r\nb\r\n",
      bom: "\ufeffa\n",
      mixed: "a\r\nb\n",
      utf16: new Uint8Array([0xff, 0xfe, 0x61, 0]),
    });
    const tool = writeTool(fs);
    expect(await said(tool, { path: "crlf", content: "x\ny\n" })).toBe(
      'Overwrote "crlf" (6 bytes). Kept: CRLF line ends.',
    );
    expect(await content(fs, "crlf")).toBe("x\r\ny\r\n");
    await tool.call({ path: "bom", content: "x\n" });
    expect(await content(fs, "bom")).toBe("\ufeffx\n");
    await tool.call({ path: "bom", content: "\ufeffy\n" });
    expect(await content(fs, "bom")).toBe("\ufeffy\n");
    await tool.call({ path: "mixed", content: "x\ny\n" });
    expect(await content(fs, "mixed")).toBe("x\ny\n");
    await tool.call({ path: "utf16", content: "é" });
    expect([...(await fs.readFile("utf16"))]).toEqual([0xff, 0xfe, 0xe9, 0]);
  });

  it("refuses a folder, a path through a file, and half characters", async () => {
    const fs = memoryFs({ "d/f": "x" });
    const tool = writeTool(fs);
    expect(await failed(tool, { path: "d", content: "" })).toContain("is a folder");
    expect(await failed(tool, { path: "d/f/g", content: "" })).toContain('"d/f" is a file, not a folder');
    expect(await failed(tool, { path: "g", content: "\udc00" })).toContain("half a character");
    await expect(callTool(tool, { path: "../x", content: "" })).rejects.toMatchObject({ kind: "permissionDenied" });
    expect((await fs.readdir(".")).map(({ name }) => name)).toEqual(["d"]);
  });

  it("refuses to overwrite a file that was changed since it was read or written", async () => {
    const fs = memoryFs({ f: "one" });
    const write = writeTool(fs);
    await readTool(fs).call({ path: "f" });
    await fs.writeFile("f", "two");
    expect(await failed(write, { path: "f", content: "x" })).toContain("Read it again");
    await readTool(fs).call({ path: "f" });
    await write.call({ path: "f", content: "three" });
    await fs.writeFile("f", "four");
    expect(await failed(editTool(fs), { path: "f", old_string: "four", new_string: "x" })).toContain("Read it again");
    expect(await content(fs, "f")).toBe("four");
  });

  it("says what it will change, by one name for all spellings", () => {
    const tool = writeTool(memoryFs());
    const touched = ["a/f", "./a//f", "/workspace/a/f", " 'a/f' "].map((path) =>
      tool.metadata.capabilities.touches({ path, content: "" }),
    );
    expect(new Set(touched.flat())).toEqual(new Set(["file:/workspace/a/f"]));
    expect(tool.metadata.access?.({ path: "a/f", content: "" })).toEqual([
      { action: "write", target: "/workspace/a/f" },
    ]);
    expect(tool.metadata.access?.({ path: "/etc/passwd", content: "" })).toEqual([
      { action: "write", target: "/etc/passwd" },
    ]);
  });
});

it.each(["~/new", "~", " '~/a/b' "])("makes nothing at %j: a folder of that name is a trap", async (path) => {
  const fs = memoryFs({ f: "x" });
  const text = `${JSON.stringify(path)} is in the home folder, which is not reached by ~ here. Give a path relative to the root folder.`;
  expect(await failed(writeTool(fs), { path, content: "x" })).toBe(text);
  expect(await failed(editTool(fs), { path, old_string: "", new_string: "x" })).toBe(text);
  expect(await failed(moveTool(fs), { from: "f", to: path })).toBe(text);
  const patch = `*** Begin Patch\n*** Add File: ${path.trim()}\n+x\n*** End Patch`;
  expect(await failed(applyPatchTool(fs), { patch })).toContain("is in the home folder");
  const moved = "*** Begin Patch\n*** Update File: f\n*** Move to: ~/f\n@@\n-x\n+y\n*** End Patch";
  expect(await failed(applyPatchTool(fs), { patch: moved })).toContain("is in the home folder");
  expect(await fs.readdir(".")).toHaveLength(1);
  expect(await said(writeTool(fs), { path: "./~/new", content: "x" })).toBe('Created "~/new" (1 byte).');
});

it("makes nothing at a URL", async () => {
  const fs = memoryFs({ f: "x" });
  for (const path of ["file:///workspace/new", " 'HTTPS://example.com/new' "]) {
    const text = `${JSON.stringify(path)} is a URL. Give a path relative to the root folder.`;
    expect(await failed(writeTool(fs), { path, content: "x" })).toBe(text);
    expect(await failed(editTool(fs), { path, old_string: "", new_string: "x" })).toBe(text);
    expect(await failed(moveTool(fs), { from: "f", to: path })).toBe(text);
  }
  expect(await fs.readdir(".")).toHaveLength(1);
  expect(await said(writeTool(fs), { path: "file:/x", content: "x" })).toContain("Created");
});

it("makes no file at the path of a folder", async () => {
  const fs = memoryFs({});
  const text = '"new/" names a folder. Give the path of a file.';
  expect(await failed(writeTool(fs), { path: "new/", content: "x" })).toBe(text);
  expect(await failed(editTool(fs), { path: "new/", old_string: "", new_string: "x" })).toBe(text);
  const patch = "*** Begin Patch\n*** Add File: new/\n+x\n*** End Patch";
  expect(await failed(applyPatchTool(fs), { patch })).toBe(text);
  expect(await fs.readdir(".")).toEqual([]);
});
