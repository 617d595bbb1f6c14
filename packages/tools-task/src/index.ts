export {
  type AskUserInput,
  type AskUserOptions,
  type AskUserOutput,
  askUserTool,
  type UserOption,
  type UserQuestion,
} from "./ask-user.js";
export { type MonitorInput, type MonitorOutput, type MonitorParams, monitorTool } from "./monitor.js";
export type { PlanModeOptions } from "./plan/gate.js";
export { planMode, planModeTools } from "./plan/plan-mode.js";
export { scheduleTool } from "./schedule/schedule-tool.js";
export {
  type Clock,
  type ScheduledPrompt,
  type ScheduleStore,
  Schedules,
  type SchedulesOptions,
} from "./schedule/schedules.js";
export type { When } from "./schedule/when.js";
export { type TodoInput, type TodoItem, type TodoStatus, todoTool } from "./todo.js";
export { type WaitInput, type WaitOutput, waitTool } from "./wait.js";
export { MONITOR_OUTPUT, type MonitorOutputNote, monitorReminder } from "./watch.js";
