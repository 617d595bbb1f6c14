export { bashTool } from "./bash.js";
export type { BashInput, BashOutput, BashParams } from "./bash-params.js";
export { type ParsedCommand, parseCommand, type Redirection, type SimpleCommand } from "./parse.js";
export { type ShellToolsOptions, shellTools } from "./shell-tools.js";
export { type TaskInputInput, type TaskInputOutput, taskInputTool } from "./task-input.js";
export { type TaskKillInput, taskKillTool } from "./task-kill.js";
export { type TaskOutputInput, type TaskOutputOutput, type TaskOutputParams, taskOutputTool } from "./task-output.js";
export { EXECUTION_COMPLETE, EXECUTION_FAILED, EXECUTION_TIMEOUT } from "./tasks.js";
export { tasksReminder } from "./tasks-reminder.js";
export {
  type JobExit,
  type Secrets,
  type StartOptions,
  type Terminal,
  type TerminalJob,
  terminalResource,
} from "./terminal.js";
