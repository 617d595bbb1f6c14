import { AgentSession } from "@shedkit/agent";
import { RouterPreset } from "@shedkit/harness";
import type { ProviderRouter } from "@shedkit/provider";
import { chooseModel, type Environment, type ModelChoice } from "./model-choice.js";
import type { Settings, Sourced } from "./settings.js";

/** The keys of other models that may be chosen on the page, and the names of those. */
const KEYED = { ANTHROPIC_API_KEY: "anthropic:", OPENAI_API_KEY: "openai:" } as const;

/** The models that people may choose, by name: the one of the settings first. All sessions share what is loaded. */
export class ServedModels {
  readonly #choices = new Map<string, ModelChoice>();
  readonly #routers = new Map<string, Promise<ProviderRouter>>();

  constructor(settings: Sourced<Settings>, env: Environment) {
    const maxSteps = settings.maxSteps.value;
    const keyed = Object.entries(KEYED).flatMap(([key, name]) => (env[key] ? [name] : []));
    for (const name of [settings.model.value, ...keyed, "local:"]) {
      const choice = chooseModel(name, maxSteps, env);
      const { model } = choice.notice;
      if (!this.#choices.has(model)) this.#choices.set(model, choice);
    }
  }

  get names(): string[] {
    return [...this.#choices.keys()];
  }

  get first(): ModelChoice {
    return this.choice(undefined);
  }

  /** The choice of that name, else the first one. Its model is loaded once, however many sessions ask it. */
  choice(name: string | undefined): ModelChoice {
    const [first] = this.names;
    const id = name !== undefined && this.#choices.has(name) ? name : (first as string);
    const choice = this.#choices.get(id) as ModelChoice;
    return {
      ...choice,
      config: { ...choice.config, ...(choice.maxSteps !== undefined && { maxInnerIterations: choice.maxSteps }) },
      preset: async () => {
        const preset = await choice.preset();
        return new SharedPreset(preset, await this.#router(id, preset));
      },
    };
  }

  async close(): Promise<void> {
    const routers = await Promise.allSettled(this.#routers.values());
    await Promise.all(routers.map((router) => (router.status === "fulfilled" ? router.value.close() : undefined)));
  }

  #router(id: string, preset: RouterPreset): Promise<ProviderRouter> {
    let router = this.#routers.get(id);
    if (router === undefined) {
      router = preset.load();
      this.#routers.set(id, router);
      router.catch(() => this.#routers.delete(id)); // the next session tries again
    }
    return router;
  }
}

/** A preset whose router belongs to somebody else: sessions do not close it. */
class SharedPreset extends RouterPreset {
  readonly #router: ProviderRouter;

  constructor(preset: RouterPreset, router: ProviderRouter) {
    super(preset.models, async () => router);
    this.#router = router;
  }

  override intoAgentBuilder() {
    const { primary, fallbacks, memory } = this.models;
    let builder = AgentSession.builder(this.#router);
    if (primary !== undefined) builder = builder.withModel(primary);
    if (fallbacks !== undefined) builder = builder.withFallbackModels(fallbacks);
    if (memory !== undefined) builder = builder.withMemoryModel(memory);
    return builder;
  }
}
