import {
  defineTool,
  type Progress,
  ToolCallResult,
  ToolError,
  type TypedTool,
  type TypedToolContext,
} from "@shedkit/tool";
import * as Type from "@sinclair/typebox";
import { accessOf } from "./access.js";
import { type FollowEnd, follow } from "./follow.js";
import { outputOf } from "./output.js";
import { parseCommand } from "./parse.js";
import {
  EXECUTION_COMPLETE,
  EXECUTION_FAILED,
  EXECUTION_TIMEOUT,
  exitData,
  type Shell,
  shellOf,
  type Task,
} from "./tasks.js";
import type { JobExit, Terminal, TerminalJob } from "./terminal.js";
import { count, seconds } from "./text.js";

export interface BashInput {
  command: string;
  /** What the command does, in a few words: for people. */
  description: string;
  /** Milliseconds. Default: 120,000; at most the `maxTimeoutMs` setting. In the background: none. */
  timeout?: number | undefined;
  /** Default: false. */
  is_background?: boolean | undefined;
  /** The folder to run in. Default: where the last command left off. */
  cwd?: string | undefined;
}

export type BashOutput =
  | {
      type: "foreground";
      /** Head and tail where it is long. */
      output_text: string;
      /** -1 where a signal ended it. */
      exit_code: number;
      signal?: string | undefined;
      truncated: boolean;
    }
  | { type: "background"; task_id: string; pid?: number | undefined; log?: string | undefined };

/** Settings of `bash`. */
export interface BashParams {
  /** Offers `is_background`. Default: true. */
  enabledBackground: boolean;
  /** The longest a command in the foreground may take, in milliseconds. Default: 300,000. */
  maxTimeoutMs: number;
  /** A command that runs out of time goes on in the background in place of being ended. Default: false. */
  backgroundOnTimeout: boolean;
  /** How much of the output is shown, in characters. Default: 20,000. */
  maxOutputChars: number;
}

const DEFAULTS: BashParams = {
  enabledBackground: true,
  maxTimeoutMs: 300_000,
  backgroundOnTimeout: false,
  maxOutputChars: 20_000,
};
const DEFAULT_TIMEOUT_MS = 120_000;

const Input = Type.Object(
  {
    command: Type.String({ description: "The command." }),
    description: Type.String({ description: "What it does, in 5 to 10 words." }),
    timeout: Type.Optional(Type.Number({ minimum: 0, description: "Milliseconds it may take. Default: 120000." })),
    is_background: Type.Optional(
      Type.Boolean({ description: "Runs it in the background; then without a timeout of its own.", default: false }),
    ),
    cwd: Type.Optional(Type.String({ description: "The folder to run in. Default: where the last command left off." })),
  },
  { additionalProperties: false },
);
const ForegroundInput = Type.Omit(Input, ["is_background"], { additionalProperties: false });

const Foreground = Type.Object({
  type: Type.Literal("foreground"),
  output_text: Type.String(),
  exit_code: Type.Integer(),
  signal: Type.Optional(Type.String()),
  truncated: Type.Boolean(),
});
const Output = Type.Union([
  Foreground,
  Type.Object({
    type: Type.Literal("background"),
    task_id: Type.String(),
    pid: Type.Optional(Type.Integer()),
    log: Type.Optional(Type.String()),
  }),
]);

const Params = Type.Object(
  {
    enabledBackground: Type.Boolean(),
    maxTimeoutMs: Type.Number({ exclusiveMinimum: 0, maximum: 36_000_000 }),
    backgroundOnTimeout: Type.Boolean(),
    maxOutputChars: Type.Integer({ minimum: 200 }),
  },
  { additionalProperties: false },
);

/**
 * Runs shell commands. Commands of one session share folder, variables and functions, as in a terminal.
 *
 * Without `terminal` the session's resource of that name is used.
 */
export function bashTool(terminal?: Terminal, params: Partial<BashParams> = {}): TypedTool<BashInput, BashOutput> {
  const defaults = { ...DEFAULTS, ...params };
  return defineTool({
    id: "bash",
    namespace: "shell",
    kind: "execute",
    category: "shell",
    description: (ctx) => {
      const { enabledBackground, maxTimeoutMs } = (ctx.params ?? defaults) as unknown as BashParams;
      const timeout = ctx.param("execute", "timeout") ?? "timeout";
      const output = ctx.tool("backgroundTaskAction");
      return [
        "Run a shell command.",
        "Folder, variables and functions stay for the next command. Standard input is empty. Of a long output head and " +
          `tail are shown. After ${timeout} it is ended (at most ${maxTimeoutMs} ms).`,
        ...(enabledBackground
          ? [
              `For servers and long work set ${ctx.param("execute", "is_background") ?? "is_background"}: the answer is a task id` +
                `${output === undefined ? "" : `, for ${output}`}.`,
            ]
          : []),
      ].join("\n");
    },
    input: (defaults.enabledBackground ? Input : ForegroundInput) as typeof Input,
    output: defaults.enabledBackground ? Output : (Foreground as unknown as typeof Output),
    params: {
      schema: Params,
      defaults,
      check: ({ backgroundOnTimeout, enabledBackground }) =>
        backgroundOnTimeout && !enabledBackground
          ? [{ field: "backgroundOnTimeout", message: "needs enabledBackground to be true" }]
          : [],
    },
    requires: {
      ifParams: { enabledBackground: true },
      // biome-ignore lint/suspicious/noThenProperty: a requirement, never awaited
      then: { all: [{ kind: "backgroundTaskAction" }, { kind: "killTaskAction" }] },
    },
    notifications: [EXECUTION_COMPLETE, EXECUTION_FAILED, EXECUTION_TIMEOUT],
    reminders: [
      {
        id: "endedTasks",
        collect: async (ctx) =>
          terminal || ctx.resources.has({ name: "terminal" }) ? news(shellOf(terminal, ctx)) : [],
      },
    ],
    // The tool keeps its own time and its own limits.
    capabilities: { timeoutMs: Number.MAX_SAFE_INTEGER, maxResultBytes: Number.MAX_SAFE_INTEGER },
    access: (input) => accessOf(input.command),
    execute: (input, ctx) => run(terminal, input, ctx),
  });
}

