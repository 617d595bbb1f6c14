import { type ModelParams, type ModelProvider, ProviderRouter } from "@shedkit/provider";
import { AgenticError, type ModelIdLike, modelId } from "@shedkit/types";
import { given } from "./given.js";
import { RouterPreset } from "./router-preset.js";
import { tunedProvider } from "./tuned-provider.js";

/** A provider, or what makes one when the preset is loaded: an import of a backend waits until then. */
export type ProviderSource = ModelProvider | (() => ModelProvider | Promise<ModelProvider>);

/** What holds for one model of a mix. */
export interface RoleOptions {
  /** Parameters of its requests. They win over the session's, which were chosen for another model. */
  params?: ModelParams | undefined;
}

interface Role extends RoleOptions {
  readonly source: ProviderSource;
  readonly model: ModelIdLike;
}

interface Roles {
  readonly primary?: Role | undefined;
  readonly memory?: Role | undefined;
  readonly fallbacks: readonly Role[];
}

/**
 * A mix of models of your own, each with the provider that serves it. Immutable: a method returns a new mix.
 *
 * The model's name is what the router goes by, so that one name cannot stand for two providers.
 */
export class RouterMix {
  readonly #roles: Roles;

  constructor(roles: Roles = { fallbacks: [] }) {
    this.#roles = roles;
  }

  /** The model that answers. */
  primary(source: ProviderSource, model: ModelIdLike, options: RoleOptions = {}): RouterMix {
    return new RouterMix({ ...this.#roles, primary: { source, model, ...options } });
  }

  /** The model that compacts and remembers. Without one the primary does. */
  memory(source: ProviderSource, model: ModelIdLike, options: RoleOptions = {}): RouterMix {
    return new RouterMix({ ...this.#roles, memory: { source, model, ...options } });
  }

  /** A model to go to where the ones before it fail; in order. */
  fallback(source: ProviderSource, model: ModelIdLike, options: RoleOptions = {}): RouterMix {
    return new RouterMix({ ...this.#roles, fallbacks: [...this.#roles.fallbacks, { source, model, ...options }] });
  }

  /**
   * Throws AgenticError `routing` where one model name is given to two providers. Two providers with one id, or no
   * model at all, are refused the same way by the preset's `load`.
   */
  build(): RouterPreset {
    const { primary, memory, fallbacks } = this.#roles;
    const roles = [primary, memory, ...fallbacks].filter((role) => role !== undefined);
    refuseSharedNames(roles);
    const models = {
      ...(primary === undefined ? {} : { primary: primary.model }),
      ...(memory === undefined ? {} : { memory: memory.model }),
      fallbacks: fallbacks.map((role) => role.model),
    };
    return new RouterPreset(models, (signal) => load(roles, signal));
  }
}

function refuseSharedNames(roles: readonly Role[]): void {
  const sources = new Map<string, ProviderSource>();
  for (const { source, model } of roles) {
    const { name } = modelId(model);
    const other = sources.get(name);
    if (other !== undefined && other !== source) {
      throw new AgenticError(
        "routing",
        `two providers are given for the model "${name}"; give each a name of its own`,
        {
          model: name,
          candidates: [],
        },
      );
    }
    sources.set(name, source);
  }
}

/** The provider as it is, unless models of it have parameters of their own. */
function tuned(provider: ModelProvider, source: ProviderSource, roles: readonly Role[]): ModelProvider {
  const params = new Map<string, ModelParams>();
  for (const role of roles) {
    if (role.source === source && role.params !== undefined) params.set(modelId(role.model).name, given(role.params));
  }
  return params.size === 0 ? provider : tunedProvider(provider, params);
}

async function load(roles: readonly Role[], signal?: AbortSignal): Promise<ProviderRouter> {
  const made = new Map<ProviderSource, ModelProvider>();
  const builder = ProviderRouter.builder();
  try {
    for (const { source, model } of roles) {
      signal?.throwIfAborted();
      let provider = made.get(source);
      if (provider === undefined) {
        provider = typeof source === "function" ? await source() : source;
        made.set(source, provider);
        builder.provider(tuned(provider, source, roles));
      }
      builder.rule(modelId(model).name, provider.id);
    }
    return builder.build();
  } catch (error) {
    await Promise.allSettled(
      [...made].filter(([source]) => typeof source === "function").map(([, provider]) => provider.close?.()),
    );
    throw error;
  }
}
