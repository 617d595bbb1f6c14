import { callTool, isToolConstructor, type SessionParts } from "@shedkit/tool";
import type { ContextSearch, KnowledgeHit } from "@shedkit/types";
import { describe, expect, it } from "vitest";
import { searchContextTool, sessionContextTool } from "../src/index.js";

function recorded(hits: KnowledgeHit[]) {
  const asked: unknown[] = [];
  const context: ContextSearch = {
    async search(...args) {
      asked.push(args);
      return hits;
    },
  };
  return { asked, context };
}

describe("search_context", () => {
  it("gives the hits as JSON, the best first", async () => {
    const { asked, context } = recorded([
      { source: "message", score: 0.5, content: "the port is 8080", recordId: "r1" },
      { source: "observation", score: 0.25, content: "likes tea" },
    ]);
    const result = await callTool(searchContextTool(context), { query: "port" });
    expect(JSON.parse(result.text)).toEqual([
      { source: "message", score: 0.5, content: "the port is 8080", record_id: "r1" },
      { source: "observation", score: 0.25, content: "likes tea" },
    ]);
    expect(asked).toEqual([["port", { mode: "hybrid", limit: 10 }]]);
  });

  it("takes the modes in either spelling", async () => {
    const { asked, context } = recorded([]);
    const tool = searchContextTool(context);
    for (const mode of ["Memory", "semantic"]) await callTool(tool, { query: "x", mode, k: "3" });
    expect(asked).toEqual([
      ["x", { mode: "memory", limit: 3 }],
      ["x", { mode: "semantic", limit: 3 }],
    ]);
    await expect(callTool(tool, { query: "x", mode: "deep" })).rejects.toMatchObject({ kind: "invalidArguments" });
    await expect(callTool(tool, { query: "x", k: 0 })).rejects.toMatchObject({ kind: "invalidArguments" });
    await expect(callTool(tool, { query: " " })).rejects.toMatchObject({ kind: "invalidArguments" });
  });

  it("says when there is nothing, and cuts what is very long", async () => {
    expect((await callTool(searchContextTool(recorded([]).context), { query: "x" })).text).toMatch(
      /^Nothing was found/,
    );
    const long = recorded([{ source: "message", score: 1, content: "x".repeat(100_000) }]);
    expect((await callTool(searchContextTool(long.context), { query: "x" })).text.length).toBeLessThan(5000);
  });

  it("is built over the session's own context", async () => {
    const { asked, context } = recorded([]);
    const made = sessionContextTool();
    expect([made.name, made.needsSession, isToolConstructor(made)]).toEqual(["search_context", true, true]);
    await callTool(await made.construct({ context } as SessionParts), { query: "x" });
    expect(asked).toHaveLength(1);
  });
});
