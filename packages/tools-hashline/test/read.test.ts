import { MemoryFileSystem } from "@shedkit/fs/memory";
import { NodeFileSystem } from "@shedkit/fs/node";
import { describe, expect, test } from "vitest";
import { hashlineEditTool, hashlineGrepTool, hashlineReadTool } from "../src/index.js";
import { anchors, content, failed, said, tempFolder } from "./helpers.js";

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

describe("hashline_read", () => {
  test("shows each line with its anchor", async () => {
    const fs = new MemoryFileSystem({ "a.txt": "one\r\n\ntwo" });
    const read = hashlineReadTool(fs);
    const { lines, totalLines, truncated } = await read.call({ path: "a.txt" });
    expect(lines.map(({ text }) => text)).toEqual(["one", "", "two"]);
    expect({ totalLines, truncated }).toEqual({ totalLines: 3, truncated: false });
    for (const [i, { anchor }] of lines.entries()) expect(anchor).toMatch(new RegExp(`^${i + 1}:[a-z2-7]{3}$`));
    expect(await said(read, { path: "a.txt" })).toBe(lines.map(({ anchor, text }) => `${anchor}→${text}`).join("\n"));
  });

  test("does not show the base64 of data URIs, and lets nobody write what stands in its place", async () => {
    const line = `<img src="data:image/png;base64,${"QUJD".repeat(100_000)}">`;
    const fs = new MemoryFileSystem({ "a.html": `one\n${line}\n` });
    const text = await said(hashlineReadTool(fs, { maxTokens: 500 }), { path: "a.html" });
    expect(text).toMatch(
      /→<img src="data:image\/png;base64,\[400,000 characters left out\]">\n\n\[The base64 of data URIs is left out/,
    );
    const [, anchor] = await anchors(fs, "a.html");
    const edits = [
      { op: "replace", anchor, content: '<img src="data:image/png;base64,[400,000 characters left out]">' },
    ];
    expect((await failed(hashlineEditTool(fs), { path: "a.html", edits })).text).toContain("In the content of edit 1");
    await said(hashlineEditTool(fs), { path: "a.html", edits: [{ op: "insert_after", anchor, content: "two" }] });
    expect(await content(fs, "a.html")).toBe(`one\n${line}\ntwo\n`);
  });

  test("tells equal lines apart, and gives a line the same letters wherever it stands and however it ends", async () => {
    const fs = new MemoryFileSystem({ "a.txt": "}\n}\nx\n}\n", "b.txt": "y\nx\r\n}\r\n" });
    const hashes = async (path: string) => (await anchors(fs, path, 8)).map((anchor) => anchor.split(":")[1]);
    const [one, two, x, three] = await hashes("a.txt");
    expect(new Set([one, two, x, three]).size).toBe(4);
    expect(await hashes("b.txt")).toEqual([expect.any(String), x, one]);
  });

  test("shows some of the lines, with the anchors they have among all", async () => {
    const fs = new MemoryFileSystem({ "a.txt": "x\n".repeat(10) });
    const read = hashlineReadTool(fs);
    const all = await anchors(fs, "a.txt");
    const shown = async (offset?: number, limit?: number) =>
      (await read.call({ path: "a.txt", offset, limit })).lines.map(({ anchor }) => anchor);
    expect(await shown(3, 2)).toEqual(all.slice(2, 4));
    expect(await shown(-2)).toEqual(all.slice(8));
    expect(await shown(-99, 1)).toEqual(all.slice(0, 1));
    expect(await shown(0, 1)).toEqual(all.slice(0, 1));
    expect(await said(read, { path: "a.txt", offset: 3, limit: 2 })).toContain("These are lines 3 to 4 of 10");
    expect((await failed(read, { path: "a.txt", offset: 11 })).text).toContain("has 10 lines");
  });

  test("leaves out what does not fit, and says how to go on", async () => {
    const fs = new MemoryFileSystem({ "a.txt": `${"x".repeat(100)}\n`.repeat(10), "b.txt": "y".repeat(2000) });
    const read = hashlineReadTool(fs, { maxTokens: 100 });
    expect(await said(read, { path: "a.txt" })).toContain("[These are lines 1 to 3 of 10. Go on with offset 4.]");
    expect((await read.call({ path: "a.txt" })).truncated).toBe(true);
    expect((await failed(read, { path: "b.txt" })).text).toContain('Line 1 of "b.txt" alone is too long');
    const few = hashlineReadTool(fs, { maxLines: 2 });
    expect((await few.call({ path: "a.txt", limit: 5 })).lines).toHaveLength(2);
  });

  test("says what an empty file is, and what is no text", async () => {
    const fs = new MemoryFileSystem({ "a.txt": "", "a.bin": new Uint8Array([0, 1]), "d/x": "" });
    const read = hashlineReadTool(fs);
    expect(await said(read, { path: "a.txt" })).toBe("[The file is empty.]");
    expect((await failed(read, { path: "a.bin" })).detail).toBe('InvalidInput: not a text file: "a.bin"');
    expect((await failed(read, { path: "d" })).detail).toBe('InvalidInput: a folder: "d"');
    expect((await failed(read, { path: "no.txt" })).detail).toBe('FileNotFound: "no.txt"');
  });

  test("passes small images on, unless it is not to", async () => {
    const fs = new MemoryFileSystem({ "a.png": Uint8Array.from(atob(PNG), (char) => char.charCodeAt(0)) });
    expect(await said(hashlineReadTool(fs), { path: "a.png" })).toContain("an image of 1 x 1 pixels");
    expect((await hashlineReadTool(fs).call({ path: "a.png" })).encoding).toBe("binary");
    expect((await failed(hashlineReadTool(fs, { images: false }), { path: "a.png" })).text).toContain("not a text");
  });
});

describe("hashline_grep", () => {
  test.each(["memory", "disk"])("shows the anchors that read shows, and edit takes: %s", async (where) => {
    const fs = where === "memory" ? new MemoryFileSystem() : new NodeFileSystem(await tempFolder());
    await fs.writeFile("a.ts", "x\r\nlet a;\r\nx\r\n");
    await fs.writeFile("b.ts", new Uint8Array([0x78, 0x0a, 0xe9, 0x78, 0x0a, 0x78])); // not UTF-8
    await fs.writeFile("c.ts", "\ufeffx\n");
    const grep = hashlineGrepTool(fs);
    const { matches } = await grep.call({ query: "x" });
    for (const path of ["a.ts", "b.ts", "c.ts"]) {
      const all = await anchors(fs, path);
      const found = matches.filter((match) => match.path === path);
      expect(found.length).toBeGreaterThan(0);
      for (const { anchor, line_number } of found) expect(anchor).toBe(all[line_number - 1]);
    }
    const [, , last] = matches.filter(({ path }) => path === "b.ts");
    await said(hashlineEditTool(fs), { path: "b.ts", edits: [{ op: "replace", anchor: last?.anchor, content: "y" }] });
    expect((await fs.readFile("b.ts")).at(-1)).toBe(0x79);
  });

  test("tells the lines beside a match with their anchors too", async () => {
    const fs = new MemoryFileSystem({ "a.txt": "one\ntwo\nthree\nfour\n" });
    const [one, two, three] = await anchors(fs, "a.txt");
    const text = await said(hashlineGrepTool(fs), { query: "^two$", context: 1 });
    expect(text).toBe(`1 matching line in 1 file\n\na.txt\n${one}-one\n${two}→two\n${three}-three`);
    const edits = [{ op: "replace", anchor: `${three}-three`, content: "3" }];
    await said(hashlineEditTool(fs), { path: "a.txt", edits });
    expect(await content(fs, "a.txt")).toBe("one\ntwo\n3\nfour\n");
  });

  test("searches as it is asked to", async () => {
    const fs = new MemoryFileSystem({ "a.txt": "Cat\n", "b.md": "cat\n", ".hidden": "cat\n", "c.bin": "cat\0" });
    const found = async (args: object) =>
      (await hashlineGrepTool(fs).call({ query: "cat", ...args })).matches.map(({ path }) => path);
    expect(await found({})).toEqual(["b.md"]);
    expect(await found({ ignore_case: true })).toEqual(["a.txt", "b.md"]);
    expect(await found({ hidden: true })).toEqual([".hidden", "b.md"]);
    expect(await found({ glob: "*.txt", ignore_case: true })).toEqual(["a.txt"]);
    expect(await found({ paths: ["a.txt"] })).toEqual([]);
    expect(await found({ limit: 1, ignore_case: true })).toEqual(["a.txt"]);
  });
});

test("hashline_grep does not tell of a parameter that it does not have", async () => {
  const grep = hashlineGrepTool(new MemoryFileSystem({ a: "x\ny" }));
  expect(await said(grep, { query: "x\ny" })).toBe("No line matches. It is looked for line by line.");
});
