import { callTool, keptResults, Resources } from "@shedkit/tool";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { editTool, readTool } from "../src/index.js";
import { failed, hosted, memoryFs, realFs, said } from "./helpers.js";

const bytes = (base64: string) => new Uint8Array(Buffer.from(base64, "base64"));
// Of 2 x 3 pixels.
const PNG = bytes("iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAIAAAA2iEnWAAAAEElEQVR4nGP4z8AARCgUAF8bBf8qkQbZAAAAAElFTkSuQmCC");
const JPEG = new Uint8Array([
  0xff, 0xd8, 0xff, 0xe0, 0, 4, 0, 0, 0xff, 0xc0, 0, 11, 8, 0, 3, 0, 2, 1, 1, 0x11, 0, 0xff, 0xda, 0, 2, 0, 0xff, 0xd9,
  0, 0,
]);
const GIF = new Uint8Array([...Buffer.from("GIF89a"), 2, 0, 3, 0, 0, 0, 0, 0, 0x3b]);
const WEBP = new Uint8Array([
  ...Buffer.from("RIFF"),
  22,
  0,
  0,
  0,
  ...Buffer.from("WEBPVP8X"),
  10,
  0,
  0,
  0,
  0,
  0,
  0,
  0,
  1,
  0,
  0,
  2,
  0,
  0,
]);

const plain = { lineNumbers: false };
const numbered = (from: number, to: number, end = "\n") =>
  Array.from({ length: to - from + 1 }, (_, i) => `line${from + i}`).join(end);

