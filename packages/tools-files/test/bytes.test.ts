import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { editTool, multiEditTool, readTool, writeTool } from "../src/index.js";
import { decodeText, encodeText } from "../src/text/encoding.js";
import { failed, hosted, memoryFs, said } from "./helpers.js";

const utf8 = (text: string) => new TextEncoder().encode(text);

function joined(...parts: (string | number)[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((part) => (typeof part === "number" ? [part] : [...utf8(part)])));
}

describe("bytes of a text file", () => {
  it("are given back as they were, whatever they are", () => {
    const mark = fc.constantFrom([], [0xef, 0xbb, 0xbf], [0xff, 0xfe], [0xfe, 0xff]);
    const piece = fc.oneof(
      fc.string({ unit: "binary" }).map((text) => [...utf8(text)]),
      fc.array(fc.integer({ min: 0, max: 255 }), { maxLength: 6 }),
      fc.constantFrom([0xed, 0xb2, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xc0, 0x80], [0xe2, 0x82], [0xff]),
    );
    fc.assert(
      fc.property(mark, fc.array(piece, { maxLength: 5 }), (before, pieces) => {
        const bytes = Uint8Array.from([...before, ...pieces.flat()]);
        const { text, encoding } = decodeText(bytes);
        expect(encodeText(text, encoding)).toEqual({ bytes });
      }),
    );
  });
});

describe("a UTF-8 file with a byte that is none", () => {
  const file = () =>
    memoryFs({ f: joined("caf\u00e9 one\n", "x\n".repeat(20), "bad ", 0xff, " end \ud83d\ude00\n", "na\u00efve\n") });

  it("is edited by what is read of it, and keeps the byte", async () => {
    const fs = file();
    const { content } = await readTool(fs).call({ path: "f", limit: 1 });
    expect(content).toBe("caf\u00e9 one");
    await editTool(fs).call({ path: "f", old_string: content, new_string: "caf\u00e9 two" });
    await multiEditTool(fs).call({
      edits: [
        { path: "f", old_string: "na\u00efve", new_string: "\u20ac" },
        { path: "f", old_string: " end \ud83d\ude00", new_string: " \ud83d\ude01" },
      ],
    });
    expect(await fs.readFile("f")).toEqual(
      joined("caf\u00e9 two\n", "x\n".repeat(20), "bad ", 0xff, " \ud83d\ude01\n", "\u20ac\n"),
    );
  });

  it("is shown with a mark in place of the byte, which no tool takes for text", async () => {
    const fs = file();
    const text = await said(readTool(fs), { path: "f", offset: 20 });
    expect(text).toContain("bad \ufffd end \ud83d\ude00\nna\u00efve\n");
    expect(text).toContain("Some bytes here are not UTF-8");
    expect(await readTool(fs).call({ path: "f" })).toMatchObject({ encoding: "utf-8-mixed" });
    expect(await failed(editTool(fs), { path: "f", old_string: "bad \ufffd", new_string: "good" })).toContain(
      "\ufffd is shown for bytes of the file that are no text",
    );
    const dry = { edits: [{ path: "f", old_string: "na\u00efve", new_string: "wise" }], dry_run: true };
    const shown = await said(multiEditTool(fs), dry);
    expect(shown).toContain(" bad \ufffd end");
    const { told } = await hosted(editTool(fs), { path: "f", old_string: "na\u00efve", new_string: "wise" });
    expect(JSON.stringify(told)).not.toMatch(/\\ud/);
    await writeTool(fs).call({ path: "f", content: "caf\u00e9\n" });
    expect(await fs.readFile("f")).toEqual(utf8("caf\u00e9\n"));
  });

  it("is taken for Windows-1252 where little of it is UTF-8, and keeps its byte order mark", async () => {
    const fs = memoryFs({ latin: joined("gr", 0xfc, "n ", 0xe9, "\n"), bom: joined(0xef, 0xbb, 0xbf, 0xff, " a\n") });
    expect(await readTool(fs).call({ path: "latin" })).toMatchObject({ content: "gr\u00fcn \u00e9\n" });
    await editTool(fs).call({ path: "bom", old_string: "a", new_string: "b" });
    expect(await fs.readFile("bom")).toEqual(joined(0xef, 0xbb, 0xbf, 0xff, " b\n"));
  });
});

describe("read", () => {
  it("tells of an empty file that it is empty, whatever its name", async () => {
    expect(await said(readTool(memoryFs({ "a.png": "" })), { path: "a.png" })).toBe("[The file is empty.]");
  });

  it("suggests the name that differs in case alone, and no others", async () => {
    const text = await failed(readTool(memoryFs({ "u.txt": "", "m.txt": "", "n.txt": "" })), { path: "U.TXT" });
    expect(text).toContain('Did you mean "u.txt"?');
  });
});
