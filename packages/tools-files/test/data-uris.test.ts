import { callTool } from "@shedkit/tool";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { applyPatchTool, editTool, multiEditTool, readTool, writeTool } from "../src/index.js";
import { DataCount, withoutData } from "../src/text/data-uri.js";
import { content, failed, memoryFs, said } from "./helpers.js";

const data = (length: number) => "QUJD".repeat(Math.ceil(length / 4)).slice(0, length);
const uri = (length: number) => `data:image/png;base64,${data(length)}`;

describe("data URIs in a text that is read", () => {
  it("are shown without their base64 where that is long, and are whole in the output", async () => {
    const text = `<img src="${uri(4000)}"> <img src='${uri(300)}=='> <img src="${uri(256)}">\nend`;
    const result = await callTool(readTool(memoryFs({ "a.html": text })), { path: "a.html" });
    expect(result.text).toBe(
      '1→<img src="data:image/png;base64,[4,000 characters left out]"> ' +
        `<img src='data:image/png;base64,[302 characters left out]'> <img src="${uri(256)}">\nend\n\n` +
        "[The base64 of data URIs is left out; what stands in its place is not in the file, and must not be written to one.]",
    );
    expect((result.output as { content: string }).content).toBe(text);
  });

  it("count as what is shown of them, so that a line does not become too long by them", async () => {
    const file = `one\n<img src="${uri(3_000_000)}">\n${"x".repeat(1000)}\nlast`;
    const result = await callTool(readTool(memoryFs({ f: file }), { maxTokens: 500 }), { path: "f" });
    expect(result.errorDetail).toBeUndefined();
    expect(result.text).toContain("[3,000,000 characters left out]");
    expect(result.text).toContain("\nlast");
    expect(result.output).toMatchObject({ lines: 4, truncated: false });
    const much = await callTool(readTool(memoryFs({ f: uri(9 * 1024 * 1024) })), { path: "f" });
    expect(much.errorDetail).toBe("too long");
  });

  it("are counted alike in whatever pieces a text comes", () => {
    const part = fc.constantFrom(
      ";base64,",
      ";",
      ";base64",
      "base64,",
      data(200),
      data(257),
      data(600),
      " ",
      "\n",
      "=",
      "é",
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), fc.array(fc.nat(50)), (parts, cuts) => {
        const bytes = new TextEncoder().encode(parts.join(""));
        const counter = new DataCount();
        let [at, left] = [0, 0];
        for (const cut of [...cuts, bytes.length]) {
          const end = Math.min(at + cut, bytes.length);
          left += counter.add(bytes.slice(at, end), 0, end - at);
          at = end;
        }
        const runs = [...parts.join("").matchAll(/;base64,([A-Za-z0-9+/_-]+)/g)];
        const expected = runs.reduce((sum, [, run = ""]) => sum + Math.max(run.length - 256, 0), 0);
        expect(left).toBe(expected);
        expect(withoutData(parts.join("")).cut).toBe(runs.filter(([, run = ""]) => run.length > 256).length);
      }),
    );
  });

  it("cannot be lost by writing what is shown of them", async () => {
    const file = `a <img src="${uri(500)}"> b\n`;
    const fs = memoryFs({ f: file });
    const gap = "data:image/png;base64,[500 characters left out]";
    const lost = /"\[\.\.\. characters left out\]" stands for the base64 of a data URI, which is not shown\./;
    const patch = (line: string) => `*** Begin Patch\n*** Update File: f\n@@\n${line}\n*** End Patch`;
    for (const text of [
      await failed(writeTool(fs), { path: "f", content: `x ${gap}` }),
      await failed(editTool(fs), { path: "f", old_string: "a", new_string: gap }),
      await failed(editTool(fs), { path: "f", old_string: `"${gap}"`, new_string: "x" }),
      await failed(editTool(fs), { path: "f", old_string: 'base64,[500 characters left out]" x', new_string: "y" }),
      await failed(multiEditTool(fs), { edits: [{ path: "f", old_string: "a", new_string: gap }] }),
      await failed(applyPatchTool(fs), { patch: patch(`+${gap}`) }),
    ])
      expect(text).toMatch(lost);
    expect(await content(fs, "f")).toBe(file);
    // Where it is really there, it can be taken away.
    const told = memoryFs({ log: `it said ${gap}\n` });
    await said(editTool(told), { path: "log", old_string: gap, new_string: `nothing ${gap}` });
    expect(await content(told, "log")).toBe(`it said nothing ${gap}\n`);
  });
});
