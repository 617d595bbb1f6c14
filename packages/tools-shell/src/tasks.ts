import { type BackgroundTask, backgroundTasks, type Resource, resource, type ToolContext } from "@shedkit/tool";
import type { JsonValue } from "@shedkit/types";
import type { JobExit, Terminal, TerminalJob } from "./terminal.js";
import { terminalResource } from "./terminal.js";
import { cleanOutput } from "./text.js";

/** How a background task stands. */
type TaskStatus = "running" | "completed" | "killed" | "timeout" | NonNullable<JobExit["reason"]>;

/** A command in the background. */
export interface Task {
  readonly id: string;
  /** The call that started it, by which it is known too. */
  readonly callId: string;
  readonly command: string;
  readonly description: string;
  readonly job: TerminalJob;
  status: TaskStatus;
  exit?: JobExit | undefined;
  /** Resolves when it has ended. */
  readonly ended: Promise<void>;
  /** True once the model was told how it ended. */
  told: boolean;
  /** True once its log was removed. */
  forgotten: boolean;
}

/** Told to the host (`ctx.notify`) when a command ended by itself. */
export const EXECUTION_COMPLETE = "execution_complete";
/** Told to the host (`ctx.notify`) when a command could not be run or was ended. */
export const EXECUTION_FAILED = "execution_failed";
/** Told to the host (`ctx.notify`) when a command ran out of time. */
export const EXECUTION_TIMEOUT = "execution_timeout";

const MOST_ENDED = 100; // tasks that ended and whose output can still be looked at
const MOST_FORGOTTEN = 100; // tasks of which it is known only how they ended
const MOST_LOGS = 100; // of commands in the foreground that have ended
const MAX_RUNTIME_MS = 10 * 60 * 60 * 1000;

/** The shell of one session: what it runs in the background, and the name of the state that its commands share. */
export class Shell {
  readonly terminal: Terminal;
  readonly state: string;
  readonly #tasks = new Map<string, Task>();
  readonly #foreground = new Set<TerminalJob>();
  readonly #logs: TerminalJob[] = [];
  #count = 0;

  constructor(terminal: Terminal, state: string) {
    this.terminal = terminal;
    this.state = state;
  }

