import {
  defineTool,
  type Progress,
  type ToolCallResult,
  ToolError,
  type TypedTool,
  type TypedToolContext,
} from "@shedkit/tool";
import * as Type from "@sinclair/typebox";
import { accessOf } from "./access.js";
import { hasAmpersand } from "./ampersand.js";
import { type BashInput, type BashOutput, type BashParams, DEFAULTS, longest, timeFor, whole } from "./bash-params.js";
import { Foreground, inputFor, Output, Params } from "./bash-schemas.js";
import { follow } from "./follow.js";
import { outputOf } from "./output.js";
import { cancelled, inBackground, news, report } from "./report.js";
import { EXECUTION_COMPLETE, EXECUTION_FAILED, EXECUTION_TIMEOUT, type Shell, shellOf } from "./tasks.js";
import type { Terminal, TerminalJob } from "./terminal.js";
import { seconds } from "./text.js";

/**
 * Runs shell commands. Commands of one session share folder, variables and functions, as in a terminal.
 *
 * Without `terminal` the session's resource of that name is used.
 */
export function bashTool(terminal?: Terminal, params: Partial<BashParams> = {}): TypedTool<BashInput, BashOutput> {
  const defaults = { ...DEFAULTS, ...params };
  const Input = offered(defaults);
  const isSame = (own: BashParams) =>
    own.enabledBackground === defaults.enabledBackground &&
    own.backgroundInput === defaults.backgroundInput &&
    longest(own) === longest(defaults);
  return defineTool({
    id: "bash",
    namespace: "shell",
    kind: "execute",
    category: "shell",
    description: (ctx) => {
      const own = (ctx.params ?? defaults) as unknown as BashParams;
      const timeout = ctx.param("execute", "timeout") ?? "timeout";
      const output = ctx.tool("backgroundTaskAction");
      return [
        "Run a shell command.",
        "Folder, variables and functions stay for the next command. Standard input is empty. Of a long output head and " +
          `tail are shown. After ${timeout} it is ended (at most ${longest(own)} ms).`,
        ...(own.enabledBackground
          ? [
              `For servers and long work set ${ctx.param("execute", "is_background") ?? "is_background"}: the answer is a task id` +
                `${output === undefined ? "" : `, for ${output}`}.`,
            ]
          : []),
        ...(own.backgroundInput
          ? [
              `With ${ctx.param("execute", "takes_input") ?? "takes_input"} too, ${ctx.tool("execute", "task_input") ?? "task_input"} can send it lines.`,
            ]
          : []),
      ].join("\n");
    },
    input: Input,
    inputFor: (own) => (isSame(own) ? Input : offered(own)), // the same schema has been compiled
    output: defaults.enabledBackground ? Output : (Foreground as unknown as typeof Output),
    params: {
      schema: Params,
      defaults,
      check: (own) =>
        (["backgroundOnTimeout", "backgroundInput"] as const)
          .filter((field) => own[field] && !own.enabledBackground)
          .map((field) => ({ field, message: "needs enabledBackground to be true" })),
    },
    requires: {
      all: [
        {
          ifParams: { enabledBackground: true },
          // biome-ignore lint/suspicious/noThenProperty: a requirement, never awaited
          then: { all: [{ kind: "backgroundTaskAction" }, { kind: "killTaskAction" }] },
        },
        // biome-ignore lint/suspicious/noThenProperty: a requirement, never awaited
        { ifParams: { backgroundInput: true }, then: { tool: "shell:task_input" } },
      ],
    },
    notifications: [EXECUTION_COMPLETE, EXECUTION_FAILED, EXECUTION_TIMEOUT],
    reminders: [
      {
        id: "endedTasks",
        collect: (ctx) =>
          terminal || ctx.resources.has({ name: "terminal" }) ? news(shellOf(terminal, ctx), ctx) : [],
      },
    ],
    // The tool keeps its own time and its own limits.
    capabilities: { timeoutMs: Number.MAX_SAFE_INTEGER, maxResultBytes: Number.MAX_SAFE_INTEGER },
    access: (input) => accessOf(input.command, input.cwd),
    execute: (input, ctx) => run(terminal, input, ctx),
  });
}

/** The arguments, without what is switched off. */
function offered(params: BashParams): ReturnType<typeof inputFor> {
  const all = inputFor(params);
  const off = [
    ...(params.enabledBackground ? [] : ["is_background" as const]),
    ...(params.backgroundInput ? [] : ["takes_input" as const]),
  ];
  return off.length === 0 ? all : (Type.Omit(all, off, { additionalProperties: false }) as unknown as typeof all);
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
    const task = shell.adopt(job, { command, description, timeoutMs }, ctx);
    return inBackground(task, "Runs in the background", shell, ctx);
  }
  shell.hold(job);
  const timeoutMs = timeFor(input, ctx.params);
  let settled = false;
  try {
    const outcome = yield* follow(job, timeoutMs, ctx.signal, shell.terminal.secrets);
    if (outcome === "timeout" && ctx.params.backgroundOnTimeout) {
      settled = true;
      const { text } = await outputOf(job, ctx.params.maxOutputChars, ctx, {
        keep: false,
        secrets: shell.terminal.secrets,
      });
      const task = shell.adopt(job, { command, description }, ctx);
      const what = `Still running after ${seconds(timeoutMs)}; it goes on in the background`;
      return inBackground(task, what, shell, ctx, text);
    }
    settled = true;
    if (outcome !== "exited") await job.kill();
    return await report(job, await job.exited, outcome, timeoutMs, shell, ctx);
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
  const { enabledBackground, backgroundOperator } = ctx.params;
  if (input.takes_input && !input.is_background) {
    const text = `${ctx.names.param("takes_input")} is for commands in the background. Set ${background} to true, or write the input into the command (a here-document).`;
    throw new ToolError("invalidArguments", tool, text);
  }
  if (input.is_background) {
    if (enabledBackground) return;
    throw new ToolError("invalidArguments", tool, `${background} is not offered here. Run it in the foreground.`);
  }
  if ((enabledBackground && backgroundOperator) || !hasAmpersand(input.command)) return;
  const why = enabledBackground
    ? "A command cannot put itself into the background"
    : "Nothing can run in the background";
  const instead = enabledBackground ? ` and set ${background} to true` : "";
  const text = `${why} here. Leave out the &${instead}, or end the command with wait.`;
  throw new ToolError("invalidArguments", tool, text);
}

async function start(shell: Shell, input: BashInput, ctx: Context): Promise<TerminalJob> {
  try {
    const { cwd, is_background: background = false } = input;
    const folder = cwd === undefined || cwd.trim() === "" ? undefined : cwd.trim();
    return await shell.terminal.start(whole(input.command, ctx.params), {
      cwd: folder,
      state: shell.state,
      // A folder that was named is for this command alone.
      leaves: !background && folder === undefined,
      background,
      ...(input.takes_input && { input: true }),
    });
  } catch (error) {
    ctx.notify(EXECUTION_FAILED, { callId: ctx.callId, command: input.command, reason: String(error) });
    if (error instanceof ToolError) throw new ToolError(error.kind, ctx.names.tool, error.message, { cause: error });
    throw error;
  }
}
