import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { type ToolCallManager, ToolShed } from "@shedkit/shed";
import { Resources } from "@shedkit/tool";
import { newSessionId, type ToolArguments } from "@shedkit/types";
import { onTestFinished } from "vitest";
import { type McpEvent, type McpOptions, McpServers, type ParseMcpOptions, parseMcpServers } from "../src/index.js";
import { spawnServer } from "../src/node.js";

const SCRIPTED = fileURLToPath(new URL("./servers/scripted.mjs", import.meta.url));

/** A folder that is gone after the test. */
export function tempFolder(): string {
  const folder = mkdtempSync(path.join(os.tmpdir(), "mcp-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The entry of a scripted server. */
export function scripted(script: object = {}, more: object = {}) {
  let text = JSON.stringify(script);
  if (text.length > 100_000) {
    const file = path.join(tempFolder(), "script.json"); // too long for an argument
    writeFileSync(file, text);
    text = JSON.stringify({ file });
  }
  return { command: process.execPath, args: [SCRIPTED, text], ...more };
}

export type World = { servers: McpServers; events: McpEvent[]; manager: ToolCallManager };

/** Servers connected, and a session that follows them. */
export async function connect(
  mcpServers: object,
  options: McpOptions & { parse?: ParseMcpOptions } = {},
): Promise<World> {
  const events: McpEvent[] = [];
  const { parse, ...rest } = options;
  const servers = await McpServers.connect(parseMcpServers({ mcpServers }, parse), {
    spawn: spawnServer,
    onEvent: (event) => events.push(event),
    ...rest,
  });
  onTestFinished(() => servers.close());
  const manager = await build(new ToolShed().tools(servers.tools()));
  servers.follow(manager);
  return { servers, events, manager };
}

export function build(shed: ToolShed): Promise<ToolCallManager> {
  const resources = new Resources();
  return shed.build({ sessionId: newSessionId(), resources, context: NO_CONTEXT, memory: NO_MEMORY });
}

const NO_CONTEXT = { search: async () => [] };
const NO_MEMORY = { facts: async () => [], edit: async () => 0 };

/** Calls a tool and gives what the model would read. */
export async function call(manager: ToolCallManager, name: string, args: ToolArguments = {}, signal?: AbortSignal) {
  for await (const outcome of manager.runCalls([{ id: "c1", name, arguments: args }], { signal })) return outcome;
  throw new Error("no outcome");
}

/** Waits until the condition holds; the test's own limit bounds it. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** What a scripted server wrote into its log. */
export function logOf(file: string): { [key: string]: unknown }[] {
  return readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return process.platform !== "linux" || !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

/** What the model reads. */
export function textOf(outcome: { promptText: string }): string {
  return outcome.promptText;
}
