import { type ModelPreset, type ModelProvider, ProviderRouter, type Route } from "@shedkit/provider";
import { AgenticError, type ModelIdLike } from "@shedkit/types";
import { untilAborted } from "./abortable.js";

/** What a session's models come from. */
export type ModelSource = ModelPreset | ProviderRouter | ModelProvider;

/** The models of a session and its forks: a router, or one that is loaded when it is first needed. */
export class Models {
  readonly #source: ModelSource;
  /** The router, where there is one without loading anything. */
  readonly ready: ProviderRouter | undefined;
  /** Aborts the loading. */
  #ended: AbortController | undefined;
  #loading: Promise<ProviderRouter> | undefined;
  #loaded: ProviderRouter | undefined;
  #users = 0;

  constructor(source: ModelSource) {
    this.#source = source;
    this.ready = routerOf(source);
  }

  /**
   * The backend of a model. Loads the preset at the first call; a load that failed is tried again. One that is not
   * waited for any more goes on: the next turn needs it too.
   */
  resolve(model: ModelIdLike, signal: AbortSignal): Route | Promise<Route> {
    if (this.ready) return this.ready.route(model);
    const loaded = untilAborted(this.#load(), signal, () => AgenticError.from(signal.reason));
    return loaded.then((router) => router.route(model));
  }

  /** One more session uses them. */
  retain(): void {
    this.#users++;
  }

  /** The last one closes what was loaded, and gives up what is being loaded. */
  async release(): Promise<void> {
    if (--this.#users > 0) return;
    this.#ended?.abort(new AgenticError("cancelled", "The session has ended.", { reason: "the session ends" }));
    if (this.#loaded) await this.#loaded.close();
    // A load that does not hear its signal is not waited for.
    else this.#loading?.then((router) => router.close()).catch(() => undefined);
  }

  #load(): Promise<ProviderRouter> {
    if (this.#loading) return this.#loading;
    this.#ended = new AbortController();
    this.#loading = (this.#source as ModelPreset).load(this.#ended.signal).then(
      (router) => {
        this.#loaded = router;
        return router;
      },
      (error: unknown) => {
        this.#loading = undefined;
        throw error;
      },
    );
    return this.#loading;
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
