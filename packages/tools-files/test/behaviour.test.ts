import { chmod, mkdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { FileSystem } from "@shedkit/fs";
import { MemoryFileSystem } from "@shedkit/fs/memory";
import { NodeFileSystem } from "@shedkit/fs/node";
import { callTool, type ToolImpl } from "@shedkit/tool";
import { describe, expect, it } from "vitest";
import {
  applyPatchTool,
  type EditParams,
  editTool,
  fileChangeTools,
  filesTools,
  listTool,
  multiEditTool,
  type ReadParams,
  readTool,
  writeTool,
} from "../src/index.js";
import { content, failed, hosted, memoryFs, realFs, said, tempFolder } from "./helpers.js";

const lines = (n: number) => Array.from({ length: n }, (_, i) => `line${i + 1}`).join("\n");
const utf16 = (text: string) => new Uint8Array(Buffer.from(`\ufeff${text}`, "utf16le"));
const bytes = (...parts: (string | number)[]) =>
  new Uint8Array(
    Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part) : Buffer.from([part])))),
  );

describe("read shows", () => {
  it.each<[what: string, file: string | Uint8Array, args: object, expected: string]>([
    ["a whole file, with the empty line behind its end", "line1\nline2\nline3\n", {}, "1→line1\nline2\nline3\n"],
    ["an anchor at the first line alone of a short file", "a\nb\nc\n", {}, "1→a\nb\nc\n"],
    ["an anchor alone for the empty last line", "hello\n", { offset: 2 }, "2→"],
    ["lines from the end, with the empty one", `${lines(5)}\n`, { offset: -2, limit: 2 }, "5→line5\n"],
    ["from the same line, whether the file ends with a line end", "a\nb\nc\n", { offset: -3 }, "2→b\nc\n"],
    ["from the same line, where it does not", "a\nb\nc", { offset: -3 }, "2→b\nc"],
    ["an offset that came as text", "a\nb\nc\n", { offset: "-3" }, "2→b\nc\n"],
    ["the start for an offset of nothing", "a\nb", { offset: 0 }, "1→a\nb"],
    ["the start for an offset before it", "a\nb", { offset: -99 }, "1→a\nb"],
    ["that a file is empty", "", {}, "[The file is empty.]"],
    ["lines without carriage returns", "a\r\nb\r\n", {}, "1→a\nb\n"],
    ["a file without the mark at its start", bytes(0xef, 0xbb, 0xbf, "a"), {}, "1→a"],
    ["UTF-16 as text, and says so", utf16("ä\nb"), {}, "1→ä\nb\n\n[The file is UTF-16 (little-endian).]"],
    ["where to go on", "a\nb\nc", { limit: 2 }, "1→a\nb\n\n[These are lines 1 to 2 of 3. Go on with offset 3.]"],
  ])("%s", async (_, file, args, expected) => {
    expect(await said(readTool(memoryFs({ f: file })), { path: "f", ...args })).toBe(expected);
  });

  it("nothing but that the file ends, for what stands behind the last line end of a file that has none", async () => {
    const output = await readTool(memoryFs({ f: "a\nb\nc" })).call({ path: "f", offset: -1 });
    expect(output).toMatchObject({ content: "", lines: 0, totalLines: 3 });
  });

  it("anchors at the first line and at every tenth", async () => {
    const text = await said(readTool(memoryFs({ f: lines(12) })), { path: "f" });
    expect(text.match(/^\d+→/gm)).toEqual(["1→", "10→"]);
  });

  it("a long line whole", async () => {
    const json = JSON.stringify({ text: "x".repeat(49_500) });
    expect(await said(readTool(memoryFs({ f: json })), { path: "f" })).toBe(`1→${json}`);
  });

  it.each([
    ["SKILL.md", true],
    ["docs/skills/deep/x.md", true],
    ["skills-cursor/x.md", false],
    ["skills/x.txt", false],
  ])("of %s all, whatever part is asked for: %s", async (path, whole) => {
    const text = lines(2000);
    const output = await readTool(memoryFs({ [path]: text }), { maxTokens: 1000 }).call({ path, offset: 3, limit: 1 });
    expect(output.content).toBe(whole ? text : "line3");
  });
});

