import { defineTool, ToolCallResult, type TypedTool } from "@shedkit/tool";
import * as Type from "@sinclair/typebox";
import { howItEnded, type Shell, shellOf } from "./tasks.js";
import type { Terminal } from "./terminal.js";

/** The arguments of `task_kill`. */
export interface TaskKillInput {
  task_id: string;
}

const MOST_NAMED = 20;

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
      if (!task) return unknownTasks(shell, [task_id]);
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

/** That there are no such tasks, and which there are. */
export function unknownTasks(shell: Shell, ids: readonly string[]): ToolCallResult {
  return ToolCallResult.failure(
    `no such task: ${ids.join(", ")}`,
    `There is no task ${ids.join(", ")}.${knownTasks(shell)}`,
  );
}

/** Which tasks there are, as the end of a message. */
export function knownTasks(shell: Shell): string {
  const ids = shell.tasks.slice(-MOST_NAMED).map((task) => task.id);
  return ids.length === 0 ? " No command runs in the background." : ` There are: ${ids.join(", ")}.`;
}
