import { asData, type BackgroundTask, backgroundTasks, ToolCallResult, type ToolContext } from "@shedkit/tool";

/** What runs in the background of the session, by its id. */
export function tasksOf({ resources }: Pick<ToolContext, "resources">): ReadonlyMap<string, BackgroundTask> {
  const lists = [...(resources.get(backgroundTasks)?.values() ?? [])];
  return new Map(lists.flatMap((list) => list().map((task) => [task.id, task] as const)));
}

/** How a task stands, which the model is about to be told. */
export function stands(task: BackgroundTask | undefined): { running: boolean; status: string } {
  if (!task) return { running: false, status: "ended" };
  const { running, status } = task;
  if (!running) task.told?.();
  return { running, status };
}

export function unknownTask(id: string, all: ReadonlyMap<string, BackgroundTask>): ToolCallResult {
  const ids = [...all.keys()].slice(-20);
  const there = ids.length === 0 ? "Nothing runs in the background." : `There are: ${ids.join(", ")}.`;
  return ToolCallResult.failure(`no such task: ${id}`, `There is no task "${id}". ${there}`);
}

const MAX_LINE = 500;
const MOST_LINES = 3000; // more are not shown at once
const MAX_REST = 64 * 1024; // characters of a line that does not end

/** The last lines of a text that came, how many were left out before them, and what is left: a line that is not finished. */
export function linesOf(
  text: string,
  { all, contains }: { all: boolean; contains: string | undefined },
): { lines: string[]; leftOut: number; rest: string } {
  const end = all || text.length > MAX_REST ? text.length : text.lastIndexOf("\n") + 1;
  const lines = text
    .slice(0, end)
    .split("\n")
    .filter((line) => line.trim() !== "" && (contains === undefined || line.includes(contains)));
  const leftOut = Math.max(0, lines.length - MOST_LINES);
  return { lines: lines.slice(leftOut).map(short), leftOut, rest: text.slice(end) };
}

/** A line as data: what a command writes must not pass for a part of the conversation. */
function short(line: string): string {
  const text = asData(line.replace(/\r$/, "")).replaceAll("\n", " ");
  return text.length <= MAX_LINE ? text : `${text.slice(0, MAX_LINE).replace(/[\ud800-\udbff]$/, "")}...`;
}