describe("read passes on", () => {
  const streamed = async (tool: ToolImpl, args: object): Promise<{ pieces: string[]; text: string }> => {
    const pieces: string[] = [];
    const { text } = await callTool(tool, args, { onProgress: ({ text = "" }) => pieces.push(text) });
    return { pieces, text };
  };
  const GIF = bytes("GIF89a", 2, 0, 3, 0, 0, 0, 0, 0, 0x3b);
  const files = { short: "a\nb", long: `${"𝒳".repeat(9000)}\nend\n`, empty: "", picture: GIF };

  it("the very text where it is to, each call its own", async () => {
    const tool = readTool(memoryFs(files), { stream: true });
    const all = await Promise.all(["short", "long", "empty"].map((path) => streamed(tool, { path })));
    for (const { pieces, text } of all) {
      expect(pieces.join("")).toBe(text);
      expect(pieces.every((piece) => piece.length <= 4096)).toBe(true);
    }
    expect(all[1]?.pieces.length).toBeGreaterThan(4);
  });

  it("nothing else, and nothing where it is not to", async () => {
    const tool = readTool(memoryFs(files), { stream: true });
    for (const path of ["picture", "none"]) expect((await streamed(tool, { path })).pieces).toEqual([]);
    expect((await streamed(readTool(memoryFs(files)), { path: "long" })).pieces).toEqual([]);
  });
});

describe("read refuses", () => {
  const big = "x".repeat(120_000);
  it.each<[what: string, file: string | Uint8Array, path: string, expected: RegExp]>([
    ["a NUL in a file with a name of text", bytes("a\0b"), "f.txt", /^"f.txt" is not a text file/],
    ["what is called an archive", "text", "a.zip", /not a text file/],
    ["what is called a program", "text", "a.EXE", /not a text file/],
    ["what has many control characters", new Uint8Array(100).fill(1, 0, 31).fill(97, 31), "f", /not a text file/],
    [
      "a line that is too long for a call",
      big,
      "f",
      /^Line 1 of "f" alone is too long for one call \(lines 1 to 1 are about 30,000 tokens; 25,000 are the most\)\. Search the file for what you need\.$/,
    ],
  ])("%s", async (_, file, path, expected) => {
    const call = callTool(readTool(memoryFs({ [path]: file })), { path });
    expect((await call).errorDetail).toBeDefined();
    expect((await call).text).toMatch(expected);
  });

  it.each([
    ["exactly 30 % of control characters", new Uint8Array(100).fill(1, 0, 30).fill(97, 30)],
    ["a document by its name only where nothing else reads it", bytes("%notPDF")],
  ])("not %s", async (_, file) => {
    expect((await callTool(readTool(memoryFs({ f: file })), { path: "f" })).errorDetail).toBeUndefined();
  });

  it("a folder, naming the tool that lists, and a missing file", async () => {
    const fs = memoryFs({ "a/b": "" });
    const { text } = await hosted(readTool(fs), { path: "a" }, { tools: { listDir: "ls" } });
    expect(text).toBe('"a" is a folder, not a file. List it with ls instead.');
    expect(await failed(readTool(fs), { path: "zzz" })).toMatch(/^There is no file or folder "zzz"\./);
  });

  it("what the system does not let it read", async () => {
    const fs = memoryFs({ f: "x" });
    const denied = new MemoryFileSystem({ f: "x" }, { deny: ["f"] });
    await expect(callTool(readTool(denied), { path: "f" })).rejects.toMatchObject({ kind: "permissionDenied" });
    expect(await said(readTool(fs), { path: "f" })).toBe("1→x");
  });

  it("more than fits by whole lines, with what was asked for, by its own names", async () => {
    const fs = memoryFs({ f: `${"y".repeat(999)}\n`.repeat(200) });
    const { text } = await hosted(readTool(fs), { path: "f", offset: 11, limit: 150 }, { rename: { offset: "from" } });
    expect(text).toContain("[Lines 11 to 160 are about 37,500 tokens, more than the 25,000 of one call.");
    expect(text).toContain("Go on with from 111.]");
  });

  it("a long line with the advice to cut it only where there is a shell", async () => {
    const fs = memoryFs({ f: "x".repeat(120_000) });
    const call = (tools: { [kind: string]: string }) => hosted(readTool(fs), { path: "f" }, { tools });
    expect((await call({ execute: "sh" })).text).toMatch(/, or cut the line with sh\.$/);
    expect((await call({})).text).not.toContain("cut the line");
  });
});

