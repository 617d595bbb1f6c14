import { defineTool, ToolCallResult, type TypedTool, type TypedToolContext } from "@shedkit/tool";
import * as Type from "@sinclair/typebox";
import { unknownTasks } from "./task-kill.js";
import { howItEnded, shellOf } from "./tasks.js";
import type { Terminal } from "./terminal.js";

/** The arguments of `task_input`. */
export interface TaskInputInput {
  task_id: string;
  /** What is sent; a line end is added where it has none. */
  text: string;
  /** Closes the input, after the text if there is any: what Ctrl-D does. Default: false. */
  end?: boolean | undefined;
}

/** What `task_input` gives beside its text. */
export interface TaskInputOutput {
  outcome: "sent" | "already_exited";
}

const MAX_TEXT = 65_536; // characters

/** Sends input to a background task that was started to take some. */
export function taskInputTool(terminal?: Terminal): TypedTool<TaskInputInput, TaskInputOutput> {
  return defineTool({
    id: "task_input",
    namespace: "shell",
    kind: "execute",
    category: "shell",
    description:
      "Send input to a background task.\nLines for its standard input, if it was started to take some: answers to questions, " +
      "commands for an interpreter. It has no terminal.",
    input: Type.Object(
      {
        task_id: Type.String({ description: "Id of the task." }),
        text: Type.String({
          maxLength: MAX_TEXT,
          description: "What is sent; a line end is added where it has none. Empty: the Enter key.",
        }),
        end: Type.Optional(
          Type.Boolean({
            description: "Closes the input, after the text if there is any: what Ctrl-D does.",
            default: false,
          }),
        ),
      },
      { additionalProperties: false },
    ),
    output: Type.Object({ outcome: Type.Union([Type.Literal("sent"), Type.Literal("already_exited")]) }),
    // What the program makes of it nobody knows: no leave for a command is leave for this.
    access: ({ task_id, text }) => [
      {
        action: "execute",
        target: `unknown: input of ${task_id}: ${text}`,
        detail: { reason: "what a program does with its input depends on the program" },
      },
    ],
    run: (input, ctx) => taskInput(terminal, input, ctx),
  });
}

async function taskInput(
  terminal: Terminal | undefined,
  { task_id, text, end = false }: TaskInputInput,
  ctx: TypedToolContext<undefined, undefined>,
): Promise<ToolCallResult> {
  const shell = shellOf(terminal, ctx);
  const task = shell.task(task_id.trim());
  if (!task) return unknownTasks(shell, [task_id]);
  if (task.status !== "running") {
    const how = `${task.id} had ended already: ${howItEnded(task)}.`;
    return new ToolCallResult([{ type: "text", text: how }], { output: { outcome: "already_exited" } });
  }
  const lines = text.endsWith("\n") || (text === "" && end) ? text : `${text}\n`;
  const sent = task.job.send?.(lines, end) ?? "none";
  if (sent === "none") {
    const start = ctx.names.paramOf("execute", "takes_input") ?? "takes_input";
    const why = `${task.id} takes no input${task.job.send === undefined ? "" : ", or no more"}. Start it with ${start} where it is to take some.`;
    return ToolCallResult.failure("no input", why);
  }
  if (sent === "full") {
    const why = `${task.id} has not read what it was sent before. Nothing more is sent until it has.`;
    return ToolCallResult.failure("not read", why);
  }
  const watch = ctx.names.toolOf("monitor") ?? ctx.names.toolOf("backgroundTaskAction");
  const how = watch === undefined ? "" : ` What it answers is told by ${watch}.`;
  const closed = end ? " Its input is closed." : "";
  return new ToolCallResult([{ type: "text", text: `Sent to ${task.id}.${closed}${how}` }], {
    output: { outcome: "sent" },
  });
}
