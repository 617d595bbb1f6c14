import { type ToolConstructor, type ToolImpl, toolFn } from "@shedkit/tool";
import type { Schedules } from "@shedkit/tools-task";
import { lazyReminder } from "./lazy-reminder.js";
import { optionalPeer } from "./optional-peer.js";

/** Settings of plans, as `@shedkit/tools-task` describes them. */
export interface PlanModePresetOptions {
  /** The one file that may be changed while a plan is made. Default: none. */
  planFile?: string | undefined;
  /** What waits until the plan is agreed to: files alone, or all that may change something. Default: `files`. */
  holds?: "changes" | "files" | undefined;
}

/** Settings of `ask_user`, likewise. */
export interface AskUserPresetOptions {
  /** How long an answer is waited for, in milliseconds. Default: as long as it takes. */
  timeoutMs?: number | undefined;
}

/** Settings of tools for what runs in the background, likewise. */
export interface BackgroundPresetOptions {
  /** Lets `monitor` have commands started by the session's shell tool, where there is one. Default: true. */
  commands?: boolean | undefined;
}

/** The `Schedules` of `@shedkit/tools-task`. */
export interface SchedulesLike {
  create(prompt: string, when: never): Promise<object>;
  list(): Promise<readonly object[]>;
  delete(id: string): Promise<boolean>;
}

type Package = typeof import("@shedkit/tools-task");

const tools = () => optionalPeer("@shedkit/tools-task", () => import("@shedkit/tools-task"));

/** A tool that needs no session, as a constructor that imports the package. */
function ready(name: string, make: (tools: Package) => ToolImpl): ToolConstructor {
  return { name, needsSession: false, construct: async () => make(await tools()) };
}

export function todoTools(): ToolConstructor[] {
  return [ready("todo", ({ todoTool }) => todoTool())];
}

export function askUserTools(options: AskUserPresetOptions): ToolConstructor[] {
  return [ready("ask_user", ({ askUserTool }) => askUserTool(options))];
}

export function planTools(options: PlanModePresetOptions): ToolConstructor[] {
  return ["enter_plan", "exit_plan"].map((name) =>
    toolFn(name, async (parts) => {
      const { planModeTools } = await tools();
      const own = planModeTools(options).find((tool) => tool.name === name) as ToolConstructor;
      return own.construct(parts);
    }),
  );
}

export function backgroundTools({ commands = true }: BackgroundPresetOptions): ToolConstructor[] {
  const monitor = ready("monitor", ({ monitorTool }) => monitorTool({ commands }));
  const reminder = lazyReminder({ id: "monitor", priority: 1 }, async () => (await tools()).monitorReminder());
  return [ready("wait", ({ waitTool }) => waitTool()), commands ? { ...monitor, reminders: [reminder] } : monitor];
}

export function scheduleTools(schedules: SchedulesLike): ToolConstructor[] {
  return [ready("schedule", ({ scheduleTool }) => scheduleTool(schedules as Schedules))];
}
