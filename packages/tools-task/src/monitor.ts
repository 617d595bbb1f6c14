import {
  type BackgroundTask,
  defineTool,
  type Resource,
  resource,
  ToolCallResult,
  type ToolContext,
  type TypedTool,
  type TypedToolContext,
} from "@shedkit/tool";
import * as Type from "@sinclair/typebox";
import { firstOf } from "./first-of.js";
import { linesOf, stands, tasksOf, unknownTask } from "./tasks.js";
import { shortDescription, type Watch, watch, watchOf } from "./watch.js";

/** The arguments of `monitor`. */
export interface MonitorInput {
  /** Of what runs already. */
  task_id?: string | undefined;
  /** Starts this shell command in place of it, where the `commands` setting is on. */
  command?: string | undefined;
  /** What the command does, in a few words. Default: the command. */
  description?: string | undefined;
  /** Only lines that hold this text. */
  contains?: string | undefined;
  /**
   * In milliseconds. Of a task: how long it is waited for, at most 600,000; default 60,000. Of a command: after which it is
   * ended, at most ten hours, which is the default.
   */
  timeout_ms?: number | undefined;
}

/** What `monitor` gives beside its text. */
export interface MonitorOutput {
  /** Of a command that was started. */
  task_id?: string | undefined;
  lines: string[];
  running: boolean;
}

/** Settings of `monitor`. */
export interface MonitorParams {
  /**
   * Offers `command`: a shell command, which the session's shell tool starts, with the leave that it needs. Its lines are
   * told by `monitorReminder`, and to the host as `monitor_output`. Default: false.
   */
  commands: boolean;
}

const MAX_WAIT_MS = 600_000;
const WAIT_MS = 60_000;
const LONGEST_MS = 10 * 60 * 60 * 1000; // what a background command runs at most: more is a slip
const MAX_LINES_CHARS = 3000;
const LOOK_MS = 200; // a log has no bell

const ofTasks = {
  task_id: Type.String({ description: "Id of the task." }),
  contains: Type.Optional(Type.String({ minLength: 1, description: "Only lines that hold this text." })),
  timeout_ms: Type.Optional(Type.Number({ minimum: 0, description: "Milliseconds, at most 600000. Default: 60000." })),
};
const OfTasks = Type.Object(ofTasks, { additionalProperties: false });
const OfCommands = Type.Object(
  {
    task_id: Type.Optional(Type.String({ description: "Id of a task that runs." })),
    command: Type.Optional(Type.String({ description: "A shell command to start in place of it." })),
    description: Type.Optional(Type.String({ description: "What the command does, in a few words." })),
    contains: ofTasks.contains,
    timeout_ms: Type.Optional(
      Type.Number({
        minimum: 0,
        description: "Milliseconds. For a task: how long to wait. For a command: when to end it; default: never.",
      }),
    ),
  },
  { additionalProperties: false },
);

/** Shows what a background task writes from now on, as soon as it does. */
export function monitorTool(
  params: Partial<MonitorParams> = {},
  { now = () => performance.now() }: { now?: (() => number) | undefined } = {},
): TypedTool<MonitorInput, MonitorOutput> {
  const defaults: MonitorParams = { commands: false, ...params };
  const inputFor = ({ commands }: MonitorParams) => (commands ? OfCommands : OfTasks) as unknown as typeof OfCommands;
  return defineTool({
    id: "monitor",
    namespace: "task",
    kind: "monitor",
    category: "task",
    description: ({ params: own }) => {
      const { commands } = (own ?? defaults) as unknown as MonitorParams;
      const text =
        "Watch the output of background work.\nWaits until a task writes something that you have not seen, or ends, and shows it.";
      return commands
        ? `${text} Or starts a command, whose lines are told to you as they come, beside your work.`
        : text;
    },
    input: inputFor(defaults),
    inputFor,
    output: Type.Object({
      task_id: Type.Optional(Type.String()),
      lines: Type.Array(Type.String()),
      running: Type.Boolean(),
    }),
    params: { schema: Type.Object({ commands: Type.Boolean() }, { additionalProperties: false }), defaults },
    capabilities: { readOnly: true, idempotent: false, timeoutMs: MAX_WAIT_MS + 60_000 },
    run: async (input, ctx) => {
      const { timeout_ms = 0 } = input;
      if (timeout_ms > LONGEST_MS) {
        const text = `${ctx.names.param("timeout_ms")} ${timeout_ms} is longer than anything runs; one call waits for ${MAX_WAIT_MS} at most.`;
        return ToolCallResult.failure("too long", text);
      }
      const [id, command] = [input.task_id?.trim() ?? "", input.command?.trim() ?? ""];
      if ((id === "") === (command === "")) {
        const text = `Give ${ctx.names.param("task_id")} of what runs, or ${ctx.names.param("command")} to start one; not both.`;
        return ToolCallResult.failure(id === "" ? "nothing to watch" : "both", text);
      }
      return command === "" ? watchTask(id, input, ctx) : start(command, input, now, ctx);
    },
  });
}

