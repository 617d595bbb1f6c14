import {
  type BackgroundTask,
  backgroundTasks,
  defineTool,
  type Resource,
  resource,
  ToolCallResult,
  type ToolContext,
  type TypedTool,
} from "@shedkit/tool";
import * as Type from "@sinclair/typebox";
import { firstOf } from "./first-of.js";

/** The arguments of `wait`. */
export interface WaitInput {
  /** Default: all that run. */
  task_ids?: string[] | undefined;
  /** In milliseconds, at most 600,000. Default: 60,000. */
  timeout_ms?: number | undefined;
  /** Default: `any`. */
  wait_for?: "any" | "all" | undefined;
}

/** What `wait` gives beside its text. */
export interface WaitOutput {
  tasks: { task_id: string; status: string; running: boolean }[];
}

/** The arguments of `monitor`. */
export interface MonitorInput {
  task_id: string;
  /** Only lines that hold this text. */
  contains?: string | undefined;
  /** In milliseconds, at most 600,000. Default: 60,000. */
  timeout_ms?: number | undefined;
}

/** What `monitor` gives beside its text. */
export interface MonitorOutput {
  lines: string[];
  running: boolean;
}

const MAX_WAIT_MS = 600_000;
const WAIT_MS = 60_000;
const LONGEST_MS = 10 * 60 * 60 * 1000; // what a background command runs at most: more is a slip
const MAX_TASKS = 50;
const MAX_LINE = 500;
const MAX_LINES_CHARS = 3000;
const MAX_REST = 64 * 1024; // characters of a line that does not end
const LOOK_MS = 200; // a log has no bell

const Timeout = Type.Optional(
  Type.Number({ minimum: 0, description: "Milliseconds, at most 600000. Default: 60000." }),
);

/** Waits for what runs in the background: commands, sub-agents, whatever the session's tools list there. */
export function waitTool(): TypedTool<WaitInput, WaitOutput> {
  return defineTool({
    id: "wait",
    namespace: "task",
    kind: "waitTasksAction",
    category: "task",
    description:
      "Wait for background work.\nFor commands and sub-agents that run: until the first of them ends, or all.",
    input: Type.Object(
      {
        task_ids: Type.Optional(
          Type.Array(Type.String(), { maxItems: MAX_TASKS, description: "Default: all that run." }),
        ),
        timeout_ms: Timeout,
        wait_for: Type.Optional(Type.Union([Type.Literal("any"), Type.Literal("all")], { default: "any" })),
      },
      { additionalProperties: false },
    ),
    output: Type.Object({
      tasks: Type.Array(Type.Object({ task_id: Type.String(), status: Type.String(), running: Type.Boolean() })),
    }),
    capabilities: { readOnly: true, timeoutMs: MAX_WAIT_MS + 60_000 },
    run: async ({ task_ids, timeout_ms = WAIT_MS, wait_for = "any" }, ctx) => {
      const ids = [...new Set((task_ids ?? []).map((id) => id.trim()).filter((id) => id !== ""))];
      const all = tasksOf(ctx);
      const missing = ids.find((id) => !all.has(id));
      if (missing !== undefined) return unknown(missing, all);
      const asked = ids.length > 0 ? ids : [...all.values()].filter(({ running }) => running).map(({ id }) => id);
      if (asked.length === 0) {
        const text = "Nothing runs in the background.";
        return new ToolCallResult([{ type: "text", text }], { output: { tasks: [] } });
      }
      const tasks = asked.flatMap((id) => all.get(id) ?? []);
      const ends = tasks.map(({ ended }) => ended);
      const over = wait_for === "all" ? Promise.all(ends) : Promise.race(ends);
      await firstOf(over, Math.min(timeout_ms, MAX_WAIT_MS), ctx.signal);
      const now = tasksOf(ctx); // a list may be made anew
      const rows = tasks.map(({ id, description }) => {
        const { running, status } = stands(now.get(id));
        return { task_id: id, status, running, line: `${id} (${description}): ${status}` };
      });
      const left = rows.filter(({ running }) => running).length;
      const note = left === 0 ? [] : [`${left} of ${rows.length} still ${left === 1 ? "runs" : "run"}.`];
      const text = [...rows.map(({ line }) => line), ...note].join("\n");
      const output = { tasks: rows.map(({ task_id, status, running }) => ({ task_id, status, running })) };
      return new ToolCallResult([{ type: "text", text }], { output });
    },
  });
}

