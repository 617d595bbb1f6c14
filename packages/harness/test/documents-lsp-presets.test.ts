import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MemoryFileSystem } from "@shedkit/fs/memory";
import { NodeFileSystem } from "@shedkit/fs/node";
import { newSessionId } from "@shedkit/types";
import { expect, onTestFinished, test } from "vitest";
import { ToolPreset } from "../src/index.js";

test("files with documents: read opens a PDF, and says why it cannot", async () => {
  const fs = new MemoryFileSystem({ "a.pdf": "%PDF-1.4\nnothing more" });
  const read = async (documents: boolean): Promise<string> => {
    const manager = await ToolPreset.files(fs, { documents }).intoManager(newSessionId());
    manager.activate(["read"]);
    return (await manager.executeOne({ id: "1", name: "read", arguments: { path: "a.pdf" } })).text;
  };
  expect(await read(true)).toContain("damaged or broken off");
  expect(await read(false)).toContain("is not a text file");
});

test("lsp asks the server that is given for a file", async () => {
  const root = await mkdtemp(join(tmpdir(), "shedkit-lsp-"));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  await writeFile(join(root, "a.x"), "word\n");
  const server = { command: "no-such-server-here", languages: { ".x": "x" } };
  const preset = ToolPreset.lsp(new NodeFileSystem(root), { mine: server });
  expect([...preset].map(({ name }) => name)).toEqual(["lsp"]);
  const manager = await preset.intoManager(newSessionId());
  manager.activate(["lsp"]);
  const args = { operation: "hover", path: "a.x", symbol: "word" };
  expect((await manager.executeOne({ id: "1", name: "lsp", arguments: args })).text).toContain(
    'The language server "mine" did not start: there is no program "no-such-server-here".',
  );
});
