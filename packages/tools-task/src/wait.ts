import { defineTool, ToolCallResult, type TypedTool } from "@shedkit/tool";
import * as Type from "@sinclair/typebox";
import { firstOf } from "./first-of.js";
import { stands, tasksOf, unknownTask } from "./tasks.js";

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

const MAX_WAIT_MS = 600_000;
const WAIT_MS = 60_000;
const MAX_TASKS = 50;

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
      if (missing !== undefined) return unknownTask(missing, all);
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