/** Shows what a background task writes from now on, as soon as it does. */
export function monitorTool(): TypedTool<MonitorInput, MonitorOutput> {
  return defineTool({
    id: "monitor",
    namespace: "task",
    kind: "monitor",
    category: "task",
    description:
      "Watch the output of background work.\nWaits until a task writes something that you have not seen, or ends, and shows it.",
    input: Type.Object(
      {
        task_id: Type.String({ description: "Id of the task." }),
        contains: Type.Optional(Type.String({ minLength: 1, description: "Only lines that hold this text." })),
        timeout_ms: Timeout,
      },
      { additionalProperties: false },
    ),
    output: Type.Object({ lines: Type.Array(Type.String()), running: Type.Boolean() }),
    capabilities: { readOnly: true, idempotent: false, timeoutMs: MAX_WAIT_MS + 60_000 },
    run: async ({ task_id, contains, timeout_ms = WAIT_MS }, ctx) => {
      const id = task_id.trim();
      const all = tasksOf(ctx);
      const task = all.get(id);
      if (!task) return unknown(id, all);
      if (!task.output) {
        const how = ctx.names.toolOf("waitTasksAction");
        const text = `${id} writes nothing that can be watched.${how === undefined ? "" : ` Wait for it with ${how}.`}`;
        return ToolCallResult.failure("no output", text);
      }
      if (timeout_ms > LONGEST_MS) {
        const text = `${ctx.names.param("timeout_ms")} ${timeout_ms} is longer than anything runs; one call waits for ${MAX_WAIT_MS} at most.`;
        return ToolCallResult.failure("too long", text);
      }
      const lines = await newLines(task, contains, Math.min(timeout_ms, MAX_WAIT_MS), ctx);
      const { running, status } = stands(tasksOf(ctx).get(id));
      const shown = lastOf(lines);
      const left = lines.length - shown.length;
      const text = [
        ...(left > 0 ? [`[${left} earlier lines left out]`] : []),
        ...(shown.length > 0 ? shown : ["(nothing new)"]),
        `${id}: ${status}.`,
      ].join("\n");
      return new ToolCallResult([{ type: "text", text }], { output: { lines: shown, running } });
    },
  });
}

/** How far each task's output was read, and the line that was not finished then. */
const SEEN: Resource<Map<string, { at: number; rest: string }>> = resource("monitored");

async function newLines(
  task: BackgroundTask,
  contains: string | undefined,
  ms: number,
  ctx: ToolContext,
): Promise<string[]> {
  const seen = ctx.resources.getOrDefault(SEEN, () => new Map());
  const until = AbortSignal.timeout(Math.ceil(ms));
  const read = async (from: number) => {
    const { text = "", next = from } = (await task.output?.(from)) ?? {};
    return { text, next };
  };
  while (true) {
    ctx.signal.throwIfAborted();
    const over = !(tasksOf(ctx).get(task.id)?.running ?? false); // before it is read: nothing comes behind the end
    const { at, rest } = seen.get(task.id) ?? { at: 0, rest: "" };
    const { text, next } = await read(at);
    const all = rest + text;
    // A long output comes in pieces, after the end too.
    const done = over && (next === at || (await read(next)).next === next);
    // A line that is not finished is shown when it is.
    const whole = done || until.aborted || all.length > MAX_REST ? all.length : all.lastIndexOf("\n") + 1;
    seen.set(task.id, { at: next, rest: all.slice(whole) });
    const lines = all
      .slice(0, whole)
      .split("\n")
      .filter((line) => line.trim() !== "" && (contains === undefined || line.includes(contains)));
    if (lines.length > 0 || done || until.aborted) return lines.map(short);
    if (next === at) await firstOf(task.ended, LOOK_MS, ctx.signal);
  }
}

function short(line: string): string {
  const text = line.replace(/\r$/, "");
  return text.length <= MAX_LINE ? text : `${text.slice(0, MAX_LINE).replace(/[\ud800-\udbff]$/, "")}...`;
}

function lastOf(lines: readonly string[]): string[] {
  let chars = 0;
  const from = lines.findLastIndex((line) => {
    chars += line.length + 1;
    return chars > MAX_LINES_CHARS;
  });
  return lines.slice(from + 1);
}

/** How a task stands, which the model is about to be told. */
function stands(task: BackgroundTask | undefined): { running: boolean; status: string } {
  if (!task) return { running: false, status: "ended" };
  const { running, status } = task;
  if (!running) task.told?.();
  return { running, status };
}

function tasksOf({ resources }: ToolContext): ReadonlyMap<string, BackgroundTask> {
  const lists = [...(resources.get(backgroundTasks)?.values() ?? [])];
  return new Map(lists.flatMap((list) => list().map((task) => [task.id, task] as const)));
}

function unknown(id: string, all: ReadonlyMap<string, BackgroundTask>): ToolCallResult {
  const ids = [...all.keys()].slice(-20);
  const there = ids.length === 0 ? "Nothing runs in the background." : `There are: ${ids.join(", ")}.`;
  return ToolCallResult.failure(`no such task: ${id}`, `There is no task "${id}". ${there}`);
}