describe("a path", () => {
  it.each([
    ['"f.ts\\n"', "f.ts"],
    ["'f.ts'", "f.ts"],
    [" f.ts ", "f.ts"],
    ["'f.ts", "f.ts"],
    ['f.ts"', "f.ts"],
    ["f.ts\\n", undefined],
    ["./a/../f.ts", "f.ts"],
    ["/workspace/f.ts", "f.ts"],
    ["workspace/f.ts", "f.ts"],
    [":f.ts", ":f.ts"],
    ["a b.ts", "a\u202fb.ts"],
    ["cafe\u0301", "caf\u00e9"],
    ["two b.ts", undefined],
    ["exact b.ts", "exact b.ts"],
  ])("%j is taken for %j", async (path, expected) => {
    const names = [
      "f.ts",
      ":f.ts",
      "a\u202fb.ts",
      "caf\u00e9",
      "two\u202fb.ts",
      "two\u00a0b.ts",
      "exact b.ts",
      "exact\u00a0b.ts",
    ];
    const fs = memoryFs({ "a/x": "", ...Object.fromEntries(names.map((name) => [name, name])) });
    const result = await callTool(readTool(fs, { lineNumbers: false }), { path });
    expect(result.errorDetail === undefined ? result.text : undefined).toBe(expected);
  });

  it.each(["", "  ", '"', "'", ".", "./"])("%j is the root folder", async (path) => {
    expect((await listTool(memoryFs({ f: "" })).call({ path })).path).toBe(".");
  });

  it("below a home that is not known is told, with what is like it", async () => {
    expect(await failed(readTool(memoryFs({ "src/a.ts": "" })), { path: "~/project/src/a.ts" })).toContain(
      'Did you mean "src/a.ts"?',
    );
  });
});

describe("write", () => {
  it("makes folders, tells of new files and of old ones with what they held", async () => {
    const fs = memoryFs();
    const made = await hosted(writeTool(fs), { path: "a/b/f", content: "one" });
    expect(made.text).toBe('Created "a/b/f" (3 bytes).');
    expect(made.told).toEqual([["fileChanged", { path: "a/b/f", change: "created", after: "one" }]]);
    const over = await hosted(writeTool(fs), { path: "a/b/f", content: "" });
    expect(over.text).toBe('Overwrote "a/b/f" (0 bytes).');
    expect(over.told).toEqual([["fileChanged", { path: "a/b/f", change: "changed", before: "one", after: "" }]]);
  });
});