describe("read", () => {
  it("tells of characters that turn the direction of text, which it shows as they are", async () => {
    const fs = memoryFs({ f: "one\r\n\u202etwo\u2066\r\nthree\n\u202e", g: "\u200fאב\n" });
    const turned = "Characters that are not seen and turn the direction of text (U+202E, U+2066) are on lines";
    expect(await said(readTool(fs), { path: "f" })).toBe(
      `1→one\n\u202etwo\u2066\nthree\n\u202e\n\n[${turned} 2 and 4: to a person these may look otherwise.]`,
    );
    expect(await said(readTool(fs), { path: "f", offset: 2, limit: 2 })).toContain("are on line 2: to a person");
    expect(await said(readTool(fs), { path: "f", offset: 3, limit: 1 })).not.toContain("Characters");
    expect(await said(readTool(fs), { path: "g" })).toBe("1→\u200fאב\n");
    const edit = { path: "f", old_string: "\u202etwo\u2066\nthree", new_string: "2" };
    expect(await said(editTool(fs), edit)).toContain("1 replacement, line 2");
  });

  it("returns a whole file, and says how many lines it has", async () => {
    const tool = readTool(memoryFs({ f: "line1\nline2\nline3\n" }));
    expect(await tool.call({ path: "f" })).toEqual({
      path: "f",
      content: "line1\nline2\nline3\n",
      firstLine: 1,
      lines: 4,
      totalLines: 4,
      encoding: "utf-8",
      truncated: false,
    });
  });

  it("numbers the first line and every tenth", async () => {
    expect(await said(readTool(memoryFs({ f: "a\nb\nc\n" })), { path: "f" })).toBe("1→a\nb\nc\n");
    const text = await said(readTool(memoryFs({ f: numbered(1, 12) })), { path: "f" });
    expect(text.split("\n").filter((line) => line.includes("→"))).toEqual(["1→line1", "10→line10"]);
    const from8 = await said(readTool(memoryFs({ f: numbered(1, 12) })), { path: "f", offset: 8 });
    expect(from8).toBe("8→line8\nline9\n10→line10\nline11\nline12");
  });

  it("numbers no lines where told not to", async () => {
    expect(await said(readTool(memoryFs({ f: "a\nb\n" }), plain), { path: "f" })).toBe("a\nb\n");
  });

  it("counts offsets from the start or from the end", async () => {
    const five = readTool(memoryFs({ f: `${numbered(1, 5)}\n`, g: "a\nb\nc", h: "a\nb\nc\n", one: "hello\n" }));
    expect(await said(five, { path: "one", offset: 2 })).toBe("2→");
    expect(await said(five, { path: "f", offset: -2, limit: 2 })).toBe("5→line5\n");
    expect((await five.call({ path: "g", offset: -1 })).content).toBe("");
    expect((await five.call({ path: "g", offset: -3 })).firstLine).toBe(2);
    expect((await five.call({ path: "h", offset: -3 })).firstLine).toBe(2);
    expect((await five.call({ path: "h", offset: -99 })).firstLine).toBe(1);
    expect((await five.call({ path: "h", offset: 0 })).firstLine).toBe(1);
    expect((await five.call({ path: "f", offset: "-3" as unknown as number })).firstLine).toBe(4);
  });

  it("says where to go on when lines are left", async () => {
    const tool = readTool(memoryFs({ f: numbered(1, 3000) }), plain);
    expect(await said(tool, { path: "f", offset: 5, limit: 2 })).toBe(
      "line5\nline6\n\n[These are lines 5 to 6 of 3,000. Go on with offset 7.]",
    );
    const whole = await tool.call({ path: "f" });
    expect(whole).toMatchObject({ lines: 1000, totalLines: 3000, truncated: true });
    const more = await tool.call({ path: "f", limit: 5000 });
    expect(more).toMatchObject({ lines: 1000, truncated: true });
    expect(await tool.call({ path: "f", limit: 1000 })).toMatchObject({ lines: 1000, truncated: false });
    expect(await tool.call({ path: "f", offset: 2001, limit: 5000 })).toMatchObject({ lines: 1000, truncated: false });
  });

  it("keeps to its budget of tokens, by whole lines, and says what was asked for", async () => {
    const fs = memoryFs({ f: Array.from({ length: 500 }, () => "x".repeat(999)).join("\n") });
    const text = await said(readTool(fs, plain), { path: "f", offset: 1, limit: 400 });
    const [body, note] = text.split("\n\n");
    expect(body?.split("\n")).toHaveLength(100);
    expect(note).toBe(
      "[Lines 1 to 400 are about 100,000 tokens, more than the 25,000 of one call. These are lines 1 to 100 of 500. " +
        "Go on with offset 101.]",
    );
    const small = readTool(memoryFs({ f: numbered(1, 100) }), { lineNumbers: false, maxTokens: 10 });
    expect((await small.call({ path: "f" })).content).toBe(numbered(1, 6));
  });

  it("returns a long line whole where it fits, and refuses one that does not", async () => {
    const line = `{"a":"${"é".repeat(24_000)}"}`;
    const fs = memoryFs({ "a.json": line, "b.json": "x".repeat(120_000) });
    expect(await said(readTool(fs, plain), { path: "a.json" })).toBe(line);
    const text = await failed(readTool(fs), { path: "b.json" });
    expect(text).toContain("lines 1 to 1 are about 30,000 tokens; 25,000 are the most");
  });

  it("reads an empty file as empty", async () => {
    const tool = readTool(memoryFs({ f: "" }));
    expect(await tool.call({ path: "f" })).toMatchObject({ content: "", lines: 0, totalLines: 0 });
    expect(await said(tool, { path: "f" })).toBe("[The file is empty.]");
  });

  it("says when an offset is past the end", async () => {
    expect(await failed(readTool(memoryFs({ f: "a\nb" })), { path: "f", offset: 9 })).toBe(
      '"f" has 2 lines; offset 9 is past its end.',
    );
  });

  it("shows lines without carriage returns, and keeps them in its output", async () => {
    const tool = readTool(memoryFs({ f: "a\r\nb\r\nc\r\n" }), plain);
    expect(await said(tool, { path: "f" })).toBe("a\nb\nc\n");
    expect((await tool.call({ path: "f" })).content).toBe("a\r\nb\r\nc\r\n");
    expect((await tool.call({ path: "f", limit: 2 })).content).toBe("a\r\nb");
  });

  it("reads UTF-8 with a mark, UTF-16 and bytes that are no UTF-8, and says so", async () => {
    const utf16 = (text: string, little: boolean) => {
      const bytes = new Uint8Array(text.length * 2);
      const view = new DataView(bytes.buffer);
      for (let i = 0; i < text.length; i++) view.setUint16(i * 2, text.charCodeAt(i), little);
      return bytes;
    };
    const fs = memoryFs({
      bom: "\ufeffgrün\n",
      le: utf16("\ufeffa\ngrün 🌍\nb", true),
      be: utf16("\ufeffa\nܐ਀\nb", false), // bytes 0x0a that are no line feeds
      latin: new Uint8Array([0x67, 0x72, 0xfc, 0x6e, 0x80, 0x0a]),
    });
    const tool = readTool(fs, plain);
    expect(await tool.call({ path: "bom" })).toMatchObject({ content: "grün\n", encoding: "utf-8-bom" });
    expect(await said(tool, { path: "le", offset: 2, limit: 1 })).toBe(
      "grün 🌍\n\n[These are lines 2 to 2 of 3. Go on with offset 3. The file is UTF-16 (little-endian).]",
    );
    expect(await tool.call({ path: "be" })).toMatchObject({ content: "a\nܐ਀\nb", totalLines: 3, encoding: "utf-16be" });
    expect(await tool.call({ path: "le", offset: -2 })).toMatchObject({ firstLine: 3, content: "b" });
    expect(await tool.call({ path: "latin" })).toMatchObject({ content: "grün€\n", encoding: "windows-1252" });
  });

  it("refuses what is no text", async () => {
    const fs = memoryFs({
      "a.txt": "abc\0def",
      "b.zip": "text",
      controls: `${"\u0001".repeat(31)}${"a".repeat(69)}`,
      text: `${"\u0001".repeat(30)}${"a".repeat(70)}`,
    });
    const tool = readTool(fs, plain);
    for (const path of ["a.txt", "b.zip", "controls"]) {
      expect(await failed(tool, { path })).toMatch(/is not a text file \(\d+ bytes\)\. Only text can be read\./);
    }
    expect((await tool.call({ path: "text" })).lines).toBe(1);
  });

  it("gives small images to the model, whatever their names", async () => {
    const fs = memoryFs({ "a.png": PNG, photo: JPEG, "c.gif": GIF, "d.txt": WEBP });
    const tool = readTool(fs);
    for (const [path, mediaType, width, height, bytes] of [
      ["a.png", "image/png", 2, 3, PNG],
      ["photo", "image/jpeg", 2, 3, JPEG],
      ["c.gif", "image/gif", 2, 3, GIF],
      ["d.txt", "image/webp", 2, 3, WEBP],
    ] as const) {
      const { content } = await callTool(tool, { path });
      expect(content).toEqual([
        { type: "text", text: `["${path}": an image of 2 x 3 pixels.]` },
        {
          type: "image",
          source: { type: "base64", data: Buffer.from(bytes).toString("base64") },
          mediaType,
          name: path,
        },
      ]);
      expect((await tool.call({ path })).image).toEqual({ mediaType, width, height });
      expect(await failed(readTool(fs, { images: false }), { path })).toContain("is not a text file");
    }
  });

  it("refuses images that are too large or broken off", async () => {
    const large = PNG.slice();
    new DataView(large.buffer).setUint32(16, 2001);
    const heavy = new Uint8Array(600_000);
    heavy.set(PNG);
    const fs = memoryFs({
      "large.png": large,
      "heavy.png": heavy,
      "cut.png": PNG.subarray(0, -3),
      "cut.jpg": JPEG.subarray(0, -3),
    });
    const tool = readTool(fs);
    expect(await failed(tool, { path: "large.png" })).toContain("is an image of 2001 x 3 pixels");
    expect(await failed(tool, { path: "heavy.png" })).toContain("600,000 bytes, too large to be shown");
    expect(await failed(tool, { path: "cut.png" })).toContain("damaged or broken off");
    expect(await failed(tool, { path: "cut.jpg" })).toContain("damaged or broken off");
  });

  it("reads what guides an agent whole, whatever part of it is asked for", async () => {
    const text = numbered(1, 1500);
    const fs = memoryFs({ "x/SKILL.md": text, "skills/a/b.md": text, "skills-x/b.md": text, "skills/c.txt": text });
    const tool = readTool(fs, { lineNumbers: false, maxTokens: 10 });
    for (const path of ["x/SKILL.md", "skills/a/b.md"])
      expect(await said(tool, { path, offset: 9, limit: 2 })).toBe(text);
    for (const path of ["skills-x/b.md", "skills/c.txt"])
      expect((await tool.call({ path, offset: 9, limit: 1 })).lines).toBe(1);
  });

  it("sends a folder to list, and helps with names that are nearly right", async () => {
    const fs = memoryFs({ "src/config.ini": "", "src/Config.old": "", "src/other.md": "", "docs/read me.txt": "hi" });
    const tool = readTool(fs, plain);
    expect(await failed(tool, { path: "src" })).toBe('"src" is a folder, not a file. List it instead.');
    expect(await failed(tool, { path: "src/confg.ini" })).toContain('Did you mean "src/config.ini"?');
    expect(await failed(tool, { path: "src/CONFIG" })).toContain('Did you mean "src/Config.old" and "src/config.ini"?');
    expect(await failed(tool, { path: "scr/config.ini" })).toBe(
      'There is no file or folder "scr/config.ini": the folder "scr" does not exist. Did you mean "src"?',
    );
    expect(await failed(tool, { path: "src/zzz.bin.qq" })).toContain('List the folder "src" to see what is there.');
    expect((await tool.call({ path: "docs/read\u202fme.txt" })).content).toBe("hi");
  });

  it("takes paths as models write them", async () => {
    const fs = memoryFs({ "a.txt": "hi" });
    const tool = readTool(fs, plain);
    for (const path of [' "a.txt" ', "'a.txt'", '"a.txt\\n"', "./a.txt", `${fs.root}/a.txt`, "a.txt'"]) {
      expect((await tool.call({ path })).content).toBe("hi");
    }
  });

  it("says of a URL that it is one, and what to give", async () => {
    const fs = memoryFs({ "src/a b.ts": "", "src/c%.ts": "" });
    const tool = readTool(fs, plain);
    const given = (path: string) => failed(tool, { path });
    for (const url of [
      "file:///workspace/src/a%20b.ts",
      "FILE://localhost/workspace/src/a b.ts",
      "file://src/a%20b.ts",
    ]) {
      expect(await given(url)).toMatch(/^"file:\/.*" is a URL. Give the path alone: "src\/a b.ts".$/i);
    }
    expect(await given("file:///workspace/src/c%.ts")).toContain('Give the path alone: "src/c%.ts".');
    expect(await given("file:///workspace/no/c.ts")).toContain('Give the path alone: "no/c.ts".');
    for (const url of ["file:///elsewhere/x.ts", "file:///%00", "https://example.com/a b.ts?c=d", "http://x"]) {
      expect(await given(url)).toContain(' is a URL. Give the path of a file in /workspace, e.g. "src/main.ts".');
    }
    // What is there is no URL, nor is what is not like one.
    expect(await given("std:/a.ts")).toContain('the folder "std:" does not exist');
    const there = readTool(memoryFs({ "file:/x.ts": "hi" }), plain);
    expect((await there.call({ path: "file:///x.ts" })).content).toBe("hi");
    expect(await failed(there, { path: "file:///y.ts" })).toBe(
      'There is no file or folder "file:/y.ts". Did you mean "file:/x.ts"?',
    );
  });

  it("finds the file meant by an absolute path that leaves out the root", async () => {
    const tool = readTool(memoryFs({ "config.ini": "" }));
    await expect(callTool(tool, { path: "/config.ini" })).rejects.toMatchObject({
      kind: "permissionDenied",
      message: expect.stringContaining('Did you mean "config.ini"?') as string,
    });
  });

  it("names its parameters as the client does", async () => {
    const tool = readTool(memoryFs({ f: numbered(1, 5) }), plain);
    const events = tool.execute(
      { path: "f", limit: 1 },
      {
        callId: "c",
        signal: new AbortController().signal,
        resources: new Resources(),
        names: {
          tool: "read_file",
          param: (name) => (name === "offset" ? "start_line" : name),
          toolOf: () => undefined,
          paramOf: () => undefined,
        },
        notify: () => {},
      },
    );
    if (!(Symbol.asyncIterator in events)) throw new Error("no events");
    for await (const event of events) {
      expect(event).toMatchObject({ type: "result", result: { text: expect.stringContaining("with start_line 2") } });
    }
  });

  it("opens a kept result by its handle", async () => {
    const resources = new Resources();
    resources.insert(keptResults, {
      keep: () => "",
      get: (handle) => (handle === "result:c1" ? numbered(1, 9) : undefined),
    });
    const result = await callTool(readTool(memoryFs(), plain), { path: "result:c1", offset: 8 }, { resources });
    expect(result.text).toBe("line8\nline9");
  });

  it("reads a window of a large file from the disk, wherever its pieces are cut", async () => {
    const fs = await realFs();
    const lines = Array.from({ length: 60_000 }, (_, i) => `${i + 1} ${"ü".repeat(i % 40)}`);
    await fs.writeFile("big.log", lines.join("\n"));
    const tool = readTool(fs, plain);
    expect(await tool.call({ path: "big.log", offset: 31_000, limit: 900 })).toMatchObject({
      content: lines.slice(30_999, 31_899).join("\n"),
      totalLines: 60_000,
    });
    expect((await tool.call({ path: "big.log", offset: -3 })).content).toBe(lines.slice(-2).join("\n"));
  });

  it("gives the lines that a split at line ends gives, for any window", async () => {
    const text = fc.array(fc.constantFrom("a", "é", "\n", "\r\n", "\r", "x y", "🌍"), { maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(
        text,
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 1, max: 12 }),
        async (parts, offset, limit) => {
          const whole = parts.join("");
          fc.pre(whole !== "");
          const fields = whole.split("\n");
          fc.pre(offset <= fields.length);
          const read = await readTool(memoryFs({ f: whole })).call({ path: "f", offset, limit });
          const wanted = fields.slice(offset - 1, offset - 1 + limit);
          const last = offset - 1 + limit < fields.length ? wanted.join("\n").replace(/\r$/, "") : wanted.join("\n");
          expect(read.content).toBe(last);
          expect([read.lines, read.totalLines]).toEqual([wanted.length, fields.length]);
        },
      ),
    );
  });

  it("stops when the call is cancelled", async () => {
    await expect(
      readTool(memoryFs({ f: "a" })).call({ path: "f" }, { signal: AbortSignal.abort() }),
    ).rejects.toMatchObject({
      kind: "cancelled",
    });
  });
});