  get tasks(): readonly Task[] {
    return [...this.#tasks.values()];
  }

  task(id: string): Task | undefined {
    return this.#tasks.get(id) ?? this.tasks.find(({ callId }) => callId === id);
  }

  /** Ends a foreground job with the session, too: it may have left something running. */
  hold(job: TerminalJob): void {
    this.#foreground.add(job);
  }

  /** All of it has ended. Its log stays for a while. */
  release(job: TerminalJob): void {
    if (!this.#foreground.delete(job)) return;
    this.#logs.push(job);
    if (this.#logs.length > MOST_LOGS) void this.#logs.shift()?.dispose();
  }

  /** Takes a running job into the background. It is ended after `timeoutMs`, or ten hours. */
  adopt(
    job: TerminalJob,
    { command, description, timeoutMs }: { command: string; description: string; timeoutMs?: number | undefined },
    { callId, notify }: ToolContext,
  ): Task {
    this.#foreground.delete(job);
    const id = `task-${++this.#count}`;
    const timer = setTimeout(
      () => {
        task.status = "timeout";
        void job.kill();
      },
      Math.min(timeoutMs ?? MAX_RUNTIME_MS, MAX_RUNTIME_MS),
    );
    unref(timer);
    void job.ended?.then(() => clearTimeout(timer));
    const ended = job.exited.then((exit) => {
      clearTimeout(timer);
      task.exit = exit;
      if (task.status === "running") task.status = exit.reason ?? (exit.code === undefined ? "killed" : "completed");
      notify(...announcement(task, exit));
      this.#makeRoom();
    });
    const state = { status: "running", told: false, forgotten: false } as const;
    const task: Task = { id, callId, command, description, job, ended, ...state };
    this.#tasks.set(id, task);
    return task;
  }

  /** Ends a task with all that it started. */
  async kill(task: Task): Promise<void> {
    if (task.status === "running") task.status = "killed";
    await task.job.kill();
    await task.ended;
  }

  /** Ends everything, and forgets it. */
  async end(): Promise<void> {
    const jobs = [...this.#foreground, ...this.#logs.splice(0), ...this.tasks.map((task) => task.job)];
    this.#foreground.clear();
    await Promise.all(jobs.map((job) => job.dispose()));
    await Promise.all(this.tasks.map((task) => task.ended));
    this.#tasks.clear();
  }

  /** Removes the logs of the oldest of the tasks that have ended, and later forgets these altogether. */
  #makeRoom(): void {
    const ended = this.tasks.filter((task) => task.status !== "running");
    for (const task of ended.slice(0, Math.max(0, ended.length - MOST_ENDED))) {
      if (task.forgotten) continue;
      task.forgotten = true;
      void task.job.dispose();
    }
    for (const { id } of ended.slice(0, Math.max(0, ended.length - MOST_ENDED - MOST_FORGOTTEN)))
      this.#tasks.delete(id);
  }
}

function announcement(task: Task, exit: JobExit): [name: string, data: JsonValue] {
  const name =
    task.status === "completed" ? EXECUTION_COMPLETE : task.status === "timeout" ? EXECUTION_TIMEOUT : EXECUTION_FAILED;
  const { id, command, description, status } = task;
  return [name, { taskId: id, command, description, status, ...exitData(exit) }];
}

/** For notifications: how a command ended. */
export function exitData({ code, signal }: JobExit): { exitCode: number; signal?: string } {
  return { exitCode: code ?? -1, ...(signal === undefined ? {} : { signal }) };
}

const MOST_AT_ONCE = 1024 * 1024; // bytes

/** As other tools wait for it, watch it and end it. */
function listed(task: Task, shell: Shell): BackgroundTask {
  const { secrets } = shell.terminal;
  const { id, description, job, ended } = task;
  const output = async (from: number) => {
    const bytes = await job.read(from, Math.min(await job.size(), from + MOST_AT_ONCE));
    const whole = bytes.subarray(0, bytes.length - begunCharacter(bytes));
    const text = cleanOutput(new TextDecoder().decode(whole));
    return { text: secrets?.hide(text) ?? text, next: from + whole.length };
  };
  const how = { running: task.status === "running", status: howItEnded(task) };
  const told = () => {
    task.told = true;
  };
  return { id, description, ended, ...how, told, end: () => shell.kill(task), ...(!task.forgotten && { output }) };
}

/** How many bytes at the end are the beginning of a character. */
function begunCharacter(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? back : 0;
  }
  return 0;
}

/** How a task stands, in a few words. */
export function howItEnded(task: Task): string {
  if (task.status === "running") return "running";
  if (task.status !== "completed") return `ended (${task.status})`;
  return `ended, exit ${task.exit?.code ?? -1}`;
}

/** The shells of a session, by their terminals. */
const shells: Resource<Map<Terminal, Shell>> = resource("shell");
const withoutSession = new WeakMap<Terminal, Shell>();

/**
 * The shell of this call's session, which ends with its resources. Calls with neither session nor kept resources share
 * one for each terminal.
 */
export function shellOf(given: Terminal | undefined, ctx: ToolContext): Shell {
  const terminal = given ?? ctx.resources.require(terminalResource);
  const kept = ctx.resources.get(shells);
  if (!kept && ctx.sessionId === undefined) {
    const shared = withoutSession.get(terminal) ?? new Shell(terminal, "shared");
    withoutSession.set(terminal, shared);
    return shared;
  }
  const own = kept ?? new Map<Terminal, Shell>();
  if (!kept) ctx.resources.insert(shells, own);
  const known = own.get(terminal);
  if (known) return known;
  const shell = new Shell(terminal, ctx.sessionId ?? "shared");
  own.set(terminal, shell);
  ctx.resources
    .getOrDefault(backgroundTasks, () => new Map())
    .set(`shell ${own.size}`, () => shell.tasks.map((task) => listed(task, shell)));
  ctx.resources.defer(() => shell.end());
  return shell;
}

/** The shells that calls of this session have used. */
export function usedShells({ resources }: ToolContext): Shell[] {
  return [...(resources.get(shells)?.values() ?? [])];
}

/** Where there is a process to keep alive: a timer of a task must not do so. */
function unref(timer: unknown): void {
  if (typeof timer === "object" && timer !== null && "unref" in timer && typeof timer.unref === "function")
    timer.unref();
}
