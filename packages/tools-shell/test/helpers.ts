import { mkdtemp, readdir, readFile, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type KeptResults,
  keptResults,
  type Progress,
  Resources,
  type ToolCallResult,
  type ToolImpl,
} from "@shedkit/tool";
import type { JsonValue, SessionId, ToolArguments } from "@shedkit/types";
import { onTestFinished } from "vitest";
import { NodeTerminal, type NodeTerminalOptions } from "../src/node.js";

/** A real folder that is gone after the test. */
export async function tempFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "shedkit-shell-")));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** A terminal that is ended after the test. */
export async function terminalIn(options: NodeTerminalOptions = {}): Promise<NodeTerminal> {
  const terminal = new NodeTerminal({ cwd: await tempFolder(), graceMs: 100, killMs: 300, ...options });
  onTestFinished(() => terminal.dispose());
  return terminal;
}

export interface Heard {
  result: ToolCallResult;
  text: string;
  progress: Progress[];
  told: [name: string, data: JsonValue | undefined][];
}

/** Runs a tool as a host does. */
export async function hosted(
  tool: ToolImpl,
  args: ToolArguments,
  options: {
    resources?: Resources | undefined;
    sessionId?: string | undefined;
    signal?: AbortSignal | undefined;
    rename?: { [canonical: string]: string } | undefined;
    /** The client's tools, by kind. */
    tools?: { [kind: string]: string } | undefined;
    onProgress?: ((progress: Progress) => void) | undefined;
    told?: Heard["told"] | undefined;
  } = {},
): Promise<Heard> {
  const told = options.told ?? [];
  const progress: Progress[] = [];
  const events = tool.execute(args, {
    callId: "call",
    signal: options.signal ?? new AbortController().signal,
    resources: options.resources ?? new Resources(),
    ...(options.sessionId === undefined ? {} : { sessionId: options.sessionId as SessionId }),
    names: {
      tool: "renamed",
      param: (canonical) => options.rename?.[canonical] ?? canonical,
      toolOf: (kind) => options.tools?.[kind],
      paramOf: (kind, canonical) => (options.tools?.[kind] === undefined ? undefined : `my_${canonical}`),
    },
    notify: (name, data) => told.push([name, data]),
  });
  if (!(Symbol.asyncIterator in events)) {
    const result = await events;
    return { result, text: result.text, progress, told };
  }
  for await (const event of events) {
    if (event.type === "error") throw event.error;
    if (event.type === "result") return { result: event.result, text: event.result.text, progress, told };
    progress.push(event);
    options.onProgress?.(event);
  }
  throw new Error("the tool gave no result");
}

/** The living processes that have this text in their command line, and are not this one. */
export async function processesWith(text: string): Promise<number[]> {
  const found: number[] = [];
  for (const name of await readdir("/proc")) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === process.pid) continue;
    const line = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
    if (line.split("\0").join(" ").includes(text)) found.push(pid);
  }
  return found;
}

/** Waits until something holds, and fails after a minute. */
export async function until(holds: () => Promise<boolean> | boolean): Promise<void> {
  for (let i = 0; i < 6000; i++) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error("it never came to that");
}

export function keptIn(resources: Resources): Map<string, string> {
  const texts = new Map<string, string>();
  const kept: KeptResults = {
    keep: (callId, text) => {
      texts.set(`result:${callId}`, text);
      return `result:${callId}`;
    },
    get: (handle) => texts.get(handle),
  };
  resources.insert(keptResults, kept);
  return texts;
}