describe("edit", () => {
  const edit = (fs: FileSystem, old_string: string, new_string: string, params: Partial<EditParams> = {}, more = {}) =>
    callTool(editTool(fs, params), { path: "f", old_string, new_string, ...more });

  it.each<
    [file: string | undefined, old: string, next: string, params: Partial<EditParams>, more: object, result: string]
  >([
    ["a b c", "b", "x", {}, {}, "a x c"],
    ["a a a", "a", "b", {}, { replace_all: true }, "b b b"],
    ["a a a", "a", "b", {}, { replace_all: "yes" }, "b b b"],
    ["a a a", "a", "b", {}, { replace_all: 1 }, "b b b"],
    ["aaaa", "aa", "b", {}, { replace_all: true }, "bb"],
    ["", "", "new", {}, {}, "new"],
    [undefined, "", "new", {}, {}, "new"],
    ["old", "", "new", { emptyOverwrites: true }, {}, "new"],
    ["x ‘q’ y", "'q'", "'r'", { matchLookalikes: true }, {}, "x ‘r’ y"],
    ["x — y", "x -- y", "z", { matchLookalikes: true }, {}, "z"],
    ["x\u00a0y", "x y", "z", { matchLookalikes: true }, {}, "z"],
    ["x…", "x...", "z", { matchLookalikes: true }, {}, "z"],
    ["'q' ‘q’", "'q'", "r", { matchLookalikes: true }, {}, "r ‘q’"],
    ["a\r\nb\r\nc", "a\nb", "x\ny", {}, {}, "x\r\ny\r\nc"],
    ["a\r\na\r\n", "a\n", "b\nc\n", {}, { replace_all: true }, "b\r\nc\r\nb\r\nc\r\n"],
    ["a\nb\r\nc\n", "b", "x", {}, {}, "a\nx\r\nc\n"],
    ["a\nb\nc", "a\r\nb", "x\r\ny", {}, {}, "x\ny\nc"],
    [
      "  if (a) {\n    b();\n  }\n",
      "if (a) {\n  b();\n}",
      "if (a) {\n  c();\n}",
      {},
      {},
      "  if (a) {\n    c();\n  }\n",
    ],
    ["$& $1", "$1", "$$", {}, {}, "$& $$"],
  ])("makes of %j, by %j -> %j (%j, %j): %j", async (file, old, next, params, more, expected) => {
    const fs = memoryFs(file === undefined ? {} : { f: file });
    expect((await edit(fs, old, next, params, more)).errorDetail).toBeUndefined();
    expect(await content(fs, "f")).toBe(expected);
  });

  it.each<[file: string, old: string, next: string, params: Partial<EditParams>, says: RegExp]>([
    ["a", "a", "a", {}, /are the same: there is nothing to change/],
    ["a a", "a", "b", {}, /stands 2 times in "f", on lines 1 and 1\. .* set replace_all to true/],
    ["a", "z", "b", {}, /does not stand in "f"\. Nothing was changed\. Read the file and copy/],
    ["old", "", "new", {}, /^"f" is not empty, and old_string is\./],
    ["A", "a", "b", {}, /does not stand/],
    ["a  b", "a b", "c", {}, /does not stand/],
    ["  a\n b", "a\nb", "c", { matchIndentation: false }, /At line 1 it stands with other white space/],
    ["x — y", "x -", "z", { matchLookalikes: true }, /does not stand/],
    ["x ‘q’ y", "'q'", "z", {}, /At line 1 it stands with characters that look the same: ‘ \(U\+2018\) for "'"/],
    ["‘q’ ‘q’", "'q'", "z", { matchLookalikes: true }, /stands at lines 1 and 1/],
    ["one\ntwo uniqueWord\n", "x uniqueWord y", "z", {}, /The nearest line is 2: two uniqueWord$/],
    ["one\nlonger_word b", "a longer_word\nmissing one", "z", {}, /The nearest line is 2: longer_word b$/],
    ["one", "+++", "z", {}, /indentation\.$/],
    ["one", "absent", "z", {}, /indentation\.$/],
  ])("refuses in %j %j -> %j (%j)", async (file, old, next, params, says) => {
    const fs = memoryFs({ f: file });
    const result = await edit(fs, old, next, params);
    expect(result.errorDetail).toBeDefined();
    expect(result.text).toMatch(says);
    expect(await content(fs, "f")).toBe(file);
  });

  it("says where each replacement stands now", async () => {
    const fs = memoryFs({ f: "a\nx\na\na" });
    const output = await editTool(fs).call({ path: "f", old_string: "a", new_string: "b\nb", replace_all: true });
    expect(output).toMatchObject({ replacements: 3, lines: [1, 4, 6], matched: "exactly" });
  });

  it("does not change what stands around a text that only looks alike, and says so", async () => {
    const fs = memoryFs({ f: "“keep” “q” …" });
    const output = await editTool(fs, { matchLookalikes: true }).call({
      path: "f",
      old_string: '"q"',
      new_string: '"r"',
    });
    expect(output.matched).toBe("lookalikes");
    expect(await content(fs, "f")).toBe("“keep” “r” …");
  });

  it("names the tools and parameters as the client does", async () => {
    const fs = memoryFs({ f: "a a" });
    const call = (old: string) =>
      hosted(
        editTool(fs),
        { path: "f", old_string: old, new_string: "b" },
        {
          rename: { replace_all: "everywhere", old_string: "find" },
          tools: { read: "cat" },
        },
      );
    expect((await call("a")).text).toContain("set everywhere to true");
    expect((await call("z")).text).toMatch(/^find does not stand.*Read the file with cat and copy/s);
  });

  it("says in its description that an empty text overwrites only where it does", () => {
    const described = (params: Partial<EditParams>) =>
      (editTool(memoryFs(), params).definition() as { definition: { description: string } }).definition.description;
    expect(described({ emptyOverwrites: true })).toContain("gets the new text as its whole");
    expect(described({})).not.toContain("whole");
  });

  it("needs a tool that reads only where files are to be read first", () => {
    for (const tool of [editTool, writeTool, multiEditTool, applyPatchTool]) {
      const { requires } = tool(memoryFs()).metadata;
      expect(JSON.stringify(requires)).toBe('{"ifParams":{"readFirst":true},"then":{"kind":"read"}}');
    }
  });

  it.each([
    ["x".repeat(255), "made"],
    ["x".repeat(256), "nameTooLong"],
    [`${"ä".repeat(128)}`, "nameTooLong"],
    ["f/child", "notADirectory"],
    ["folder", "a folder"],
    ["a\0b", "invalidPath"],
  ])("makes a file at %j: %s", async (path, expected) => {
    for (const fs of [memoryFs({ f: "x", "folder/g": "" }), await realFs()]) {
      await fs.mkdir("folder", { recursive: true });
      await fs.writeFile("f", "x");
      const call = callTool(editTool(fs), { path, old_string: "", new_string: "new" });
      expect((await call).errorDetail?.split(":")[0] ?? "made").toBe(expected);
    }
  });

  it("keeps mode, links and bytes that are no UTF-8, and leaves no other file", async () => {
    const folder = await tempFolder();
    await writeFile(join(folder, "real"), bytes("a ", 0xff, 0xfe, " b"));
    await chmod(join(folder, "real"), 0o640);
    await symlink("real", join(folder, "f"));
    const fs = new NodeFileSystem(folder);
    expect((await edit(fs, "b", "c")).errorDetail).toBeUndefined();
    expect(await readFile(join(folder, "real"))).toEqual(Buffer.from(bytes("a ", 0xff, 0xfe, " c")));
    expect((await stat(join(folder, "real"))).mode & 0o777).toBe(0o640);
    expect((await fs.readdir(".")).map(({ name, type }) => [name, type])).toEqual([
      ["f", "symlink"],
      ["real", "file"],
    ]);
  });

  it("of one file at once: each is made, or told that the file has changed; none is lost", async () => {
    const fs = await realFs();
    await fs.writeFile("f", lines(50).replaceAll(/$/gm, "."));
    const tool = editTool(fs);
    const results = await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        callTool(tool, { path: "f", old_string: `line${i + 1}.`, new_string: `done${i + 1}.` }),
      ),
    );
    const done = results.filter(({ errorDetail }) => errorDetail === undefined).length;
    expect((await content(fs, "f")).match(/done/g)).toHaveLength(done);
    expect(done).toBe(50);
  });

  it("of a file that something else changed is refused with what was changed, until it is read again", async () => {
    const fs = await realFs();
    await fs.writeFile("f", "one\ntwo\n");
    await said(readTool(fs), { path: "f" });
    await writeFile(join(fs.root, "f"), "one\nTWO\n");
    for (const tool of [
      () => edit(fs, "one", "x"),
      () => callTool(writeTool(fs), { path: "f", content: "x" }),
      () => callTool(multiEditTool(fs), { edits: [{ path: "f", old_string: "one", new_string: "x" }] }),
      () => callTool(applyPatchTool(fs), { patch: "*** Begin Patch\n*** Delete File: f\n*** End Patch" }),
    ]) {
      const result = await tool();
      expect(result.errorDetail).toContain("changed since it was read");
      expect(result.text).toContain("-two\n+TWO");
    }
    await said(readTool(fs), { path: "f" });
    expect((await edit(fs, "one", "x")).errorDetail).toBeUndefined();
  });
});

