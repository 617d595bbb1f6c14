import type { ToolImpl } from "@shedkit/tool";
import { bashTool } from "./bash.js";
import type { BashParams } from "./bash-params.js";
import { type TaskOutputParams, taskKillTool, taskOutputTool } from "./task-tools.js";
import type { Terminal } from "./terminal.js";

/** Settings of the tools, by name; what is left out is as the tool's own default. */
export interface ShellToolsOptions {
  bash?: Partial<BashParams> | undefined;
  task_output?: Partial<TaskOutputParams> | undefined;
}

/** `bash`, and unless nothing may run in the background `task_output` and `task_kill`. */
export function shellTools(terminal?: Terminal, options: ShellToolsOptions = {}): ToolImpl[] {
  const bash = bashTool(terminal, options.bash);
  if (options.bash?.enabledBackground === false) return [bash];
  return [bash, taskOutputTool(terminal, options.task_output), taskKillTool(terminal)];
}
