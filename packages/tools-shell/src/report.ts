import { ToolCallResult, type ToolContext, ToolError } from "@shedkit/tool";
import type { BashOutput, BashParams } from "./bash-params.js";
import type { FollowEnd } from "./follow.js";
import { outputOf } from "./output.js";
import { EXECUTION_COMPLETE, EXECUTION_FAILED, EXECUTION_TIMEOUT, exitData, type Shell, type Task } from "./tasks.js";
import type { JobExit, TerminalJob } from "./terminal.js";
import { count, seconds } from "./text.js";

type Context = ToolContext & { params: BashParams };

const MOST_NAMED = 10; // tasks at once
const MAX_DESCRIPTION = 80; // characters of theirs

/** What came of a command in the foreground. Throws ToolError where it ran out of time, or was cancelled. */
export async function report(
  job: TerminalJob,
  exit: JobExit,
  outcome: FollowEnd,
  timeoutMs: number,
  { terminal: { secrets } }: Shell,
  ctx: Context,
): Promise<ToolCallResult> {
  const { text: written, truncated } = await outputOf(job, ctx.params.maxOutputChars, ctx, { keep: true, secrets });
  const body = written.trim() === "" ? "(no output)" : written.replace(/\n$/, "");
  const about = { callId: ctx.callId, ...exitData(exit) };
  if (outcome === "cancelled") {
    ctx.notify(EXECUTION_FAILED, { ...about, reason: "cancelled" });
    throw cancelled(ctx, body);
  }
  if (outcome === "timeout") {
    ctx.notify(EXECUTION_TIMEOUT, about);
    const max = ctx.params.maxTimeoutMs;
    const next =
      timeoutMs < max
        ? `Give it more with ${ctx.names.param("timeout")} (at most ${count(max)} ms)`
        : "Do less in one command";
    const or = ctx.params.enabledBackground ? `, or set ${ctx.names.param("is_background")}` : "";
    const text = `killed: timeout. It took longer than ${seconds(timeoutMs)} and was ended with all that it started. ${next}${or}.`;
    throw new ToolError("timeout", ctx.names.tool, `${text}\nUntil then it wrote:\n${body}`);
  }
  const { code, signal, reason, left } = exit;
  ctx.notify(reason ? EXECUTION_FAILED : EXECUTION_COMPLETE, about);
  const killed = reason ?? (code === undefined ? (signal ?? "a signal") : undefined);
  const header = killed === undefined ? `exit: ${code}` : `killed: ${killed}`;
  const notes: string[] = [];
  if (reason === "outOfMemory") {
    const why = "The system killed it, or a part of it, most likely for want of memory: it has lately killed for that.";
    notes.push(`[${why} Take less at once: fewer jobs side by side, smaller pieces.]`);
  }
  if (job.folderGone !== undefined) {
    notes.push(`[The folder ${job.folderGone} does not exist any more: the command ran in the first one.]`);
  }
  if (left) notes.push("[Something that it started still runs in the background, until the session ends.]");
  const output: BashOutput = {
    type: "foreground",
    output_text: written,
    exit_code: code ?? -1,
    ...(signal === undefined ? {} : { signal }),
    truncated,
  };
  return new ToolCallResult([{ type: "text", text: [header, body, ...notes].join("\n") }], { output: { ...output } });
}

/** That a command runs in the background, and how to get at it. */
export function inBackground(task: Task, what: string, shell: Shell, ctx: Context, written = ""): ToolCallResult {
  const { id, job } = task;
  const log = job.logPath === undefined ? "" : ` Its output goes to ${job.logPath}.`;
  const others = shell.tasks.filter((other) => other !== task && other.status === "running");
  const named = others.slice(-MOST_NAMED).map((other) => `${other.id} (${inShort(other.description)})`);
  const rest = others.length > named.length ? ` and ${others.length - named.length} more` : "";
  const also = others.length === 0 ? "" : ` These run as well: ${named.join(", ")}${rest}.`;
  const so = written.trim() === "" ? "" : `\nUntil now it wrote:\n${written.replace(/\n$/, "")}`;
  const text = `${what} as ${id}${job.pid === undefined ? "" : ` (pid ${job.pid})`}.${log} ${howToLook(ctx)}${also}${so}`;
  const output: BashOutput = {
    type: "background",
    task_id: id,
    ...(job.pid === undefined ? {} : { pid: job.pid }),
    ...(job.logPath === undefined ? {} : { log: job.logPath }),
  };
  return new ToolCallResult([{ type: "text", text }], { output: { ...output } });
}

function inShort(text: string): string {
  return text.length <= MAX_DESCRIPTION ? text : `${text.slice(0, MAX_DESCRIPTION).replace(/[\ud800-\udbff]$/, "")}...`;
}

/** By which tools a model gets at a task. */
function howToLook({ names }: ToolContext): string {
  const look = names.toolOf("backgroundTaskAction");
  const end = names.toolOf("killTaskAction");
  if (look === undefined) return "Look at it, wait for it or end it by this id.";
  const ids = names.paramOf("backgroundTaskAction", "task_ids") ?? "task_ids";
  return `Look at it or wait for it with ${look} (${ids})${end === undefined ? "" : `, end it with ${end}`}.`;
}

/** Tasks that ended since the model was last told: so many that all of them have room, the others the next time. */
export function news(shell: Shell, { names }: ToolContext): { key: string; text: string }[] {
  const look = names.toolOf("backgroundTaskAction");
  return shell.tasks
    .filter((task) => task.status !== "running" && !task.told)
    .slice(0, MOST_NAMED)
    .map((task) => {
      task.told = true;
      const { code, reason } = task.exit ?? {};
      const how = code === undefined || reason !== undefined ? task.status : `exit ${code}`;
      const more = look === undefined || task.forgotten ? "" : ` What it wrote is told by ${look}.`;
      return {
        key: task.id,
        text: `The background task ${task.id} (${inShort(task.description)}) has ended: ${how}.${more}`,
      };
    });
}

export function cancelled(ctx: Context, written: string): ToolError {
  const text = `${ctx.names.tool} was cancelled; the command was ended with all that it started.`;
  return new ToolError("cancelled", ctx.names.tool, written === "" ? text : `${text} It wrote:\n${written}`);
}
