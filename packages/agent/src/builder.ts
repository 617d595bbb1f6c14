import { ToolShed } from "@shedkit/shed";
import {
  type DocumentStore,
  KvMemoryStore,
  MemoryDocumentStore,
  MemoryStorage,
  type MemoryStore,
} from "@shedkit/store";
import { Resources } from "@shedkit/tool";
import { AgenticError, type Embedder, type ModelIdLike, newSessionId, type SessionId } from "@shedkit/types";
import { type AgentConfig, defaultConfig } from "./config.js";
import { inProcessEffects } from "./effects.js";
import { closeOpenCalls } from "./execution.js";
import { SessionLog } from "./log.js";
import { type ModelSource, Models, presetModels } from "./models.js";
import { LogSearch } from "./recall.js";
import { AgentSession } from "./session.js";
import { SessionState } from "./session-state.js";
import { WorkingMemory } from "./working-memory.js";

interface Settings<D extends DocumentStore, M extends MemoryStore> {
  readonly source: ModelSource;
  readonly docStore: D;
  readonly memoryStore: M;
  readonly sessionId?: SessionId;
  readonly mustExist?: boolean;
  readonly model?: ModelIdLike;
  readonly system?: string;
  readonly shed?: ToolShed;
  readonly embedder?: Embedder;
  readonly config?: Partial<AgentConfig>;
}

/** Says what a session is made of. Immutable: every method returns a new builder, and one may build many sessions. */
export class AgentSessionBuilder<D extends DocumentStore, M extends MemoryStore> {
  readonly #settings: Settings<D, M>;

  /** @internal Use `AgentSession.builder`. */
  constructor(settings: Settings<D, M>) {
    this.#settings = settings;
  }

  /** Where the log is kept. Default: in memory. The session uses this store and closes it never. */
  withDocStore<D2 extends DocumentStore>(docStore: D2): AgentSessionBuilder<D2, M> {
    return new AgentSessionBuilder({ ...this.#settings, docStore });
  }

  /** Where the newest of each memory tier is kept. Default: in memory. */
  withMemoryStore<M2 extends MemoryStore>(memoryStore: M2): AgentSessionBuilder<D, M2> {
    return new AgentSessionBuilder({ ...this.#settings, memoryStore });
  }

  /** Continues the session of that id, or begins it. Default: a new id. */
  withSessionId(id: SessionId | string): AgentSessionBuilder<D, M> {
    return this.#with({ sessionId: id as SessionId, mustExist: false });
  }

  /** Continues the session of that id; `build` rejects with `sessionNotFound` where the store has none. */
  resume(id: SessionId | string): AgentSessionBuilder<D, M> {
    return this.#with({ sessionId: id as SessionId, mustExist: true });
  }

  /** The model that answers. Default: the preset's. */
  withModel(model: ModelIdLike): AgentSessionBuilder<D, M> {
    return this.#with({ model });
  }

  withSystemPrompt(text: string): AgentSessionBuilder<D, M> {
    return this.#with({ system: text });
  }

  /** The tools. Default: none. */
  withToolshed(shed: ToolShed): AgentSessionBuilder<D, M> {
    return this.#with({ shed });
  }

  /** Lets tools be found by meaning, not by words alone. */
  withEmbedder(embedder: Embedder): AgentSessionBuilder<D, M> {
    return this.#with({ embedder });
  }

  /** Limits of the loop; what is left out keeps its default. */
  withConfig(config: Partial<AgentConfig>): AgentSessionBuilder<D, M> {
    return this.#with({ config: { ...this.#settings.config, ...config } });
  }

  /**
   * Makes the session: takes its log, reads it, builds the tools and checks that the model has a backend. A preset is
   * not loaded yet.
   *
   * Throws AgenticError `session` with the reason "no model set", `sessionNotFound`, `sessionBusy` (another session
   * holds the log), `routing`, `toolShed`, or what the store throws.
   */
  async build(options: { signal?: AbortSignal | undefined } = {}): Promise<AgentSession<D, M>> {
    const { source, docStore, memoryStore } = this.#settings;
    options.signal?.throwIfAborted();
    const model = this.#settings.model ?? presetModels(source).primary;
    if (model === undefined) throw noModel();
    const models = new Models(source);
    models.ready?.resolve(model);
    const sessionId = this.#settings.sessionId ?? newSessionId();
    const lease = await docStore.acquire(sessionId, { signal: options.signal });
    try {
      const state = new SessionState();
      for await (const { record } of docStore.read(sessionId)) {
        options.signal?.throwIfAborted();
        state.apply(record);
      }
      if (this.#settings.mustExist && state.lastRecordId === "") throw notFound(sessionId);
      const resources = new Resources();
      const context = new LogSearch(docStore, sessionId);
      const effects = inProcessEffects(docStore, lease);
      const log = new SessionLog(state, effects);
      const memory = new WorkingMemory(log, memoryStore, sessionId);
      const shed = this.#settings.shed ?? new ToolShed();
      const tools = await shed.build({ sessionId, context, memory, resources, embedder: this.#settings.embedder });
      for (const [name, by] of state.activations) if (tools.get(name)) tools.activate([name], by);
      await closeOpenCalls(log, effects, "interrupted", INTERRUPTED);
      return new AgentSession<D, M>({
        sessionId,
        docStore,
        memoryStore,
        lease,
        tools,
        context,
        log,
        effects,
        models,
        model,
        system: this.#settings.system,
        config: { ...defaultConfig, ...this.#settings.config },
      });
    } catch (error) {
      await lease.release();
      throw error;
    }
  }

  #with(change: Partial<Settings<D, M>>): AgentSessionBuilder<D, M> {
    return new AgentSessionBuilder({ ...this.#settings, ...change });
  }
}

/** A builder with everything in memory. */
export function newBuilder(source: ModelSource): AgentSessionBuilder<MemoryDocumentStore, KvMemoryStore> {
  return new AgentSessionBuilder({
    source,
    docStore: new MemoryDocumentStore(),
    memoryStore: new KvMemoryStore(new MemoryStorage()),
  });
}

const INTERRUPTED =
  "The call was interrupted: the program stopped before its result was known. It may have taken effect; look before you repeat it.";

function noModel(): AgenticError {
  return new AgenticError(
    "session",
    "no model set: name one with withModel(...), or build from a preset that carries its models.",
    { reason: "no model set" },
  );
}

function notFound(sessionId: SessionId): AgenticError {
  return new AgenticError("sessionNotFound", `There is no session "${sessionId}" in the store.`, { sessionId });
}
