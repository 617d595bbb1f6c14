import { ToolShed } from "@shedkit/shed";
import type { DocumentStore, MemoryStore } from "@shedkit/store";
import type { ToolConstructor, ToolImpl } from "@shedkit/tool";
import type { AgentSpawner, ChildAgent, SessionId } from "@shedkit/types";
import type { Spending } from "./access.js";
import type { Child } from "./child.js";
import { childrenRanges, configured } from "./config-check.js";
import { PauseGate } from "./loop/pause.js";
import type { Models } from "./models.js";
import type { PermissionPolicy } from "./permissions.js";
import type { AnyAgentSession } from "./session.js";
import { type ChildrenConfig, defaultChildrenConfig, type Settings } from "./settings.js";
import { sessionError, userMessage } from "./turn/prompt.js";

interface ChildrenParts {
  settings: Settings<DocumentStore, MemoryStore>;
  models: Models;
  /** One budget for the session and all that it starts. */
  spending: Spending;
  open(settings: Settings<DocumentStore, MemoryStore>): Promise<AnyAgentSession>;
}

type Tools = ToolImpl | ToolConstructor;
type Spec = Parameters<AgentSpawner<Tools>["start"]>[0];

/** Starts sub-agents of a session, and ends those that are left when it ends. */
export class Children implements AgentSpawner<Tools> {
  readonly #parts: ChildrenParts;
  readonly #config: ChildrenConfig;
  /** Made for the first one. */
  #running: Set<Child> | undefined;
  #starting = 0;
  #ended = false;

  constructor(parts: ChildrenParts) {
    this.#parts = parts;
    this.#config = configured(defaultChildrenConfig, parts.settings.children, childrenRanges);
  }

  async start(spec: Spec): Promise<ChildAgent> {
    const { maxDepth, maxRunning } = this.#config;
    const depth = this.#parts.settings.depth ?? 0;
    const { Child, tooDeep, tooMany } = await import("./child.js");
    userMessage(spec.task);
    if (this.#ended) throw sessionError("The session has ended: it starts no sub-agents.", "ended");
    if (depth >= maxDepth) throw tooDeep(maxDepth);
    this.#running ??= new Set();
    const running = this.#running;
    if (running.size + this.#starting >= maxRunning) throw tooMany(maxRunning);
    this.#starting++;
    try {
      const gate = new PauseGate();
      const session = await this.#parts.open(this.#settings(spec, gate, depth + 1));
      const child = new Child(session, spec.task, spec.maxSteps, gate);
      running.add(child);
      void child.ended().then(() => running.delete(child));
      if (this.#ended) await child.stop(); // the session ended meanwhile
      return child;
    } finally {
      this.#starting--;
    }
  }

  async ended(id: string, signal?: AbortSignal) {
    const { endedChild } = await import("./ended-child.js");
    return await endedChild(this.#parts.settings.docStore, id, signal);
  }

  /** Stops what runs and waits for it. */
  async end(): Promise<void> {
    this.#ended = true;
    await Promise.all(Array.from(this.#running ?? [], (child) => child.stop()));
  }

  /** As the session's own, in a log of its own. */
  #settings(spec: Spec, gate: PauseGate, depth: number): Settings<DocumentStore, MemoryStore> {
    const { models, spending } = this.#parts;
    const { sessionId: _, mustExist: __, ...settings } = this.#parts.settings;
    const { permissions } = settings;
    const shed = spec.tools ? new ToolShed().tools(spec.tools) : this.#config.toolshed;
    return {
      ...settings,
      ...{ models, spending, gate, depth },
      ...(shed && { shed }),
      permissions: withoutAsking(permissions),
      ...(spec.model !== undefined && { model: spec.model }),
      ...(spec.system !== undefined && { system: spec.system }),
      ...(spec.resume !== undefined && { sessionId: spec.resume as SessionId, mustExist: true }),
    };
  }
}

/** Nobody looks at a sub-agent: what would be asked is denied. */
function withoutAsking(policy: PermissionPolicy = { decide: async () => "allow" }): PermissionPolicy {
  return {
    decide: async (call) => {
      if (call.asks) return { deny: "a sub-agent has nobody to ask: decide, and say in the answer what is open" };
      const verdict = await policy.decide(call);
      if (verdict === "ask") return { deny: "it needs leave, and a sub-agent cannot ask for it" };
      if (typeof verdict === "object" && "ask" in verdict) {
        return { deny: `it needs leave (${verdict.ask}), and a sub-agent cannot ask for it` };
      }
      return verdict;
    },
  };
}
