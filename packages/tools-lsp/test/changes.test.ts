import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { NodeFileSystem } from "@shedkit/fs/node";
import { ToolShed } from "@shedkit/shed";
import { Resources, type ToolImpl } from "@shedkit/tool";
import { deleteTool, filesTools, moveTool } from "@shedkit/tools-files";
import { hashlineTools } from "@shedkit/tools-hashline";
import { newSessionId, type ToolArguments } from "@shedkit/types";
import { expect, onTestFinished, test, vi } from "vitest";
import { fatesOf } from "../src/changes.js";
import { diagnosticsReminder, type LanguageServers } from "../src/index.js";
import { poolOf } from "../src/servers.js";
import { folder, scripted, serversOf } from "./helpers.js";

/** Writes down what it is told of files; knows nothing of them. */
const LISTENS = `
  connection.onRequest("initialize", () => ({ capabilities: { diagnosticProvider: {} } }));
  connection.onRequest("textDocument/diagnostic", () => ({ kind: "full", items: [] }));
  connection.onNotification("workspace/didChangeWatchedFiles", ({ changes }) => {
    for (const { uri, type } of changes) {
      writeFileSync(new URL("./told", import.meta.url), type + " " + uri.slice(uri.lastIndexOf("/") + 1) + "\\n", { flag: "a" });
    }
  });
`;

/** Calls tools of a session that has the reminder; gives what the model reads. */
async function session(servers: LanguageServers, tools: readonly ToolImpl[]) {
  const parts = {
    sessionId: newSessionId(),
    resources: new Resources(),
    context: { search: async () => [] },
    memory: { facts: async () => [], edit: async () => 0 },
  };
  const manager = await new ToolShed().tools(tools).reminder(diagnosticsReminder(servers)).build(parts);
  onTestFinished(() => manager.close());
  let calls = 0;
  return async (name: string, args: ToolArguments): Promise<string> =>
    (await manager.executeOne({ id: `${++calls}`, name, arguments: args })).text;
}

async function anchorOf(call: Awaited<ReturnType<typeof session>>, path: string): Promise<string> {
  const shown = await call("hashline_read", { path });
  return /\d+:[0-9a-z]+(?=\u2192)/i.exec(shown)?.[0] ?? "";
}

async function toldOf(fs: NodeFileSystem, servers: LanguageServers): Promise<string[]> {
  await servers.close(); // what it was told before it has heard by then
  return (await readFile(join(fs.root, "told"), "utf8")).trim().split("\n");
}

test("an edit by either bundle of file tools starts the server of the file", async () => {
  for (const way of ["files", "hashline"] as const) {
    const fs = await folder({ "a.x": "one\n" });
    const servers = serversOf(fs, { x: await scripted(fs, LISTENS) });
    const call = await session(servers, way === "files" ? filesTools(fs) : hashlineTools(fs));
    if (way === "files") {
      await call("read", { path: "a.x" });
      expect(servers.pidOf("x")).toBeUndefined();
      await call("edit", { path: "a.x", old_string: "one", new_string: "two" });
    } else {
      const anchor = await anchorOf(call, "a.x");
      expect(servers.pidOf("x")).toBeUndefined();
      await call("hashline_edit", { path: "a.x", edits: [{ op: "replace", anchor, content: "two" }] });
    }
    expect(await readFile(join(fs.root, "a.x"), "utf8")).toBe("two\n");
    await vi.waitFor(() => expect(servers.pidOf("x")).toBeDefined(), { timeout: 50_000 });
  }
});

test("servers are told of files that were made, changed, moved and deleted", async () => {
  const fs = await folder({ "a.x": "one\n" });
  const servers = serversOf(fs, { x: await scripted(fs, LISTENS) });
  await poolOf(servers).start("x", new AbortController().signal);
  const call = await session(servers, [...filesTools(fs), moveTool(fs), deleteTool(fs)]);
  await call("write", { path: "b.x", content: "one\n" });
  await call("edit", { path: "b.x", old_string: "one", new_string: "two" });
  await call("move", { from: "b.x", to: "c.x" });
  await call("delete", { path: "c.x" });
  await call("write", { path: "notes.txt", content: "nobody's" });
  expect(await toldOf(fs, servers)).toEqual(["1 b.x", "2 b.x", "3 b.x", "1 c.x", "3 c.x"]);
});

test("of several changes of a file a server is told what became of it", async () => {
  const fs = await folder({});
  const told = fatesOf(fs, [
    { path: "made", change: "created" },
    { path: "made", change: "changed" },
    { path: "anew", change: "removed" },
    { path: "./anew", change: "created" },
    { path: "gone", change: "changed" },
    { path: "gone", change: "removed" },
    { path: "../outside", change: "changed" },
  ]);
  expect([...told]).toEqual([
    ["made", 1],
    ["anew", 2],
    ["gone", 3],
  ]);
});