describe("apply_patch", () => {
  const patch = (body: string) => `*** Begin Patch\n${body}\n*** End Patch`;
  it.each<[file: string, body: string, result: string]>([
    ["a\nb\nc\n", "*** Update File: f\n@@\n a\n-b\n+x\n c", "a\nx\nc\n"],
    ["a  \nb\nc\n", "*** Update File: f\n@@\n a\n-b\n+x", "a  \nx\nc\n"],
    ["  a\n  b\n", "*** Update File: f\n@@\n a\n-b\n+x", "  a\n  x\n"],
    ["a — b\nc\n", "*** Update File: f\n@@\n a -- b\n-c\n+x", "a — b\nx\n"],
    ["a\nb\na\nb\n", "*** Update File: f\n@@\n-b\n+x\n*** End of File", "a\nb\na\nx\n"],
    ["class A\n  x\nclass B\n  x\n", "*** Update File: f\n@@ class B\n-  x\n+  y", "class A\n  x\nclass B\n  y\n"],
    ["a\n", "*** Update File: f\n@@\n+b\n", "a\nb\n"],
  ])("makes of %j by %j: %j", async (file, body, expected) => {
    const fs = memoryFs({ f: file });
    expect((await callTool(applyPatchTool(fs), { patch: patch(body) })).errorDetail).toBeUndefined();
    expect(await content(fs, "f")).toBe(expected);
  });

  it("takes other white space only where it may, and else says where the lines stand with it", async () => {
    const body = patch("*** Update File: f\n@@\n a\n-b\n+x");
    for (const [file, line] of [
      ["z\n  a\n  b\n", 2],
      ["a  \nb\n", 1],
    ] as const) {
      const fs = memoryFs({ f: file });
      const text = await failed(applyPatchTool(fs, { matchIndentation: false }), { patch: body });
      expect(text).toContain(`At line ${line} they stand with other white space at the ends of lines.`);
      expect(await content(fs, "f")).toBe(file);
    }
    const fs = memoryFs({ f: "a\nb\n", g: "a — b\nc\n" });
    const strict = applyPatchTool(fs, { matchIndentation: false });
    expect((await callTool(strict, { patch: body })).errorDetail).toBeUndefined();
    await said(strict, { patch: patch("*** Update File: g\n@@\n a -- b\n-c\n+x") });
    expect([await content(fs, "f"), await content(fs, "g")]).toEqual(["a\nx\n", "a — b\nx\n"]);
  });

  it("is taken in a here-document", async () => {
    const fs = memoryFs({ f: "a\n" });
    await said(applyPatchTool(fs), { patch: `apply_patch <<'EOF'\n${patch("*** Update File: f\n@@\n-a\n+b")}\nEOF\n` });
    expect(await content(fs, "f")).toBe("b\n");
  });

  it.each([
    ["no patch", /must begin with the line/],
    [patch(""), /The patch is empty/],
    [patch("*** Change File: f"), /^Line 2 of the patch: expected/],
    [patch("*** Update File: f\n@@\n a"), /^Line 3 of the patch: the hunk changes nothing/],
    [patch("*** Update File: f"), /the update of "f" has no hunk/],
    [patch("*** Update File: f\n@@\n-z\n+y"), /^"f": Line 3 of the patch: the file does not have these lines/],
    [patch("*** Update File: f\n@@\n-a\n+b\n*** Delete File: none"), /There is no file or folder "none"/],
    [patch("*** Add File: f\n+x"), /"f" exists already/],
    [patch("*** Add File: ../x\n+x"), undefined],
    [patch("*** Update File: f\n*** Move to: ../x"), undefined],
    [patch("*** Update File: f\n*** Move to: g"), /exists already/],
  ])("refuses %j, and changes nothing", async (text, says) => {
    const fs = memoryFs({ f: "a\n", g: "g\n" });
    const call = callTool(applyPatchTool(fs), { patch: text });
    if (says === undefined) await expect(call).rejects.toMatchObject({ kind: "permissionDenied" });
    else {
      expect((await call).errorDetail).toBeDefined();
      expect((await call).text).toMatch(says);
    }
    expect(await content(fs, "f")).toBe("a\n");
    expect((await fs.readdir(".")).map(({ name }) => name)).toEqual(["f", "g"]);
  });
});

