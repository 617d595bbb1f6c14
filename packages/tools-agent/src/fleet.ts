import {
  type BackgroundTask,
  backgroundTasks,
  type Resource,
  type Resources,
  resource,
  type StateHandle,
  stateOf,
  type ToolConstructor,
  type ToolContext,
  type ToolImpl,
} from "@shedkit/tool";
import type { AgentSpawner, ChildAgent, ChildStatus } from "@shedkit/types";

/** Told to the host (`ctx.notify`) at each step of a sub-agent. */
export const AGENT_PROGRESS = "agent_progress";
/** Told to the host (`ctx.notify`) when a sub-agent has ended. */
export const AGENT_ENDED = "agent_ended";

/** What sub-agents may do. */
export interface AgentToolOptions {
  /** The tools of sub-agents, as a shed takes them. Default: what the session gives its children. */
  tools?: Iterable<ToolImpl | ToolConstructor> | undefined;
  /** The most steps that a sub-agent makes. Default: 50. */
  maxSteps?: number | undefined;
  /** The model of sub-agents, where the call names none. Default: the session's. */
  model?: string | undefined;
}

/** What is kept of a sub-agent with the session: enough to go on in its conversation. */
export interface AgentEntry {
  id: string;
  session: string;
  task: string;
}

export interface Roster {
  count: number;
  agents: AgentEntry[];
}

/** A sub-agent of this program's run. */
interface Live {
  readonly entry: AgentEntry;
  readonly child: ChildAgent;
  readonly ended: Promise<void>;
  over: boolean;
  /** The model knows how it ended. */
  told: boolean;
}

type Ended = Extract<ChildStatus, { type: "done" | "failed" }>;

const MOST_KEPT = 100; // entries that go with the session
const MOST_ENDED = 32; // sub-agents that have ended and are held; of others the log is read
const WHOLE = "agent:agent";

/** The sub-agents of one session. */
export class Fleet {
  readonly #spawner: AgentSpawner<ToolImpl | ToolConstructor>;
  readonly #options: AgentToolOptions;
  readonly #live = new Map<string, Live>();
  /** Those that are about to go on. */
  readonly #resuming = new Set<string>();

  constructor(spawner: AgentSpawner<ToolImpl | ToolConstructor>, options: AgentToolOptions) {
    this.#spawner = spawner;
    this.#options = options;
  }

  live(id: string): Live | undefined {
    return this.#live.get(id);
  }

  /** How one ended that is not held any more. Undefined where nobody can say it. */
  async ended(entry: AgentEntry, signal: AbortSignal): Promise<Ended | undefined> {
    return await this.#spawner.ended?.(entry.session, signal);
  }

  works(id: string): boolean {
    return this.#resuming.has(id) || this.#live.get(id)?.over === false;
  }

  /** Those that have ended and of whom the model does not know it. */
  news(): Live[] {
    return [...this.#live.values()].filter(({ over, told }) => over && !told);
  }

  /** Starts one, or lets one that was there go on. Rejects as the spawner does. */
  async start(
    spec: { task: string; entry?: AgentEntry | undefined; model?: string | undefined; system?: string | undefined },
    steps: { asked?: number | undefined; most: number },
    state: StateHandle<Roster>,
    ctx: ToolContext,
  ): Promise<Live> {
    const { tools } = this.#options;
    const model = spec.model ?? this.#options.model;
    if (spec.entry) this.#resuming.add(spec.entry.id);
    try {
      const child = await this.#spawner.start({
        task: spec.task,
        maxSteps: Math.min(steps.asked ?? steps.most, steps.most),
        ...(model !== undefined && { model }),
        ...(spec.system !== undefined && { system: spec.system }),
        ...(tools && { tools }),
        ...(spec.entry && { resume: spec.entry.session }),
      });
      return await this.#take(child, spec, state, ctx);
    } finally {
      if (spec.entry) this.#resuming.delete(spec.entry.id);
    }
  }

  async #take(
    child: ChildAgent,
    spec: { task: string; entry?: AgentEntry | undefined },
    state: StateHandle<Roster>,
    ctx: ToolContext,
  ): Promise<Live> {
    if (ctx.signal.aborted) {
      await child.stop();
      ctx.signal.throwIfAborted();
    }
    const { count, agents } = state.get();
    const id = spec.entry?.id ?? `agent-${count + 1}`;
    const entry: AgentEntry = { id, session: child.id, task: spec.task };
    const others = agents.filter((agent) => agent.id !== id);
    state.set({ count: spec.entry ? count : count + 1, agents: [...others, entry].slice(-MOST_KEPT) });
    return this.#watch(entry, child, ctx);
  }

  #watch(entry: AgentEntry, child: ChildAgent, ctx: ToolContext): Live {
    const { id } = entry;
    const step = () => {
      const status = child.status();
      if (status.type === "running" || status.type === "paused") ctx.notify(AGENT_PROGRESS, { id, ...status });
    };
    const unwatch = child.watch(step);
    const ended = child
      .result()
      .catch(() => undefined)
      .then(() => {
        unwatch();
        live.over = true;
        ctx.notify(AGENT_ENDED, { id, status: child.status().type });
        this.#makeRoom();
      });
    const live: Live = { entry, child, ended, over: false, told: false };
    this.#live.delete(id);
    this.#live.set(id, live);
    return live;
  }

  #makeRoom(): void {
    const ended = [...this.#live.values()].filter(({ over }) => over);
    for (const { entry } of ended.slice(0, Math.max(0, ended.length - MOST_ENDED))) this.#live.delete(entry.id);
  }

  /** As other tools wait for them. */
  tasks(): BackgroundTask[] {
    return [...this.#live.values()].map(({ entry, child, ended, over }) => ({
      id: entry.id,
      description: inShort(entry.task),
      running: !over,
      status: inWords(child.status()),
      ended,
    }));
  }
}

const fleetKey: Resource<Fleet> = resource("agents");

/** Lets reminders, and tools that wait, see the sub-agents of the session. */
export function share(fleet: Fleet, resources: Resources): void {
  if (resources.get(fleetKey) === fleet) return;
  resources.insert(fleetKey, fleet);
  resources.getOrDefault(backgroundTasks, () => new Map()).set("agents", () => fleet.tasks());
}

export function sharedFleet(resources: Resources): Fleet | undefined {
  return resources.get(fleetKey);
}

/** What the session keeps: it stands under `start`, and the other commands look there. */
export function rosterOf(resources: Resources): Roster {
  const whole = resources.get(stateOf(WHOLE)) as StateHandle<{ start: Roster }> | undefined;
  return whole?.get().start ?? { count: 0, agents: [] };
}

/** A status as a model reads it. */
export function inWords(status: ChildStatus): string {
  switch (status.type) {
    case "running":
      return `running, step ${status.step + 1}${status.tool === undefined ? "" : `, last used ${status.tool}`}`;
    case "paused":
      return "paused";
    case "done":
      return "done";
    case "failed":
      return status.error.code === "cancelled" ? "stopped" : `failed: ${status.error.message}`;
  }
}

/** The first line of a text, cut. */
export function inShort(text: string): string {
  const line = text.trim().split("\n", 1)[0] ?? "";
  return line.length <= 80 ? line : `${line.slice(0, 77).replace(/[\ud800-\udbff]$/, "")}...`;
}
