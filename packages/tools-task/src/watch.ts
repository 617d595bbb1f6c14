import { asData, type BackgroundTask, type Reminder, type Resource, resource, type ToolContext } from "@shedkit/tool";
import { linesOf, stands, tasksOf } from "./tasks.js";

/** Told to the host (`ctx.notify`) when a watched command has written lines: a {@link MonitorOutputNote}. */
export const MONITOR_OUTPUT = "monitor_output";

/** The data of a `monitor_output` notification. */
export interface MonitorOutputNote {
  taskId: string;
  description: string;
  lines: string[];
  /** How many lines before them were left out: there were too many. */
  leftOut: number;
  /** False in the last one, which may have no lines. */
  running: boolean;
}

const LOOK_MS = 200; // a log has no bell
const MAX_BYTES = 3000; // of one note, and of what is told at once
const NOTES = 10; // then one every two seconds, with all that came meanwhile
const REFILL_MS = 2000;
const MAX_OVERLOAD_MS = 30_000;

/** What is set for a watch. */
export interface WatchSettings {
  readonly id: string;
  readonly description: string;
  readonly contains: string | undefined;
  /** A clock, in milliseconds. */
  readonly now: () => number;
}

/** The last lines of what came, and how many were left out before them. */
class Tail {
  #lines: readonly string[] = [];
  #leftOut = 0;

