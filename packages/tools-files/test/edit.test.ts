import { callTool } from "@shedkit/tool";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { editTool, readTool } from "../src/index.js";
import { content, failed, memoryFs, realFs, said } from "./helpers.js";

async function edited(before: string | Uint8Array, old_string: string, new_string: string, replace_all = false) {
  const fs = memoryFs({ f: before });
  await editTool(fs).call({ path: "f", old_string, new_string, replace_all });
  return content(fs, "f");
}

describe("edit", () => {
  it("replaces one place, and says where", async () => {
    const fs = memoryFs({ f: "one\ntwo\nthree\n" });
    const tool = editTool(fs);
    expect(await said(tool, { path: "f", old_string: "two", new_string: "2" })).toBe(
      'Edited "f": 1 replacement, line 2.',
    );
    expect(await content(fs, "f")).toBe("one\n2\nthree\n");
  });

  it("replaces every place when told to, with the lines where they stand now", async () => {
    const fs = memoryFs({ f: "a x\nb\nx x\n" });
    const output = await editTool(fs).call({ path: "f", old_string: "x", new_string: "y\nz", replace_all: true });
    expect(output).toEqual({ path: "f", created: false, replacements: 3, lines: [1, 4, 5], matched: "exactly" });
    expect(await content(fs, "f")).toBe("a y\nz\nb\ny\nz y\nz\n");
  });

  it("takes the words true and false for replace_all", async () => {
    const fs = memoryFs({ f: "a a" });
    await callTool(editTool(fs), { path: "f", old_string: "a", new_string: "b", replace_all: "true" });
    expect(await content(fs, "f")).toBe("b b");
  });

  it("refuses an ambiguous text, with the lines", async () => {
    const fs = memoryFs({ f: "x\ny\nx\nx" });
    const text = await failed(editTool(fs), { path: "f", old_string: "x", new_string: "z" });
    expect(text).toContain('old_string stands 3 times in "f", on lines 1, 3 and 4. Nothing was changed.');
    expect(text).toContain("set replace_all to true");
    expect(await content(fs, "f")).toBe("x\ny\nx\nx");
  });

  it("refuses a text that is not there, and shows the nearest line", async () => {
    const fs = memoryFs({ f: "alpha\n  const total = add(a, b);\nomega\n" });
    const tool = editTool(fs);
    const miss = await failed(tool, { path: "f", old_string: "const total = sum(a, b);", new_string: "x" });
    expect(miss).toContain("Read the file and copy the text exactly");
    expect(miss).toContain("The nearest line is 2:   const total = add(a, b);");
    expect(await failed(tool, { path: "f", old_string: "!!", new_string: "x" })).not.toContain("nearest");
    expect(await failed(tool, { path: "f", old_string: "zebra", new_string: "x" })).not.toContain("nearest");
  });

  it("says when only escapes or line numbers are in the way", async () => {
    const tool = editTool(memoryFs({ f: "a\nb\n" }));
    expect(await failed(tool, { path: "f", old_string: "a\\nb", new_string: "x" })).toContain("real line ends");
    expect(await failed(tool, { path: "f", old_string: "1→a\nb", new_string: "x" })).toContain(
      "without the line numbers",
    );
  });

  it("shows at most 200 characters of a long line, around the word", async () => {
    const tool = editTool(memoryFs({ f: `${"-".repeat(1000)}needle${"-".repeat(1000)}` }));
    const text = await failed(tool, { path: "f", old_string: "needle x", new_string: "y" });
    const line = /nearest line is 1: (.*)$/.exec(text)?.[1] ?? "";
    expect(line).toHaveLength(200);
    expect(line).toContain("needle");
  });

  it("refuses a change that is none, a folder and a missing file", async () => {
    const fs = memoryFs({ "d/f": "a" });
    const tool = editTool(fs);
    expect(await failed(tool, { path: "d/f", old_string: "a", new_string: "a" })).toContain("are the same");
    expect(await failed(tool, { path: "d", old_string: "a", new_string: "b" })).toContain("is a folder, not a file");
    expect(await failed(tool, { path: "d/g", old_string: "a", new_string: "b" })).toContain('no file or folder "d/g"');
    expect(await failed(tool, { path: "d/f/g", old_string: "", new_string: "b" })).toContain(
      '"d/f" is a file, not a folder',
    );
    expect(await failed(tool, { path: "n".repeat(256), old_string: "", new_string: "b" })).toContain(
      "longer than 255 bytes",
    );
  });

  it("makes a file from an empty old text, and fills an empty one, and overwrites none", async () => {
    const fs = memoryFs({ empty: "", full: "full" });
    const tool = editTool(fs);
    expect(await tool.call({ path: "new/deep/f", old_string: "", new_string: "hi" })).toMatchObject({ created: true });
    expect(await content(fs, "new/deep/f")).toBe("hi");
    await tool.call({ path: "empty", old_string: "", new_string: "hi" });
    expect(await content(fs, "empty")).toBe("hi");
    expect(await failed(tool, { path: "full", old_string: "", new_string: "x" })).toContain(
      "is not empty, and old_string is",
    );
    expect(await content(fs, "full")).toBe("full");
    const allowed = editTool(fs, { emptyOverwrites: true });
    await allowed.call({ path: "full", old_string: "", new_string: "x" });
    expect(await content(fs, "full")).toBe("x");
  });

  it("matches over CRLFs, and keeps them", async () => {
    expect(await edited("a\r\nb\r\nc\r\n", "a\nb", "1\n2\n3")).toBe("1\r\n2\r\n3\r\nc\r\n");
    expect(await edited("a\r\nb\r\n", "b", "b\nc")).toBe("a\r\nb\r\nc\r\n");
    expect(await edited("a\nb\n", "a\r\nb", "x\r\ny")).toBe("x\ny\n");
    expect(await edited("x\r\ny\r\nx\r\ny\r\n", "x\ny\n", "z\n", true)).toBe("z\r\nz\r\n");
    expect(await edited("a\r\nb\r\n", "a\nb\n", "")).toBe("");
    expect(await edited("ab", "b", "\r\nc")).toBe("a\r\nc");
  });

  it("leaves each line of a mixed file its own line end", async () => {
    expect(await edited("a\r\nb\nc\r\nd\n", "a\nb\nc", "a\nB\nc")).toBe("a\r\nB\nc\r\nd\n");
    expect(await edited("a\r\nb\nc\r\nd\n", "b\nc", "b\nnew\nc")).toBe("a\r\nb\nnew\r\nc\r\nd\n");
    expect(await edited("a\nb\r\nc", "b", "x\ny")).toBe("a\nx\r\ny\r\nc");
  });

  it("changes line ends themselves when that is all that is asked", async () => {
    expect(await edited("a\r\nb\nc\r\n", "\r\n", "\n", true)).toBe("a\nb\nc\n");
    expect(await edited("a\nb\n", "a\n", "a\r\n")).toBe("a\r\nb\n");
  });

  it("keeps a byte order mark, UTF-16, and bytes that are no UTF-8", async () => {
    expect(await edited("\ufeffa\nb", "a", "x")).toBe("\ufeffx\nb");
    const utf16 = new Uint8Array([0xff, 0xfe, 0x61, 0, 0x00, 0xd8, 0x62, 0]); // "a", half a character, "b"
    const fs = memoryFs({ utf16, latin: new Uint8Array([0x61, 0xff, 0xfe, 0x62]) });
    const tool = editTool(fs);
    await tool.call({ path: "utf16", old_string: "a", new_string: "é" });
    expect([...(await fs.readFile("utf16"))]).toEqual([0xff, 0xfe, 0xe9, 0, 0x00, 0xd8, 0x62, 0]);
    await tool.call({ path: "latin", old_string: "b", new_string: "bü€" });
    expect([...(await fs.readFile("latin"))]).toEqual([0x61, 0xff, 0xfe, 0x62, 0xfc, 0x80]);
    expect(await failed(tool, { path: "latin", old_string: "b", new_string: "日" })).toContain('which has no "日"');
    expect([...(await fs.readFile("latin"))]).toEqual([0x61, 0xff, 0xfe, 0x62, 0xfc, 0x80]);
  });

  it("refuses what is no text, and half characters", async () => {
    const fs = memoryFs({ bin: new Uint8Array([1, 0, 2]), f: "a" });
    const tool = editTool(fs);
    expect(await failed(tool, { path: "bin", old_string: "a", new_string: "b" })).toContain("not a text file");
    expect(await failed(tool, { path: "f", old_string: "a", new_string: "\ud83d" })).toContain("half a character");
    expect(await content(fs, "f")).toBe("a");
  });

  it("refuses a file that was changed since it was read, until it is read again", async () => {
    for (const fs of [memoryFs(), await realFs()]) {
      await fs.writeFile("f", "one two");
      const read = readTool(fs);
      const edit = editTool(fs);
      await read.call({ path: "f" });
      await fs.writeFile("f", "one TWO"); // same length, maybe the same instant
      const text = await failed(edit, { path: "f", old_string: "one", new_string: "1" });
      expect(text).toContain(
        "changed by something else since you last read or wrote it. Nothing was written. Read it again",
      );
      await read.call({ path: "f", limit: 1 });
      await edit.call({ path: "f", old_string: "one", new_string: "1" });
      await edit.call({ path: "f", old_string: "TWO", new_string: "2" }); // its own change is no surprise
      expect(await content(fs, "f")).toBe("1 2");
    }
  });

  it("shows what was changed meanwhile", async () => {
    const fs = memoryFs({ f: "one\ntwo\nthree\n" });
    await readTool(fs).call({ path: "f", limit: 1 });
    await fs.writeFile("f", "one\n2\nthree\n");
    expect(await failed(editTool(fs), { path: "f", old_string: "one", new_string: "1" })).toContain(
      "What was changed:\n--- f\n+++ f\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three",
    );
  });

  it("does not mind a file that was touched but is the same", async () => {
    const fs = memoryFs({ f: "one" });
    await readTool(fs).call({ path: "f" });
    await fs.writeFile("f", "one");
    await editTool(fs).call({ path: "f", old_string: "one", new_string: "1" });
    expect(await content(fs, "f")).toBe("1");
  });

  it("applies edits of one file that come at once, one after the other", async () => {
    const fs = await realFs();
    const words = Array.from({ length: 20 }, (_, i) => `w${i}.`);
    await fs.writeFile("f", words.join(" "));
    const tool = editTool(fs);
    await Promise.all(words.map((word) => tool.call({ path: "f", old_string: word, new_string: word.toUpperCase() })));
    expect(await content(fs, "f")).toBe(words.join(" ").toUpperCase());
  });

  it("edits the target of a link, and keeps the link and the mode", async () => {
    const fs = memoryFs({ real: "a" });
    await fs.symlink("real", "link");
    await editTool(fs).call({ path: "link", old_string: "a", new_string: "b" });
    expect(await content(fs, "real")).toBe("b");
    expect((await fs.lstat("link")).type).toBe("symlink");
  });

  it("replaces a million places in one long line without looking for line ends a million times", async () => {
    for (const f of [`${"ab".repeat(1_000_000)}\n`, `\n${"ab".repeat(1_000_000)}`]) {
      const input = { path: "f", old_string: "a", new_string: "\nx", replace_all: true };
      expect((await editTool(memoryFs({ f })).call(input)).replacements).toBe(1_000_000);
    }
  });
});

