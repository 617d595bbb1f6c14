import { Resources, ToolError, type ToolImpl } from "@shedkit/tool";
import { describe, expect, it } from "vitest";
import { globTool, searchFileTool } from "../src/index.js";
import { memoryFs } from "./helpers.js";

/** What is said of a call where a host has renamed the tool, its parameters and the tool that lists folders. */
async function said(tool: ToolImpl, args: object): Promise<string> {
  const answer = tool.execute(args as Parameters<ToolImpl["execute"]>[0], {
    callId: "call",
    signal: new AbortController().signal,
    resources: new Resources(),
    names: {
      tool: "zq_tool",
      param: (canonical) => `zq_${canonical}`,
      toolOf: (kind) => (kind === "listDir" ? "zq_ls" : undefined),
      paramOf: () => undefined,
    },
    notify: () => {},
  });
  try {
    if (!(Symbol.asyncIterator in answer)) return (await answer).text;
    for await (const event of answer) if (event.type === "result") return event.result.text;
  } catch (error) {
    if (error instanceof ToolError) return error.message;
    throw error;
  }
  throw new Error("the tool gave no result");
}

const many = Object.fromEntries(Array.from({ length: 3 }, (_, i) => [`f${i}.txt`, "x\nx\n"]));
const search = searchFileTool(memoryFs(many));
const late = searchFileTool(memoryFs(Object.fromEntries(Array.from({ length: 2000 }, (_, i) => [`f${i}`, "x"]))), {
  timeoutMs: 1,
});
const glob = globTool(memoryFs(many), { limit: 2 });

describe("under other names", () => {
  it.each<[string, ToolImpl, object, string]>([
    ["more lines", search, { query: "x", limit: 1 }, "Narrow it with zq_paths or zq_glob, or raise zq_limit."],
    ["more files", search, { query: "f", kind: "Find", limit: 1 }, "with zq_paths or zq_glob, or raise zq_limit."],
    [
      "more files with matches",
      search,
      { query: "x", output_mode: "count", limit: 1 },
      "[2 more files not shown. Narrow it with zq_paths or zq_glob, or raise zq_limit.]",
    ],
    ["an empty expression", search, { query: " " }, "zq_query is empty."],
    ["a match over lines", search, { query: "x\nx" }, "Set zq_multiline to true"],
    ["a pattern in place of a path", search, { query: "x", paths: ["*.ts"] }, "Give a pattern as zq_glob."],
    ["what is no expression", search, { query: "(" }, "zq_query is no regular expression"],
    ["a kind that is not known", search, { query: "x", type: "q" }, 'zq_type "q" is not known.'],
    ["a kind that is not known", search, { query: "x", type: "q" }, "give zq_glob, e.g."],
    ["a missing folder", search, { query: "x", paths: ["q"] }, "with zq_ls, or leave out zq_paths."],
    ["a search that took too long", late, { query: "x" }, "Search fewer zq_paths."],
    ["a missing folder of a glob", glob, { pattern: "*", path: "q" }, "with zq_ls, or leave out zq_path."],
    ["a file in place of a folder", glob, { pattern: "*", path: "f0.txt" }, "Give the folder to look in as zq_path."],
    ["an empty glob", glob, { pattern: " " }, "zq_pattern is empty."],
  ])("%s is told of by these", async (_, tool, args, expected) => {
    const text = await said(tool, args);
    expect(text).toContain(expected);
    expect(text).not.toMatch(/(?<!zq_)\b(?:search_file|output_mode|ignore_case|query|paths)\b/);
  });
});
