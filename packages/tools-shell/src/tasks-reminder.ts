import type { Reminder } from "@shedkit/tool";
import { news } from "./report.js";
import { usedShells } from "./tasks.js";

/**
 * Tells the model once, after any call, of each background command of the session that has ended. For a shed:
 * `shed.reminder(tasksReminder())`. Without it only calls of `bash` say so.
 */
export function tasksReminder(): Reminder {
  return {
    id: "tasks-ended",
    collect: (ctx) => usedShells(ctx).flatMap((shell) => news(shell, ctx)),
  };
}
