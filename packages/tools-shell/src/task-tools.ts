import { defineTool, ToolCallResult, type ToolContext, type TypedTool, type TypedToolContext } from "@shedkit/tool";
import * as Type from "@sinclair/typebox";
import { outputOf } from "./output.js";
import { howItEnded, type Shell, shellOf, type Task } from "./tasks.js";
import type { Terminal } from "./terminal.js";
import { seconds } from "./text.js";

/** The arguments of `task_output`. */
export interface TaskOutputInput {
  task_ids: string[];
  /** Waits so long for the tasks to end, in milliseconds; at most 600,000. Default: 0, does not wait. */
  timeout_ms?: number | undefined;
  /** With `timeout_ms`: waits for all of them, or for the first. Default: `all`. */
  wait_for?: "all" | "any" | undefined;
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

/** The arguments of `task_kill`. */
export interface TaskKillInput {
  task_id: string;
}

const MAX_WAIT_MS = 600_000;
const MOST_TASKS = 20;

const OutputInput = Type.Object(
  {
    task_ids: Type.Array(Type.String(), { description: "Ids of background tasks." }),
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
    run: (input, ctx) => taskOutput(shellOf(terminal, ctx), input, ctx),
  });
}

/** Ends a background task with all that it started. */
export function taskKillTool(terminal?: Terminal): TypedTool<TaskKillInput, { outcome: string }> {
  return defineTool({
    id: "task_kill",
    namespace: "shell",
    kind: "killTaskAction",
    category: "shell",
    description: "End a background task.\nWith all the processes that it started.",
    input: Type.Object({ task_id: Type.String({ description: "Id of the task." }) }, { additionalProperties: false }),
    output: Type.Object({ outcome: Type.String() }),
    capabilities: { idempotent: true },
    run: async ({ task_id }, ctx) => {
      const shell = shellOf(terminal, ctx);
      const task = shell.task(task_id.trim());
      if (!task) return unknown(shell, [task_id]);
      task.told = true;
      if (task.status !== "running") {
        const text = `${task.id} had ended already: ${howItEnded(task)}.`;
        return new ToolCallResult([{ type: "text", text }], { output: { outcome: "already_exited" } });
      }
      await shell.kill(task);
      return new ToolCallResult([{ type: "text", text: `${task.id} was ended.` }], { output: { outcome: "killed" } });
    },
  });
}

async function taskOutput(
  shell: Shell,
  input: TaskOutputInput,
  ctx: TypedToolContext<TaskOutputParams, undefined>,
): Promise<ToolCallResult> {
  const ids = [...new Set(input.task_ids.map((id) => id.trim()).filter((id) => id !== ""))];
  if (ids.length === 0) {
    return ToolCallResult.failure("no task", `${ctx.names.param("task_ids")} names no task.${known(shell)}`);
  }
  if (ids.length > MOST_TASKS) {
    return ToolCallResult.failure("too many tasks", `At most ${MOST_TASKS} tasks can be looked at in one call.`);
  }
  const missing = ids.filter((id) => !shell.task(id));
  if (missing.length > 0) return unknown(shell, missing);
  const tasks = ids.flatMap((id) => shell.task(id) ?? []);
  const asked = input.timeout_ms ?? 0;
  const waited = Math.min(asked, MAX_WAIT_MS);
  if (waited > 0) await waitFor(tasks, input.wait_for ?? "all", waited, ctx.signal);
  const shown = await Promise.all(
    tasks.map(async (task) => {
      const { text, truncated } = task.forgotten
        ? { text: "", truncated: true }
        : await outputOf(task.job, ctx.params.maxOutputChars, ctx, {
            keep: tasks.length === 1,
            secrets: shell.terminal.secrets,
          });
      if (task.status !== "running") task.told = true;
      return {
        task_id: task.id,
        status: task.status,
        ...(task.exit === undefined ? {} : { exit_code: task.exit.code ?? -1 }),
        output_text: text,
        truncated,
      };
    }),
  );
  const texts = tasks.map((task, i) => {
    const written = shown[i]?.output_text.replace(/\n$/, "") ?? "";
    const none = task.forgotten ? "(what it wrote is not kept any more)" : "(no output)";
    return `${task.id} (${task.description}): ${howItEnded(task)}\n${written === "" ? none : written}`;
  });
  const running = tasks.filter((task) => task.status === "running").length;
  const hint = running === 0 ? [] : [`[${stillRunning(running, tasks.length, asked, waited, ctx)}]`];
  return new ToolCallResult([{ type: "text", text: [...texts, ...hint].join("\n\n") }], { output: { tasks: shown } });
}

function stillRunning(running: number, all: number, asked: number, waited: number, ctx: ToolContext): string {
  const what = all === 1 ? "It still runs." : `${running} of ${all} still run.`;
  if (waited === 0) return `${what} To wait for the end, give ${ctx.names.param("timeout_ms")}.`;
  return `${what} Waited ${seconds(waited)}${asked > waited ? ", the most of one call" : ""}.`;
}

/** Resolves when they have ended, after `ms`, or rejects when the call is cancelled. */
function waitFor(tasks: readonly Task[], which: "all" | "any", ms: number, signal: AbortSignal): Promise<void> {
  const ends = tasks.map((task) => task.ended);
  return new Promise((resolve, reject) => {
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
    void (which === "all" ? Promise.all(ends) : Promise.race(ends)).then(done);
  });
}

function unknown(shell: Shell, ids: readonly string[]): ToolCallResult {
  return ToolCallResult.failure(
    `no such task: ${ids.join(", ")}`,
    `There is no task ${ids.join(", ")}.${known(shell)}`,
  );
}

function known(shell: Shell): string {
  const ids = shell.tasks.slice(-MOST_TASKS).map((task) => task.id);
  return ids.length === 0 ? " No command runs in the background." : ` There are: ${ids.join(", ")}.`;
}