  /** True where something had to be left out. */
  add(lines: readonly string[], leftOut: number): boolean {
    const all = [...this.#lines, ...lines];
    this.#lines = lastOf(all, MAX_BYTES);
    const dropped = all.length - this.#lines.length + leftOut;
    this.#leftOut += dropped;
    return dropped > 0;
  }

  get isEmpty(): boolean {
    return this.#lines.length === 0;
  }

  take(maxBytes = MAX_BYTES): { lines: string[]; leftOut: number } {
    const lines = lastOf(this.#lines, maxBytes);
    const leftOut = this.#leftOut + this.#lines.length - lines.length;
    this.#lines = [];
    this.#leftOut = 0;
    return { lines, leftOut };
  }
}

/** Follows what a command writes, until it ends or nobody is there any more. */
export class Watch {
  readonly #settings: WatchSettings;
  readonly #ctx: Pick<ToolContext, "resources" | "notify">;
  readonly #stopped = new AbortController();
  readonly #toModel = new Tail();
  readonly #toHost = new Tail();
  #position = 0;
  #rest = "";
  #over = false;
  /** The model knows all, and that it is over. */
  #told = false;
  #notes = NOTES;
  #filledAt: number;
  #overloadedSince: number | undefined;
  #waiting: (() => void)[] = [];

  constructor(settings: WatchSettings, ctx: Pick<ToolContext, "resources" | "notify">) {
    this.#settings = settings;
    this.#ctx = ctx;
    this.#filledAt = settings.now();
    void this.#follow();
  }

  stop(): void {
    this.#stopped.abort();
  }

  /** Resolves as soon as there is something to tell. */
  news(): Promise<void> {
    if (this.#over || !this.#toModel.isEmpty) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /**
   * Takes what there is to tell the model: the last of it, where it is more than so many bytes of UTF-8. `over`: nothing comes
   * after it. Undefined where there is nothing.
   */
  take(maxBytes = MAX_BYTES): { lines: string[]; leftOut: number; over: boolean } | undefined {
    if (this.#told || (this.#toModel.isEmpty && !this.#over)) return undefined;
    this.#told = this.#over;
    return { ...this.#toModel.take(maxBytes), over: this.#over };
  }

  async #follow(): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted && !this.#over) {
      const task = tasksOf(this.#ctx).get(this.#settings.id);
      const ended = !(task?.running ?? false); // before it is read: nothing comes behind the end
      const more = await this.#read(task, ended).catch(() => false); // its log is gone
      if (signal.aborted) return;
      if (this.#isOverloaded()) await this.#end(task);
      this.#over ||= ended && !more;
      this.#note();
      if (this.#over || !this.#toModel.isEmpty) for (const wake of this.#waiting.splice(0)) wake();
      if (!ended) await pause(task?.ended, LOOK_MS, signal);
    }
  }

  /** Reads what there is. True where there may be more. */
  async #read(task: BackgroundTask | undefined, ended: boolean): Promise<boolean> {
    const { text, next } = (await task?.output?.(this.#position)) ?? { text: "", next: this.#position };
    const more = next !== this.#position;
    this.#position = next;
    const { contains, now } = this.#settings;
    const { lines, leftOut, rest } = linesOf(this.#rest + text, { all: ended && !more, contains });
    this.#rest = rest;
    this.#toModel.add(lines, leftOut);
    if (this.#toHost.add(lines, leftOut)) this.#overloadedSince ??= now();
    return more;
  }

  #isOverloaded(): boolean {
    return this.#overloadedSince !== undefined && this.#settings.now() - this.#overloadedSince >= MAX_OVERLOAD_MS;
  }

  async #end(task: BackgroundTask | undefined): Promise<void> {
    const { id } = this.#settings;
    const why = `[${id} wrote more than can be told for ${MAX_OVERLOAD_MS / 1000} s, and was ended.]`;
    this.#toModel.add([why], 0);
    this.#toHost.add([why], 0);
    await task?.end?.();
    this.#over = true;
  }

  /** Tells the host, not more often than it may be told. */
  #note(): void {
    const { id, description, now } = this.#settings;
    const refill = Math.floor((now() - this.#filledAt) / REFILL_MS);
    this.#filledAt += refill * REFILL_MS;
    this.#notes = Math.min(NOTES, this.#notes + refill);
    if (!this.#over && (this.#toHost.isEmpty || this.#notes < 1)) return;
    this.#notes--;
    const { lines, leftOut } = this.#toHost.take();
    if (leftOut === 0) this.#overloadedSince = undefined;
    const note: MonitorOutputNote = { taskId: id, description, lines, leftOut, running: !this.#over };
    this.#ctx.notify(MONITOR_OUTPUT, { ...note });
  }
}

/** The last lines that have room in so many bytes of UTF-8. */
function lastOf(lines: readonly string[], maxBytes: number): string[] {
  const encoder = new TextEncoder();
  let bytes = 0;
  const from = lines.findLastIndex((line) => {
    bytes += encoder.encode(line).length + 1;
    return bytes > maxBytes;
  });
  return lines.slice(from + 1);
}

/** The watches of a session, by the ids of their tasks. */
const WATCHES: Resource<Map<string, Watch>> = resource("watches");

export function watchOf({ resources }: Pick<ToolContext, "resources">, id: string): Watch | undefined {
  return resources.get(WATCHES)?.get(id);
}

/** Watches a task until it ends, or the session does. */
export function watch(settings: WatchSettings, ctx: Pick<ToolContext, "resources" | "notify">): void {
  const watches = ctx.resources.getOrDefault(WATCHES, () => new Map());
  const watching = new Watch(settings, ctx);
  watches.set(settings.id, watching);
  ctx.resources.defer(() => watching.stop());
}

/**
 * Tells the model after each call what the commands wrote that it had `monitor` start. For a shed:
 * `shed.reminder(monitorReminder())`. Without it only calls of `monitor` say so.
 */
export function monitorReminder(): Reminder {
  return {
    id: "monitor",
    priority: 1, // before what tells that the command has ended
    collect: async (ctx) => {
      const watches = ctx.resources.get(WATCHES) ?? new Map<string, Watch>();
      let room = MAX_BYTES;
      return [...watches].flatMap(([id, watching]) => {
        if (room < MAX_BYTES / 2) return []; // the next time
        const news = watching.take(room);
        if (news === undefined) return [];
        const text = told(id, news, news.over ? stands(tasksOf(ctx).get(id)).status : undefined);
        room -= new TextEncoder().encode(text).length;
        return [{ key: `${id} ${text}`, text }];
      });
    },
  };
}

function told(
  id: string,
  { lines, leftOut }: { lines: string[]; leftOut: number },
  status: string | undefined,
): string {
  return [
    ...(lines.length > 0 ? [`The watched command ${id} wrote:`] : []),
    ...(leftOut > 0 ? [`[${leftOut} earlier lines left out]`] : []),
    ...lines,
    ...(status === undefined ? [] : [`${id}: ${status}.`]),
  ].join("\n");
}

/** For people and for the model: one line, as data. */
export function shortDescription(text: string): string {
  const line = asData(text).replace(/\s+/g, " ").trim();
  return line.length <= 80 ? line : `${line.slice(0, 80).replace(/[\ud800-\udbff]$/, "")}...`;
}

/** Until the task ends, the time is up or it is stopped; it does not keep a program alive. */
function pause(ended: Promise<void> | undefined, ms: number, stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      stop.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    const handle: unknown = timer;
    if (typeof handle === "object" && handle !== null && "unref" in handle && typeof handle.unref === "function") {
      handle.unref();
    }
    stop.addEventListener("abort", done, { once: true });
    void ended?.then(done);
  });
}
