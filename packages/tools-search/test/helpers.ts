import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { MemoryFileSystem } from "@shedkit/fs/memory";
import { NodeFileSystem } from "@shedkit/fs/node";
import { callTool, type ToolImpl } from "@shedkit/tool";
import { onTestFinished } from "vitest";

export interface Files {
  [path: string]: string | Uint8Array;
}

export const memoryFs = (files: Files): MemoryFileSystem => new MemoryFileSystem(files);

/** A real folder that is gone after the test. */
export async function realFs(files: Files): Promise<NodeFileSystem> {
  const root = await realpath(await mkdtemp(join(tmpdir(), "shedkit-search-")));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), content);
  }
  return new NodeFileSystem(root);
}

export const said = async (tool: ToolImpl, args: object): Promise<string> => (await callTool(tool, args)).text;