describe("read with files of rules", () => {
  const files = {
    "AGENTS.md": "root",
    "a/b/CLAUDE.md": "deep",
    "a/b/AGENTS.md": "deep",
    "a/b/c/f.txt": "x",
    "a/g.txt": "x",
    "d/AGENTS.md/f": "a folder",
    "d/h.txt": "x",
  };
  const ruleFiles = ["AGENTS.md", "CLAUDE.md"];

  it("names those of a file's folder and of those above it, each once", async () => {
    const read = readTool(memoryFs(files), { ruleFiles });
    expect(await said(read, { path: "a/b/AGENTS.md" })).toBe(
      '1→deep\n\n[Rules for this file are in "AGENTS.md" and "a/b/CLAUDE.md": read them before you change it.]',
    );
    for (const path of ["a/b/c/f.txt", "a/g.txt", "d/h.txt", "a/b/AGENTS.md"])
      expect(await said(read, { path })).not.toContain("Rules");
    const other = readTool(memoryFs(files), { ruleFiles: ["CLAUDE.md"], stream: true });
    const pieces: string[] = [];
    const { text } = await callTool(
      other,
      { path: "a/b/c/f.txt" },
      { onProgress: ({ text }) => pieces.push(text ?? "") },
    );
    expect(text).toMatch(/\n\n\[Rules for this file are in "a\/b\/CLAUDE\.md": read it before you change it\.\]$/);
    expect(pieces.join("")).toBe(text);
  });

  it("does so once a session, and not where it is not asked to", async () => {
    const fs = memoryFs(files);
    const told = async (sessionId: string, resources: Resources, params = {}) =>
      (await hosted(readTool(fs, params), { path: "a/g.txt" }, { sessionId, resources })).text.includes("Rules");
    const [one, two] = [new Resources(), new Resources()];
    expect(await told("one", one)).toBe(false);
    expect(await told("one", one, { ruleFiles })).toBe(true);
    expect(await told("one", one, { ruleFiles })).toBe(false);
    expect(await told("two", two, { ruleFiles })).toBe(true);
  });
});
