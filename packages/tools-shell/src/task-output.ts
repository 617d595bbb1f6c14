import { defineTool, ToolCallResult, type ToolContext, type TypedTool, type TypedToolContext } from "@shedkit/tool";
import * as Type from "@sinclair/typebox";
import { linesOf, type WantedLines } from "./log-lines.js";
import { outputOf } from "./output.js";
import { knownTasks, unknownTasks } from "./task-kill.js";
import { howItEnded, type Shell, shellOf, type Task } from "./tasks.js";
import type { Terminal } from "./terminal.js";
import { count, seconds } from "./text.js";

/** The arguments of `task_output`. */
export interface TaskOutputInput {
  /** Default: all, of which only is said how they stand. */
  task_ids?: string[] | undefined;
  /** Waits so long for the tasks to end, in milliseconds; at most 600,000. Default: 0, does not wait. */
  timeout_ms?: number | undefined;
  /** With `timeout_ms`: waits for all of them, or for the first. Default: `all`. */
  wait_for?: "all" | "any" | undefined;
  /** Only lines that hold this text, in upper or lower case. Default: all. */
  contains?: string | undefined;
  /** With `contains`: how many lines before and after each. Default: 0. */
  context?: number | undefined;
  /** Only so many of the last lines. Default: head and tail of the whole. */
  tail?: number | undefined;
}

/** What `task_output` gives beside its text. */
export interface TaskOutputOutput {
  tasks: {
    task_id: string;
    status: string;
    exit_code?: number | undefined;
    output_text: string;
    truncated: boolean;
  }[];
}

/** Settings of `task_output`. */
export interface TaskOutputParams {
  /** How much of one task's output is shown, in characters. Default: 10,000. */
  maxOutputChars: number;
}

const MAX_WAIT_MS = 600_000;
const MOST_TASKS = 20;
const MOST_LISTED = 50;

const OutputInput = Type.Object(
  {
    task_ids: Type.Optional(
      Type.Array(Type.String(), { description: "Ids of background tasks. Default: lists all, without output." }),
    ),
    timeout_ms: Type.Optional(
      Type.Number({
        minimum: 0,
        description: "Waits so long for them to end, in milliseconds; at most 600000. Default: does not wait.",
      }),
    ),
    wait_for: Type.Optional(
      Type.Union([Type.Literal("all"), Type.Literal("any")], {
        description: "Waits for all of them, or for the first that ends.",
        default: "all",
      }),
    ),
    contains: Type.Optional(
      Type.String({ minLength: 1, description: "Only lines with this text, in upper or lower case." }),
    ),
    context: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 100, description: "Lines around each of those.", default: 0 }),
    ),
    tail: Type.Optional(Type.Integer({ minimum: 1, description: "Only so many of the last lines." })),
  },
  { additionalProperties: false },
);

const OutputOutput = Type.Object({
  tasks: Type.Array(
    Type.Object({
      task_id: Type.String(),
      status: Type.String(),
      exit_code: Type.Optional(Type.Integer()),
      output_text: Type.String(),
      truncated: Type.Boolean(),
    }),
  ),
});

/** Looks at background tasks, and waits for them. */
export function taskOutputTool(
  terminal?: Terminal,
  params: Partial<TaskOutputParams> = {},
): TypedTool<TaskOutputInput, TaskOutputOutput> {
  return defineTool({
    id: "task_output",
    namespace: "shell",
    kind: "backgroundTaskAction",
    category: "shell",
    description: "Look at background tasks, or wait for them.\nSays whether each still runs, and what it wrote.",
    input: OutputInput,
    output: OutputOutput,
    params: {
      schema: Type.Object({ maxOutputChars: Type.Integer({ minimum: 200 }) }, { additionalProperties: false }),
      defaults: { maxOutputChars: 10_000, ...params },
    },
    capabilities: { readOnly: true, timeoutMs: MAX_WAIT_MS + 60_000 },
    run: (input, ctx) => {
      const shell = shellOf(terminal, ctx);
      return input.task_ids === undefined
        ? listTasks(shell, input, ctx)
        : taskOutput(shell, input.task_ids, input, ctx);
    },
  });
}

type Context = TypedToolContext<TaskOutputParams, undefined>;

/** How all tasks stand. With a time it waits for those that run. */
async function listTasks(shell: Shell, input: TaskOutputInput, ctx: Context): Promise<ToolCallResult> {
  const asked = wanted(input);
  if (asked !== undefined) {
    const text = `${ctx.names.param("task_ids")} names no task to show lines of.${knownTasks(shell)}`;
    return ToolCallResult.failure("no task", text);
  }
  await waited(
    shell.tasks.filter((task) => task.status === "running"),
    input,
    ctx,
  );
  // All that run, and of the others the last ones.
  const ended = shell.tasks.filter((task) => task.status !== "running").slice(-MOST_LISTED);
  const running = shell.tasks.filter((task) => task.status === "running").slice(-MOST_LISTED);
  const listed = shell.tasks.filter((task) => running.includes(task) || ended.includes(task));
  const rows = await Promise.all(
    listed.map(async (task) => {
      if (task.status !== "running") task.told = true;
      const bytes = task.forgotten ? 0 : await task.job.size();
      const text = `${task.id} (${task.description}): ${howItEnded(task)}${task.forgotten ? "" : `, ${count(bytes)} bytes written`}`;
      return { text, output: outputFor(task, "", bytes > 0) };
    }),
  );
  const left = shell.tasks.length - listed.length;
  const lines = rows.map(({ text }) => text);
  if (left > 0) lines.push(`[${left} others left out]`);
  if (lines.length === 0) lines.push("No command runs in the background.");
  return new ToolCallResult([{ type: "text", text: lines.join("\n") }], {
    output: { tasks: rows.map(({ output }) => output) },
  });
}

