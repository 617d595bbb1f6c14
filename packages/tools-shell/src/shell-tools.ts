import type { ToolImpl } from "@shedkit/tool";
import { bashTool } from "./bash.js";
import type { BashParams } from "./bash-params.js";
import { taskInputTool } from "./task-input.js";
import { taskKillTool } from "./task-kill.js";
import { type TaskOutputParams, taskOutputTool } from "./task-output.js";
import type { Terminal } from "./terminal.js";

/** Settings of the tools, by name; what is left out is as the tool's own default. */
export interface ShellToolsOptions {
  bash?: Partial<BashParams> | undefined;
  task_output?: Partial<TaskOutputParams> | undefined;
}

/** `bash`; unless nothing may run in the background `task_output` and `task_kill`; with `backgroundInput` `task_input`. */
export function shellTools(terminal?: Terminal, options: ShellToolsOptions = {}): ToolImpl[] {
  const bash = bashTool(terminal, options.bash);
  if (options.bash?.enabledBackground === false) return [bash];
  const tools = [bash, taskOutputTool(terminal, options.task_output), taskKillTool(terminal)];
  return options.bash?.backgroundInput ? [...tools, taskInputTool(terminal)] : tools;
}