describe("list", () => {
  it.each<[files: { [path: string]: string }, args: object, expected: string]>([
    [{ "b/c.ts": "", "a.ts": "", "B.md": "" }, {}, "./\n  a.ts\n  b/\n    c.ts\n  B.md"],
    [{ f: "" }, { path: "." }, "./\n  f"],
    [{ f: "" }, { path: "" }, "./\n  f"],
    [{ "x/f": "" }, { path: "./x" }, "x/\n  f"],
    [
      { ".hidden": "" },
      {},
      "./\n\n[Nothing else is in the folder. 1 name that begins with a dot not shown; set hidden to true to see.]",
    ],
    [
      { ".gitignore": "out\n", "out/f": "", g: "" },
      {},
      "./\n  g\n\n[1 name that begins with a dot not shown; set hidden to true to see. 1 name not shown that .gitignore names.]",
    ],
  ])("of %j (%j) is %j", async (files, args, expected) => {
    expect(await said(listTool(memoryFs(files)), args)).toBe(expected);
  });

  it("sums up a big folder with its three commonest kinds, and still opens a small one behind it", async () => {
    const many = (kind: string, n: number) =>
      Object.fromEntries(Array.from({ length: n }, (_, i) => [`big/f${i}.${kind}`, ""]));
    const fs = memoryFs({ ...many("ts", 300), ...many("md", 20), ...many("js", 20), ...many("c", 1), "small/x": "" });
    const text = await said(listTool(fs, { maxChars: 1000 }), {});
    expect(text).toBe("./\n  big/ (341 files: 300 .ts, 20 .js, 20 .md, ...)\n  small/\n    x");
  });

  it("shows what ignore files name where they do not count", async () => {
    const fs = memoryFs({ ".gitignore": "out\n", "out/f": "" });
    expect(await said(listTool(fs, { gitignore: false }), {})).toContain("out/\n    f");
  });

  it.each([
    ["none", /^There is no file or folder "none"/],
    ["f", /^"f" is a file, not a folder\. Read it instead\.$/],
    ["f/x", /"f" is a file, not a folder/],
  ])("of %j says %s", async (path, says) =>
    expect(await failed(listTool(memoryFs({ f: "" })), { path })).toMatch(says),
  );

  it("of a file names the tool that reads, as it is called", async () => {
    const { text } = await hosted(listTool(memoryFs({ f: "x" })), { path: "f" }, { tools: { read: "cat" } });
    expect(text).toBe('"f" is a file, not a folder. Read it with cat instead.');
  });

  it("that fails is an error of its own, and one that is cancelled another", async () => {
    const broken = (error: Error): FileSystem =>
      Object.assign(memoryFs({ f: "" }), { readdir: () => Promise.reject(error) });
    await expect(callTool(listTool(broken(new Error("crash"))), {})).rejects.toMatchObject({ kind: "execution" });
    const signal = AbortSignal.abort(new Error("stop"));
    await expect(callTool(listTool(memoryFs()), {}, { signal })).rejects.toMatchObject({ kind: "cancelled" });
  });
});

