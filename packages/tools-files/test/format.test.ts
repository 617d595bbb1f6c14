import { MemoryFileSystem } from "@shedkit/fs/memory";
import { callTool, ToolCallResult } from "@shedkit/tool";
import { expect, test } from "vitest";
import { type FileFormat, type FormatFile, type FormatRequest, filesTools, readTool } from "../src/index.js";
import { failed, said } from "./helpers.js";

const seen: [FormatFile, FormatRequest][] = [];
const tape: FileFormat = {
  paged: true,
  matches: ({ path, head }) => path.endsWith(".tape") || head[0] === 7,
  read: async (file, request) => {
    seen.push([file, request]);
    if (file.size > 5) return ToolCallResult.failure("too long");
    const text = `played ${request.pages ?? "all"}`;
    const output = { path: file.path, content: text, firstLine: 1, lines: 1, encoding: "tape", truncated: false };
    return new ToolCallResult([{ type: "text", text }], { output });
  },
};

test("a format reads what it knows, by name or by first bytes, with the pages asked for", async () => {
  const fs = new MemoryFileSystem({
    "a.tape": "abc",
    b: Uint8Array.of(7, 0),
    "c.tape": "longer",
    "d.txt": "text",
    "e.tape": "",
  });
  const [read = readTool(fs)] = filesTools(fs, { formats: [tape], read: { maxTokens: 50 } });
  expect(await said(read, { path: "a.tape", pages: "2-" })).toBe("played 2-");
  expect(await said(read, { path: "b" })).toBe("played all");
  expect(await failed(read, { path: "c.tape" })).toBe("too long");
  expect(await said(read, { path: "d.txt" })).toBe("1→text");
  expect(await said(read, { path: "e.tape" })).toContain("empty");
  expect(seen[0]?.[0]).toEqual({ path: "a.tape", size: 3, head: new TextEncoder().encode("abc") });
  expect(seen[0]?.[1].maxBytes).toBe(200);
  expect(seen[0]?.[1].param("pages")).toBe("pages");
});

test("without formats there are no pages to ask for", async () => {
  const read = readTool(new MemoryFileSystem({ "a.tape": "abc" }));
  await expect(callTool(read, { path: "a.tape", pages: "2" })).rejects.toThrow("pages");
});
