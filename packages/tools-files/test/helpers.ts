import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FileSystem } from "@shedkit/fs";
import { MemoryFileSystem } from "@shedkit/fs/memory";
import { NodeFileSystem } from "@shedkit/fs/node";
import { callTool, Resources, ToolCallResult, type ToolImpl } from "@shedkit/tool";
import type { SessionId, ToolArguments } from "@shedkit/types";
import { onTestFinished } from "vitest";

/** A real folder that is gone after the test. */
export async function tempFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "shedkit-files-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

export async function realFs(): Promise<FileSystem> {
  return new NodeFileSystem(await tempFolder());
}

export function memoryFs(files: { [path: string]: string | Uint8Array } = {}): MemoryFileSystem {
  return new MemoryFileSystem(files);
}

/** What the model reads of a call. */
export async function said(tool: ToolImpl, args: unknown): Promise<string> {
  return (await callTool(tool, args)).text;
}

/** What the model reads of a call that failed as calls may. */
export async function failed(tool: ToolImpl, args: unknown): Promise<string> {
  const result = await callTool(tool, args);
  if (!(result instanceof ToolCallResult) || result.errorDetail === undefined) {
    throw new Error(`did not fail, said: ${result.text}`);
  }
  return result.text;
}

export async function content(fs: FileSystem, path: string): Promise<string> {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(await fs.readFile(path));
}

/** Runs a tool as a host does that renames it and its parameters, and listens to what it is told. */
export async function hosted(
  tool: ToolImpl,
  args: ToolArguments,
  options: {
    rename?: { [canonical: string]: string };
    resources?: Resources;
    sessionId?: string;
    tools?: { [kind: string]: string };
  } = {},
): Promise<{ text: string; failed: boolean; told: [name: string, data: unknown][] }> {
  const told: [string, unknown][] = [];
  const answer = tool.execute(args, {
    callId: "call",
    signal: new AbortController().signal,
    resources: options.resources ?? new Resources(),
    ...(options.sessionId === undefined ? {} : { sessionId: options.sessionId as SessionId }),
    names: {
      tool: "renamed",
      param: (canonical) => options.rename?.[canonical] ?? canonical,
      toolOf: (kind) => options.tools?.[kind],
      paramOf: () => undefined,
    },
    notify: (name, data) => told.push([name, data]),
  });
  const result = await resultOf(answer);
  return { text: result.text, failed: result.errorDetail !== undefined, told };
}

async function resultOf(answer: ReturnType<ToolImpl["execute"]>): Promise<ToolCallResult> {
  if (!(Symbol.asyncIterator in answer)) return await answer;
  for await (const event of answer) {
    if (event.type === "error") throw event.error;
    if (event.type === "result") return event.result;
  }
  throw new Error("the tool gave no result");
}