describe("files that ignore files name", () => {
  const files = {
    ".gitignore": "secret\n*.log\n!keep.log\nbuild/\n",
    secret: "s",
    "a.log": "l",
    "keep.log": "k",
    "build/x": "b",
  };
  const rows: [name: string, args: (path: string) => object][] = [
    ["read", (path) => ({ path })],
    ["write", (path) => ({ path, content: "x" })],
    ["edit", (path) => ({ path, old_string: "", new_string: "x" })],
    ["multi_edit", (path) => ({ edits: [{ path, old_string: "s", new_string: "x" }] })],
    ["apply_patch", (path) => ({ patch: `*** Begin Patch\n*** Delete File: ${path}\n*** End Patch` })],
    ["delete", (path) => ({ path, recursive: true })],
    ["move", (path) => ({ from: path, to: "elsewhere" })],
    ["move", (path) => ({ from: "keep.log", to: path })],
  ];
  const toolsOn = (fs: FileSystem, gitignore: boolean): ToolImpl[] => {
    const own = { gitignore };
    return [
      ...filesTools(fs, { read: own, write: own, edit: own }),
      ...fileChangeTools(fs, { multi_edit: own, apply_patch: own, delete: own, move: own }),
    ];
  };
  const toolCalled = (fs: FileSystem, name: string, gitignore: boolean) => {
    const tool = toolsOn(fs, gitignore).find(({ metadata }) => metadata?.id === name);
    if (!tool) throw new Error(name);
    return tool;
  };

  it.each(rows)("are left alone by %s where that is set, and only there", async (name, args) => {
    for (const path of ["secret", "a.log", "build/x", "build/new", "link"]) {
      const fs = memoryFs(files);
      await fs.symlink("secret", "link");
      const result = await callTool(toolCalled(fs, name, true), args(path));
      const missing =
        path === "build/new" && !["write", "edit"].includes(name) && !(name === "move" && "to" in args(path));
      if (path === "link" && (name === "delete" || name === "move")) continue; // a link itself
      if (!missing) expect([path, result.errorDetail]).toEqual([path, expect.stringMatching(/^ignored|no such file/)]);
      expect(await content(fs, "secret")).toBe("s");
    }
    const fs = memoryFs(files);
    const free = await callTool(toolCalled(fs, name, false), args("secret"));
    expect(free.errorDetail ?? "").not.toContain("ignored");
    const kept = await callTool(toolCalled(memoryFs(files), name, true), args("keep.log"));
    expect(kept.errorDetail ?? "").not.toContain("ignored");
  });

  it("keep the folder that they are in from being deleted or moved", async () => {
    const fs = memoryFs({ ".gitignore": "*.key\n", "a/b/x.key": "k", "a/c": "c", "free/c": "c" });
    for (const [name, args] of [
      ["delete", { path: "a", recursive: true }],
      ["move", { from: "a", to: "z" }],
    ] as const) {
      const result = await callTool(toolCalled(fs, name, true), args);
      expect(result.errorDetail).toBe('ignored: "a/b"');
    }
    expect((await callTool(toolCalled(fs, "move", true), { from: "free", to: "z" })).errorDetail).toBeUndefined();
    expect(
      (await callTool(toolCalled(fs, "delete", false), { path: "a", recursive: true })).errorDetail,
    ).toBeUndefined();
  });
});

