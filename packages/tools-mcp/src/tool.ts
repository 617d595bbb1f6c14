import type { CallToolResult, Progress as McpProgress } from "@modelcontextprotocol/client";
import {
  type Progress,
  ToolCallResult,
  type ToolContext,
  ToolError,
  type ToolEvent,
  type ToolImpl,
} from "@shedkit/tool";
import type { JsonValue, ToolArguments } from "@shedkit/types";
import type { Connection } from "./connection.js";
import { contentOf, type McpBlock } from "./content.js";
import { declareTool } from "./declare.js";
import { capabilitiesOf, type VettedTool } from "./definition.js";
import { LIMITS, oneLine } from "./text.js";

/** A server's tool, as it stands now. */
export interface ToolStanding {
  /** The server does not list it any more. */
  gone: boolean;
  /** What the server made of it since, which nobody has allowed. */
  changed?: { readonly tool: VettedTool; readonly what: readonly string[] } | undefined;
}

/** A server's tool as one of ours. */
export function mcpTool(
  declared: string,
  vetted: VettedTool,
  connection: Connection,
  standing: ToolStanding,
): ToolImpl {
  const { trustAnnotations, timeoutMs } = connection.settings;
  const { name, description, input, output, hints } = vetted;
  return declareTool(connection, {
    declared,
    name,
    description,
    input,
    output,
    capabilities: capabilitiesOf(hints, trustAnnotations, timeoutMs),
    shouldList: () => !standing.gone,
    execute: (args, ctx) => run(vetted, connection, standing, args, ctx),
  });
}

async function* run(
  vetted: VettedTool,
  connection: Connection,
  standing: ToolStanding,
  args: ToolArguments,
  ctx: ToolContext,
): AsyncGenerator<ToolEvent, void, void> {
  const declared = ctx.names.tool;
  const assertMayRun = (): void => refuse(declared, connection.settings.name, standing);
  const signs = new LatestProgress();
  const answer = connection.call({ name: vetted.name, declared, assertMayRun }, args, {
    signal: ctx.signal,
    onProgress: (progress) => signs.set(progressOf(progress)),
  });
  let settled = false;
  const end = (): void => {
    settled = true;
    signs.wake();
  };
  answer.then(end, end);
  while (!settled) {
    await signs.wait();
    const sign = signs.take();
    if (sign !== undefined) yield { type: "progress", ...sign };
  }
  yield { type: "result", result: resultOf(await answer) };
}

function refuse(declared: string, server: string, { gone, changed }: ToolStanding): void {
  if (gone) {
    const message = `The MCP server "${server}" does not offer ${declared} any more. Look for another tool.`;
    throw new ToolError("notFound", declared, message);
  }
  if (changed === undefined) return;
  const what = changed.what.join(", ");
  const message = `${declared} did not run: the MCP server "${server}" has changed it since it was allowed (${what}). The user has to look at it and allow it again.`;
  throw new ToolError("permissionDenied", declared, message);
}

/** A server's answer as the result of a call. */
function resultOf({ content, structuredContent, isError }: CallToolResult): ToolCallResult {
  const structured = structuredContent as JsonValue | undefined;
  const parts = contentOf(content as readonly McpBlock[], structured);
  const first = parts.find((part) => part.type === "text")?.text;
  return new ToolCallResult(parts, {
    output: structured,
    ...(isError === true && { errorDetail: oneLine(first ?? "", 200) || "the server says that it failed" }),
  });
}

function progressOf({ progress, total, message }: McpProgress): Progress {
  const text = message === undefined ? undefined : oneLine(message, LIMITS.progress);
  const data = total === undefined ? { progress } : { progress, total };
  return { text: text || (total === undefined ? String(progress) : `${progress}/${total}`), data };
}

/** Holds the last sign of life alone: a server may send more than anybody reads. */
class LatestProgress {
  #latest: Progress | undefined;
  #waiting: Promise<void> | undefined;
  #resolve: () => void = () => {};

  set(progress: Progress): void {
    this.#latest = progress;
    this.wake();
  }

  take(): Progress | undefined {
    const latest = this.#latest;
    this.#latest = undefined;
    this.#waiting = undefined;
    return latest;
  }

  wait(): Promise<void> {
    this.#waiting ??= new Promise((resolve) => {
      this.#resolve = resolve;
      if (this.#latest !== undefined) resolve();
    });
    return this.#waiting;
  }

  wake(): void {
    this.#waiting ??= Promise.resolve();
    this.#resolve();
  }
}
