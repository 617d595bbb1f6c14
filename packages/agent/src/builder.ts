import type { ToolShed } from "@shedkit/shed";
import {
  type DocumentStore,
  KvMemoryStore,
  MemoryDocumentStore,
  MemoryStorage,
  type MemoryStore,
} from "@shedkit/store";
import type { Embedder, ModelIdLike, SessionId } from "@shedkit/types";
import type { SessionAccessProvider } from "./access.js";
import type { AgentConfig, ContextConfig, LoopDetectionConfig, MemoryConfig } from "./config.js";
import type { ErrorPolicy } from "./loop/error-policy.js";
import type { ModelSource, Models } from "./models.js";
import type { SessionObserver } from "./observer.js";
import type { PermissionPolicy } from "./permissions.js";
import { AgentSession } from "./session.js";
import type { BuildOptions, ChildrenConfig, SessionEngine, Settings } from "./settings.js";

/** Says what a session is made of. Immutable: every method returns a new builder, and one may build many sessions. */
export class AgentSessionBuilder<D extends DocumentStore, M extends MemoryStore> {
  readonly #settings: Settings<D, M>;

  /** @internal Use `AgentSession.builder`. */
  constructor(settings: Settings<D, M>) {
    this.#settings = settings;
  }

  /** Where the log is kept. Default: in memory. The session uses this store and closes it never. */
  withDocStore<D2 extends DocumentStore>(docStore: D2): AgentSessionBuilder<D2, M> {
    return builderOf({ ...this.#settings, docStore });
  }

  /**
   * Where the newest of each memory tier is kept. Default: in memory. What it remembers of a session whose log does not
   * (the log was kept elsewhere, or in memory) is taken over by the log.
   */
  withMemoryStore<M2 extends MemoryStore>(memoryStore: M2): AgentSessionBuilder<D, M2> {
    return builderOf({ ...this.#settings, memoryStore });
  }

  /** Continues the session of that id, or begins it. Default: a new id. */
  withSessionId(id: SessionId | string): AgentSessionBuilder<D, M> {
    return this.#with({ sessionId: id as SessionId, mustExist: false });
  }

  /** Continues the session of that id; `build` rejects with `sessionNotFound` where neither store knows it. */
  resume(id: SessionId | string): AgentSessionBuilder<D, M> {
    return this.#with({ sessionId: id as SessionId, mustExist: true });
  }

  /** The model that answers. Default: the preset's. */
  withModel(model: ModelIdLike): AgentSessionBuilder<D, M> {
    return this.#with({ model });
  }

  /** Tried in order when the model fails; see {@link ErrorPolicy}. Default: the preset's. */
  withFallbackModels(models: Iterable<ModelIdLike>): AgentSessionBuilder<D, M> {
    return this.#with({ fallbacks: [...models] });
  }

  /** Summarises and remembers. Default: the preset's, else the model that answers. */
  withMemoryModel(model: ModelIdLike): AgentSessionBuilder<D, M> {
    return this.#with({ memoryModel: model });
  }

  withSystemPrompt(text: string): AgentSessionBuilder<D, M> {
    return this.#with({ system: text });
  }

  /** The tools. Default: none. */
  withToolshed(shed: ToolShed): AgentSessionBuilder<D, M> {
    return this.#with({ shed });
  }

  /** Lets tools, and what was said earlier (`contextProvider`), be found by meaning, not by words alone. */
  withEmbedder(embedder: Embedder): AgentSessionBuilder<D, M> {
    return this.#with({ embedder });
  }

  /** Decides about every call: allow, ask, deny. Default: all that the shed holds is allowed. */
  withPermissions(permissions: PermissionPolicy): AgentSessionBuilder<D, M> {
    return this.#with({ permissions });
  }

  /** Says what the user may do and spend. Default: everything. */
  withAccess(access: SessionAccessProvider): AgentSessionBuilder<D, M> {
    return this.#with({ access });
  }

  /** Whose session it is. Default: `"local"`. */
  withUser(user: string): AgentSessionBuilder<D, M> {
    return this.#with({ user });
  }

  /** Limits of the loop; what is left out keeps its default. */
  withConfig(config: Partial<AgentConfig>): AgentSessionBuilder<D, M> {
    return this.#with({ config: { ...this.#settings.config, ...config } });
  }

  /** How the conversation is kept within the model's window. */
  withContextConfig(config: Partial<ContextConfig>): AgentSessionBuilder<D, M> {
    return this.#with({ contextConfig: { ...this.#settings.contextConfig, ...config } });
  }

  /** When the memory model is put to work. */
  withMemoryConfig(config: Partial<MemoryConfig>): AgentSessionBuilder<D, M> {
    return this.#with({ memoryConfig: { ...this.#settings.memoryConfig, ...config } });
  }

  /** What is done about errors of model calls. Default: `defaultErrorPolicy`. */
  withErrorPolicy(errorPolicy: ErrorPolicy): AgentSessionBuilder<D, M> {
    return this.#with({ errorPolicy });
  }

  /** When a model is taken to go round in circles; `"off"` never. */
  withLoopDetection(config: Partial<LoopDetectionConfig> | "off"): AgentSessionBuilder<D, M> {
    return this.#with({ loopDetection: config });
  }

  /** What sub-agents may be: sessions that the tools of this one start. They use its models, stores and budget. */
  withChildren(children: Partial<ChildrenConfig>): AgentSessionBuilder<D, M> {
    return this.#with({ children: { ...this.#settings.children, ...children } });
  }

  /** Watches the session, for traces and metrics. */
  withObserver(observer: SessionObserver): AgentSessionBuilder<D, M> {
    return this.#with({ observer });
  }

  /** @internal See `settingsOf` and `withEngine`. */
  settings(): Settings<D, M> {
    return this.#settings;
  }

  /**
   * Makes the session: takes its log, reads it, builds the tools and checks that the model has a backend. A preset is
   * not loaded yet.
   *
   * Throws AgenticError `session` with the reason "no model set", "access denied" or "model not allowed", `sessionNotFound`, `sessionBusy` (another session
   * holds the log), `routing`, `toolShed`, or what the store throws.
   */
  async build(options: BuildOptions = {}): Promise<AgentSession<D, M>> {
    // A program that only imports the package pays for no loop and no tools.
    const { buildParts } = await import("./build.js");
    return new AgentSession(await buildParts(this.#settings, options), this.#settings);
  }

  #with(change: Partial<Settings<D, M>>): AgentSessionBuilder<D, M> {
    return builderOf({ ...this.#settings, ...change });
  }
}

/** Outside of the class: bundled, a class that names itself would go by another name. */
function builderOf<D extends DocumentStore, M extends MemoryStore>(
  settings: Settings<D, M>,
): AgentSessionBuilder<D, M> {
  return new AgentSessionBuilder(settings);
}

/** What a builder has been told. */
export function settingsOf<D extends DocumentStore, M extends MemoryStore>(
  builder: AgentSessionBuilder<D, M>,
): Settings<D, M> {
  return builder.settings();
}

/**
 * Lets an engine run the turns of the sessions that the builder builds. It is taken to know that nobody else may write
 * to such a session: the log is taken from whoever holds it. `models` are those of the builder's source, where sessions
 * share what is loaded; whoever made them retains them meanwhile.
 */
export function withEngine<D extends DocumentStore, M extends MemoryStore>(
  builder: AgentSessionBuilder<D, M>,
  engine: SessionEngine,
  models?: Models | undefined,
): AgentSessionBuilder<D, M> {
  return builderOf({ ...builder.settings(), engine, ...(models && { models }) });
}

/** A builder with everything in memory. */
export function newBuilder(source: ModelSource): AgentSessionBuilder<MemoryDocumentStore, KvMemoryStore> {
  return new AgentSessionBuilder({
    source,
    docStore: new MemoryDocumentStore(),
    memoryStore: new KvMemoryStore(new MemoryStorage()),
  });
}