describe("every tool", () => {
  it("says what it is in one way: its settings, its kind, and whether it only reads", () => {
    const fs = memoryFs();
    const rows = [...filesTools(fs), ...fileChangeTools(fs)].map((tool) => {
      const { id, kind, capabilities } = tool.metadata ?? { id: "", kind: "", capabilities: { readOnly: false } };
      return [id, kind, capabilities.readOnly];
    });
    expect(rows).toEqual([
      ["read", "read", true],
      ["write", "write", false],
      ["edit", "edit", false],
      ["list", "listDir", true],
      ["multi_edit", "edit", false],
      ["apply_patch", "edit", false],
      ["delete", "delete", false],
      ["move", "move", false],
    ]);
    const settings: Partial<ReadParams> = { gitignore: true };
    expect(readTool(fs, settings).metadata.params?.defaults).toMatchObject({ gitignore: true, maxLines: 1000 });
  });

  it("has a description without leftovers", () => {
    for (const tool of [...filesTools(memoryFs()), ...fileChangeTools(memoryFs())]) {
      const text = JSON.stringify(tool.definition());
      expect(text).not.toMatch(/\$\{|\{\{|undefined|\\n\\n| {2}/);
    }
  });
});

describe("a folder of another", () => {
  it("is read through a link inside, never through one that leads out", async () => {
    const folder = await tempFolder();
    await mkdir(join(folder, "root/in"), { recursive: true });
    await writeFile(join(folder, "out"), "secret");
    await writeFile(join(folder, "root/in/f"), "inside");
    await symlink("in", join(folder, "root/way"));
    await symlink("../out", join(folder, "root/trap"));
    await symlink("..", join(folder, "root/up"));
    const fs = new NodeFileSystem(join(folder, "root"));
    expect(await said(readTool(fs), { path: "way/f" })).toBe("1→inside");
    for (const path of [
      "trap",
      "up/out",
      "../out",
      "/etc/passwd",
      `${folder}/out`,
      "in/../../out",
      "/proc/self/environ",
    ]) {
      for (const tool of [...filesTools(fs), ...fileChangeTools(fs)]) {
        const name = tool.metadata?.id ?? "";
        const args: { [name: string]: object } = {
          read: { path },
          list: { path },
          write: { path, content: "x" },
          edit: { path, old_string: "secret", new_string: "x" },
          multi_edit: { edits: [{ path, old_string: "secret", new_string: "x" }] },
          apply_patch: { patch: `*** Begin Patch\n*** Update File: ${path}\n@@\n-secret\n+x\n*** End Patch` },
          delete: { path: path === "trap" ? "up/out" : path },
          move: { from: "in/f", to: path === "trap" ? "up/x" : path },
        };
        await expect(callTool(tool, args[name] ?? {})).rejects.toMatchObject({ kind: "permissionDenied" });
      }
    }
    expect(await readFile(join(folder, "out"), "utf8")).toBe("secret");
  });
});