describe("edit, for any text", () => {
  const piece = fc.constantFrom("a", "b", "ab", " ", "\n", "\r\n", "é", "🌍", "\t");
  const text = (max: number, min = 0) =>
    fc.array(piece, { minLength: min, maxLength: max }).map((parts) => parts.join(""));
  const lf = (s: string) => s.replaceAll("\r\n", "\n");

  it("does what a replacement in the same text with LF line ends does", async () => {
    await fc.assert(
      fc.asyncProperty(text(8), text(5, 1), text(8), text(5), async (head, old, tail, next) => {
        fc.pre(lf(old) !== lf(next));
        // A text whose CR and LF fall apart at the seams is another text.
        const before = head + old + tail;
        fc.pre(lf(before) === lf(head) + lf(old) + lf(tail));
        const fs = memoryFs({ f: before });
        const result = await callTool(editTool(fs), {
          path: "f",
          old_string: old,
          new_string: next,
          replace_all: true,
        });
        expect(result.errorDetail).toBeUndefined();
        expect(lf(await content(fs, "f"))).toBe(lf(before).split(lf(old)).join(lf(next)));
      }),
      { numRuns: 300 },
    );
  });

  it("leaves every byte outside the place alone", async () => {
    const bytes = fc.uint8Array({ maxLength: 40 }).map((b) => b.filter((x) => x !== 0));
    await fc.assert(
      fc.asyncProperty(bytes, bytes, async (head, tail) => {
        const mark = new TextEncoder().encode("<<HERE>>");
        const before = new Uint8Array([...new Array<number>(60).fill(0x20), ...head, ...mark, ...tail]);
        const fs = memoryFs({ f: before });
        await editTool(fs).call({ path: "f", old_string: "<<HERE>>", new_string: "<<X>>" });
        const after = await fs.readFile("f");
        const expected = [...before.slice(0, 60 + head.length), ...new TextEncoder().encode("<<X>>"), ...tail];
        expect([...after]).toEqual(expected);
      }),
      { numRuns: 300 },
    );
  });
});