async function taskOutput(
  shell: Shell,
  given: readonly string[],
  input: TaskOutputInput,
  ctx: Context,
): Promise<ToolCallResult> {
  const ids = [...new Set(given.map((id) => id.trim()).filter((id) => id !== ""))];
  if (ids.length === 0) {
    return ToolCallResult.failure("no task", `${ctx.names.param("task_ids")} names no task.${knownTasks(shell)}`);
  }
  if (ids.length > MOST_TASKS) {
    return ToolCallResult.failure("too many tasks", `At most ${MOST_TASKS} tasks can be looked at in one call.`);
  }
  const missing = ids.filter((id) => !shell.task(id));
  if (missing.length > 0) return unknownTasks(shell, missing);
  const tasks = ids.flatMap((id) => shell.task(id) ?? []);
  await waited(tasks, input, ctx);
  const shown: TaskOutputOutput["tasks"] = [];
  // One after the other: what they wrote may be much.
  for (const task of tasks) {
    const { text, truncated } = await writtenBy(task, shell, input, ctx, tasks.length === 1);
    if (task.status !== "running") task.told = true;
    shown.push(outputFor(task, text, truncated));
  }
  const texts = tasks.map((task, i) => {
    const written = shown[i]?.output_text.replace(/\n$/, "") ?? "";
    const empty = input.contains === undefined ? "(no output)" : "(no such line)";
    const none = task.forgotten ? "(what it wrote is not kept any more)" : empty;
    return `${task.id} (${task.description}): ${howItEnded(task)}\n${written === "" ? none : written}`;
  });
  const running = tasks.filter((task) => task.status === "running").length;
  const hint = running === 0 ? [] : [`[${stillRunning(running, tasks.length, input, ctx)}]`];
  return new ToolCallResult([{ type: "text", text: [...texts, ...hint].join("\n\n") }], { output: { tasks: shown } });
}

/** Undefined where all lines are wanted. */
function wanted({ contains, context, tail }: TaskOutputInput): WantedLines | undefined {
  return contains === undefined && tail === undefined ? undefined : { contains, context, tail };
}

async function writtenBy(
  task: Task,
  { terminal: { secrets } }: Shell,
  input: TaskOutputInput,
  ctx: Context,
  keep: boolean,
): Promise<{ text: string; truncated: boolean }> {
  if (task.forgotten) return { text: "", truncated: true };
  const lines = wanted(input);
  const limit = ctx.params.maxOutputChars;
  if (lines === undefined) return outputOf(task.job, limit, ctx, { keep, secrets });
  const { text, cut } = await linesOf(task.job, lines, limit, { secrets, signal: ctx.signal });
  return { text, truncated: cut };
}

function outputFor(task: Task, output_text: string, truncated: boolean): TaskOutputOutput["tasks"][number] {
  const exit = task.exit === undefined ? {} : { exit_code: task.exit.code ?? -1 };
  return { task_id: task.id, status: task.status, ...exit, output_text, truncated };
}

function timeOf({ timeout_ms = 0 }: TaskOutputInput): number {
  return Math.min(timeout_ms, MAX_WAIT_MS);
}

function stillRunning(running: number, all: number, input: TaskOutputInput, ctx: ToolContext): string {
  const what = all === 1 ? "It still runs." : `${running} of ${all} still run.`;
  const ms = timeOf(input);
  if (ms === 0) return `${what} To wait for the end, give ${ctx.names.param("timeout_ms")}.`;
  return `${what} Waited ${seconds(ms)}${(input.timeout_ms ?? 0) > ms ? ", the most of one call" : ""}.`;
}

/** Resolves when they have ended, after the time that is given, or rejects when the call is cancelled. */
async function waited(tasks: readonly Task[], input: TaskOutputInput, { signal }: ToolContext): Promise<void> {
  const ms = timeOf(input);
  if (ms === 0 || tasks.length === 0) return;
  const ends = tasks.map((task) => task.ended);
  const over = input.wait_for === "any" ? Promise.race(ends) : Promise.all(ends);
  await new Promise<void>((resolve, reject) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", abort);
      resolve();
    };
    const abort = (): void => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", abort, { once: true });
    if (signal.aborted) abort();
    void over.then(done);
  });
}