type Context = TypedToolContext<BashParams, undefined>;

async function* run(
  terminal: Terminal | undefined,
  input: BashInput,
  ctx: Context,
): AsyncGenerator<Progress, ToolCallResult, void> {
  check(input, ctx);
  const { command, description, is_background = false } = input;
  const shell = shellOf(terminal, ctx);
  const job = await start(shell, input, ctx);
  if (ctx.signal.aborted) {
    await job.dispose();
    throw cancelled(ctx, "");
  }
  if (is_background) {
    const timeoutMs = input.timeout ? input.timeout : undefined;
    return inBackground(shell.adopt(job, { command, description, timeoutMs }, ctx.notify), "Runs in the background");
  }
  shell.hold(job);
  const timeoutMs = Math.min(input.timeout || DEFAULT_TIMEOUT_MS, ctx.params.maxTimeoutMs);
  let settled = false;
  try {
    const outcome = yield* follow(job, timeoutMs, ctx.signal);
    if (outcome === "timeout" && ctx.params.backgroundOnTimeout) {
      settled = true;
      const task = shell.adopt(job, { command, description }, ctx.notify);
      return inBackground(task, `Still running after ${seconds(timeoutMs)}; it goes on in the background`);
    }
    settled = true;
    if (outcome !== "exited") await job.kill();
    return await report(job, await job.exited, outcome, timeoutMs, ctx);
  } finally {
    if (!settled) void job.kill();
    void job.exited.then(({ left }) => {
      if (!left) shell.release(job);
    });
  }
}

function check(input: BashInput, ctx: Context): void {
  const tool = ctx.names.tool;
  const background = ctx.names.param("is_background");
  if (input.command.trim() === "") {
    throw new ToolError("invalidArguments", tool, `${ctx.names.param("command")} is empty. Give a command.`);
  }
  if (ctx.params.enabledBackground) return;
  if (input.is_background) {
    throw new ToolError("invalidArguments", tool, `${background} is not offered here. Run it in the foreground.`);
  }
  const parsed = parseCommand(input.command);
  if (parsed.type === "commands" && parsed.background && parsed.commands.at(-1)?.words[0] !== "wait") {
    const text = "Nothing can run in the background here. Leave out the &, or end the command with wait.";
    throw new ToolError("invalidArguments", tool, text);
  }
}

async function start(shell: Shell, input: BashInput, ctx: Context): Promise<TerminalJob> {
  try {
    const { cwd, is_background: background = false } = input;
    const folder = cwd === undefined || cwd.trim() === "" ? undefined : cwd.trim();
    return await shell.terminal.start(input.command, {
      cwd: folder,
      state: shell.state,
      // A folder that was named is for this command alone.
      leaves: !background && folder === undefined,
      background,
    });
  } catch (error) {
    ctx.notify(EXECUTION_FAILED, { callId: ctx.callId, command: input.command, reason: String(error) });
    if (error instanceof ToolError) throw new ToolError(error.kind, ctx.names.tool, error.message, { cause: error });
    throw error;
  }
}

async function report(
  job: TerminalJob,
  exit: JobExit,
  outcome: FollowEnd,
  timeoutMs: number,
  ctx: Context,
): Promise<ToolCallResult> {
  const { text: written, truncated } = await outputOf(job, ctx.params.maxOutputChars, ctx, true);
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
  const header = code === undefined ? `killed: ${reason ?? signal ?? "a signal"}` : `exit: ${code}`;
  const notes: string[] = [];
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

function inBackground(task: Task, what: string): ToolCallResult {
  const { id, job } = task;
  const log = job.logPath === undefined ? "" : ` Its output goes to ${job.logPath}.`;
  const text = `${what} as ${id}.${log} Look at it, wait for it or end it by this id.`;
  const output: BashOutput = {
    type: "background",
    task_id: id,
    ...(job.pid === undefined ? {} : { pid: job.pid }),
    ...(job.logPath === undefined ? {} : { log: job.logPath }),
  };
  return new ToolCallResult([{ type: "text", text }], { output: { ...output } });
}

/** Tasks that ended since the model was last told. */
function news(shell: Shell): { key: string; text: string }[] {
  return shell.tasks
    .filter((task) => task.status !== "running" && !task.told)
    .map((task) => {
      task.told = true;
      const how = task.exit?.code === undefined ? task.status : `exit ${task.exit.code}`;
      return { key: task.id, text: `The background task ${task.id} (${task.description}) has ended: ${how}.` };
    });
}

function cancelled(ctx: Context, written: string): ToolError {
  const text = `${ctx.names.tool} was cancelled; the command was ended with all that it started.`;
  return new ToolError("cancelled", ctx.names.tool, written === "" ? text : `${text} It wrote:\n${written}`);
}