describe("edit with a snippet", () => {
  const lines = (n: number, end = "\n") => Array.from({ length: n }, (_, i) => `l${i + 1}`).join(end) + end;

  it.each<[string, object, string]>([
    [lines(20), { old_string: "l10\n", new_string: "x\ny\n" }, "8→l8\nl9\n10→x\ny\nl11\nl12\nl13"],
    [lines(20, "\r\n"), { old_string: "l10\nl11", new_string: "x" }, "8→l8\nl9\n10→x\nl12\nl13"],
    ["a", { old_string: "a", new_string: "b" }, "1→b"],
    ["a\nb\nc\n", { old_string: "c\n", new_string: "" }, "1→a\nb"],
    ["a b\nc\nd\n", { old_string: "a b", new_string: "x" }, "1→x\nc\nd"],
    ["a a\n", { old_string: "a", new_string: "b", replace_all: true }, "1→b b"],
    ["a\n", { old_string: "a", new_string: "x\n".repeat(50) }, `1→${"x\n".repeat(9)}10→x\nx\nx\n[...]`],
    ["a\n", { old_string: "a", new_string: "x".repeat(500) }, `1→${"x".repeat(200)} [...]`],
  ])("of %j shows after %j: %j", async (file, args, shown) => {
    const fs = memoryFs({ f: file });
    const text = await said(editTool(fs, { snippet: true }), { path: "f", ...args });
    expect(text.split("\nWhat is there now:\n")[1]).toBe(shown);
  });

  it("shows it where the text was found only nearly, else only where it is asked to", async () => {
    const call = { path: "f", old_string: "a", new_string: "b" };
    expect(await said(editTool(memoryFs({ f: "a" })), call)).toBe('Edited "f": 1 replacement, line 1.');
    const near = editTool(memoryFs({ f: "  a\n  b\n" }));
    expect(await said(near, { path: "f", old_string: "a\nb", new_string: "c" })).toMatch(
      /What is there now:\n1→ {2}c$/,
    );
    const all = editTool(memoryFs({ f: "a" }), { snippet: true });
    expect(await said(all, { path: "f", old_string: "a", new_string: "" })).toBe('Edited "f": 1 replacement, line 1.');
  });
});
