import { type ModelPreset, type ModelProvider, ProviderRouter, type Route } from "@shedkit/provider";
import { AgenticError, type ModelIdLike } from "@shedkit/types";

/** What a session's models come from. */
export type ModelSource = ModelPreset | ProviderRouter | ModelProvider;

/** The models of a session and its forks: a router, or one that is loaded when it is first needed. */
export class Models {
  readonly #source: ModelSource;
  /** The router, where there is one without loading anything. */
  readonly ready: ProviderRouter | undefined;
  #router: Promise<ProviderRouter> | undefined;
  #users = 0;

  constructor(source: ModelSource) {
    this.#source = source;
    this.ready = routerOf(source);
  }

  /** The backend of a model. Loads the preset at the first call; a load that failed is tried again. */
  async resolve(model: ModelIdLike, signal: AbortSignal): Promise<Route> {
    const router = await this.#load(signal);
    return router.route(model);
  }

  /** One more session uses them. */
  retain(): void {
    this.#users++;
  }

  /** The last one closes what was loaded. */
  async release(): Promise<void> {
    const loading = this.#router;
    if (--this.#users > 0 || !loading) return;
    this.#router = undefined;
    const router = await loading.catch(() => undefined);
    await router?.close();
  }

  async #load(signal: AbortSignal): Promise<ProviderRouter> {
    if (this.ready) return this.ready;
    const preset = this.#source as ModelPreset;
    this.#router ??= preset.load(signal);
    const loading = this.#router;
    try {
      return await loading;
    } catch (error) {
      if (this.#router === loading) this.#router = undefined;
      if (signal.aborted) throw signal.reason;
      throw AgenticError.from(error);
    }
  }
}

/** The models that a preset was made for; none for anything else. */
export function presetModels(source: ModelSource): ModelPreset["models"] {
  return isPreset(source) ? source.models : {};
}

function routerOf(source: ModelSource): ProviderRouter | undefined {
  if (isPreset(source)) return undefined;
  return "stream" in source ? ProviderRouter.single(source) : source;
}

function isPreset(source: ModelSource): source is ModelPreset {
  return "load" in source;
}