type Context = TypedToolContext<MonitorParams, undefined>;

async function watchTask(id: string, { contains, timeout_ms = WAIT_MS }: MonitorInput, ctx: Context) {
  const all = tasksOf(ctx);
  const task = all.get(id);
  if (!task) return unknownTask(id, all);
  if (!task.output) {
    const how = ctx.names.toolOf("waitTasksAction");
    const text = `${id} writes nothing that can be watched.${how === undefined ? "" : ` Wait for it with ${how}.`}`;
    return ToolCallResult.failure("no output", text);
  }
  const ms = Math.min(timeout_ms, MAX_WAIT_MS);
  const watching = watchOf(ctx, id);
  const found = watching ? await watched(watching, ms, ctx) : await newLines(task, contains, ms, ctx);
  const { running, status } = stands(tasksOf(ctx).get(id));
  const shown = lastOf(found.lines);
  const left = found.leftOut + found.lines.length - shown.length;
  const text = [
    ...(left > 0 ? [`[${left} earlier lines left out]`] : []),
    ...(shown.length > 0 ? shown : ["(nothing new)"]),
    `${id}: ${status}.`,
  ].join("\n");
  return new ToolCallResult([{ type: "text", text }], { output: { lines: shown, running } });
}

/** Has the shell tool start a command, as a call of its own: it asks for leave itself. */
async function start(command: string, input: MonitorInput, now: () => number, ctx: Context): Promise<ToolCallResult> {
  const { names } = ctx;
  const shell = names.toolOf("execute");
  const background = names.paramOf("execute", "is_background");
  if (shell === undefined || background === undefined || !ctx.dispatch) {
    const text = `There is no tool here that runs commands in the background. Give ${names.param("task_id")} of what runs.`;
    return ToolCallResult.failure("no shell", text);
  }
  const called = (canonical: string) => names.paramOf("execute", canonical) ?? canonical;
  const result = await ctx.dispatch(shell, {
    [called("command")]: input.command,
    [called("description")]: shortDescription(input.description ?? command),
    [background]: true,
    ...(input.timeout_ms && { [called("timeout")]: input.timeout_ms }),
  });
  const id = (result.output as { task_id?: unknown } | undefined)?.task_id;
  if (result.errorDetail !== undefined || typeof id !== "string" || !tasksOf(ctx).has(id)) {
    const text = result.text === "" ? `${shell} started nothing that can be watched.` : result.text;
    return ToolCallResult.failure(result.errorDetail ?? "not started", text);
  }
  watch({ id, description: shortDescription(input.description ?? command), contains: input.contains, now }, ctx);
  const end = names.toolOf("killTaskAction");
  const text =
    `Started as ${id}. What it writes is told after your calls; to wait for it, call ${names.tool} with ` +
    `${names.param("task_id")} ${id}.${end === undefined ? "" : ` ${end} ends it.`}`;
  return new ToolCallResult([{ type: "text", text }], { output: { task_id: id, lines: [], running: true } });
}

async function watched(watching: Watch, ms: number, ctx: ToolContext): Promise<Found> {
  await firstOf(watching.news(), ms, ctx.signal);
  return watching.take() ?? { lines: [], leftOut: 0 };
}

interface Found {
  lines: string[];
  /** How many lines before them. */
  leftOut: number;
}

/** How far each task's output was read, and the line that was not finished then. */
const SEEN: Resource<Map<string, { at: number; rest: string }>> = resource("monitored");

async function newLines(
  task: BackgroundTask,
  contains: string | undefined,
  ms: number,
  ctx: ToolContext,
): Promise<Found> {
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
    // A long output comes in pieces, after the end too.
    const done = over && (next === at || (await read(next)).next === next);
    // A line that is not finished is shown when it is.
    const found = linesOf(rest + text, { all: done || until.aborted, contains });
    seen.set(task.id, { at: next, rest: found.rest });
    if (found.lines.length > 0 || done || until.aborted) return found;
    if (next === at) await firstOf(task.ended, LOOK_MS, ctx.signal);
  }
}

function lastOf(lines: readonly string[]): string[] {
  let chars = 0;
  const from = lines.findLastIndex((line) => {
    chars += line.length + 1;
    return chars > MAX_LINES_CHARS;
  });
  return lines.slice(from + 1);
}
