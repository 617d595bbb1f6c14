import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FileSystem } from "@shedkit/fs";
import { callTool, ToolCallResult, type ToolImpl } from "@shedkit/tool";
import { onTestFinished } from "vitest";
import { hashlineReadTool } from "../src/index.js";

/** A real folder that is gone after the test. */
export async function tempFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "shedkit-hashline-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** What the model reads of a call that went well. */
export async function said(tool: ToolImpl, args: unknown): Promise<string> {
  const result = await callTool(tool, args);
  if (!(result instanceof ToolCallResult) || result.errorDetail !== undefined) throw new Error(result.text);
  return result.text;
}

/** The result of a call that failed as calls may. */
export async function failed(tool: ToolImpl, args: unknown): Promise<{ detail: string; text: string }> {
  const result = await callTool(tool, args);
  if (!(result instanceof ToolCallResult) || result.errorDetail === undefined)
    throw new Error(`did not fail as calls may, said: ${result.text}`);
  return { detail: result.errorDetail, text: result.text };
}

export async function content(fs: FileSystem, path: string): Promise<string> {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(await fs.readFile(path));
}

/** The anchors of a file's lines, in order. */
export async function anchors(fs: FileSystem, path: string, hashLength = 3): Promise<string[]> {
  const { lines } = await hashlineReadTool(fs, { hashLength, maxLines: 100_000, maxTokens: 10_000_000 }).call({ path });
  return lines.map(({ anchor }) => anchor);
}
