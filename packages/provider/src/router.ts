import { AgenticError, type ModelId, type ModelIdLike, modelId } from "@shedkit/types";
import type { ModelProvider } from "./contract.js";

/** Where a request goes: the backend, and the model that the request must name. */
export interface Route {
  readonly provider: ModelProvider;
  readonly model: ModelId;
}

interface Rule {
  readonly match: string | RegExp;
  readonly provider: ModelProvider;
}

interface Table {
  readonly providers: readonly ModelProvider[];
  readonly rules: readonly Rule[];
  readonly aliases: ReadonlyMap<string, string>;
  readonly groups: ReadonlyMap<string, readonly string[]>;
}

/** Of all routers that have no other names for models. */
const NO_NAMES: ReadonlyMap<string, never> = new Map<string, never>();

/**
 * Finds the backend of a model. In this order: a rule, a backend that says it serves the model, an alias, a group. A
 * backend that cannot say what it serves gets a model by a rule alone, unless it is the only one.
 */
export class ProviderRouter {
  readonly #table: Table;

  /** @internal Use {@link ProviderRouter.single} or {@link ProviderRouter.builder}. */
  constructor(table: Table) {
    this.#table = table;
  }

  /** Everything goes to one backend, except what it says it does not serve. */
  static single(provider: ModelProvider): ProviderRouter {
    return new ProviderRouter({ providers: [provider], rules: [], aliases: NO_NAMES, groups: NO_NAMES });
  }

  static builder(): ProviderRouterBuilder {
    return new ProviderRouterBuilder();
  }

  get providers(): readonly ModelProvider[] {
    return this.#table.providers;
  }

  /** The backend of a model. Throws AgenticError `routing` with the candidates where there is none. */
  resolve(model: ModelIdLike): ModelProvider {
    return this.route(model).provider;
  }

  /** The backend and the model, aliases and groups resolved. Throws as {@link ProviderRouter.resolve} does. */
  route(model: ModelIdLike): Route {
    const wanted = modelId(model);
    const found = this.#find(wanted);
    if (found === undefined) throw unresolved(this.#table, wanted);
    return found;
  }

  /** Closes every backend. */
  async close(): Promise<void> {
    await Promise.all(this.providers.map((provider) => provider.close?.()));
  }

  #find(model: ModelId): Route | undefined {
    const { rules, providers, aliases, groups } = this.#table;
    if (model.kind !== "alias" && model.kind !== "group") {
      const provider =
        rules.find((rule) => matches(rule.match, model.name))?.provider ??
        providers.find((candidate) => candidate.serves(model) === "yes") ??
        providers.find(
          (candidate) => providers.length === 1 && !this.#names(model) && candidate.serves(model) !== "no",
        );
      if (provider !== undefined) return { provider, model };
    }
    const target = model.kind === "group" ? undefined : aliases.get(model.name);
    if (target !== undefined) return this.#find({ name: target });
    if (model.kind === "alias") return undefined;
    for (const member of groups.get(model.name) ?? []) {
      const found = this.#find({ name: member });
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** Whether the name is an alias or a group. */
  #names(model: ModelId): boolean {
    return this.#table.aliases.has(model.name) || this.#table.groups.has(model.name);
  }
}

/** Collects backends and rules; {@link ProviderRouterBuilder.build} checks them. */
export class ProviderRouterBuilder {
  readonly #providers: ModelProvider[] = [];
  readonly #rules: { match: string | RegExp; providerId: string }[] = [];
  readonly #aliases = new Map<string, string>();
  readonly #groups = new Map<string, readonly string[]>();

  /** Of two backends that serve a model, the one added first gets it. */
  provider(provider: ModelProvider): this {
    this.#providers.push(provider);
    return this;
  }

  /** Sends the models with this name, or whose name matches, to one backend. Rules are tried in order. */
  rule(match: string | RegExp, providerId: string): this {
    this.#rules.push({ match, providerId });
    return this;
  }

  /** Another name for a model, an alias or a group. */
  alias(alias: string, model: string): this {
    this.#aliases.set(alias, model);
    return this;
  }

  /** A name for several models: the first that has a backend is taken. */
  group(name: string, models: readonly string[]): this {
    this.#groups.set(name, [...models]);
    return this;
  }

  /**
   * Throws AgenticError `routing`: no backend at all, two with one id, a rule that names none of them, an alias or a
   * group that leads to itself.
   */
  build(): ProviderRouter {
    const byId = new Map<string, ModelProvider>();
    if (this.#providers.length === 0) throw invalid("", [], "The router has no provider. Add one with .provider(...).");
    for (const provider of this.#providers) {
      if (byId.has(provider.id)) {
        throw invalid(
          provider.id,
          [...byId.keys()],
          `Two providers have the id "${provider.id}". Give one another id.`,
        );
      }
      byId.set(provider.id, provider);
    }
    const rules = this.#rules.map(({ match, providerId }) => {
      const provider = byId.get(providerId);
      if (provider === undefined) {
        const ids = [...byId.keys()];
        const text = `The rule for ${String(match)} names the provider "${providerId}"; there are ${ids.join(", ")}.`;
        throw invalid(String(match), ids, text);
      }
      return { match, provider };
    });
    for (const name of [...this.#aliases.keys(), ...this.#groups.keys()]) this.#checkCircle(name, []);
    return new ProviderRouter({
      providers: [...this.#providers],
      rules,
      aliases: new Map(this.#aliases),
      groups: new Map(this.#groups),
    });
  }

  #checkCircle(name: string, path: readonly string[]): void {
    const here = [...path, name];
    if (path.includes(name)) throw invalid(name, here, `"${name}" leads to itself: ${here.join(" -> ")}.`);
    const alias = this.#aliases.get(name);
    for (const next of alias === undefined ? (this.#groups.get(name) ?? []) : [alias]) this.#checkCircle(next, here);
  }
}

function matches(match: string | RegExp, name: string): boolean {
  return typeof match === "string" ? match === name : name.search(match) >= 0; // search ignores a regex's position
}

function unresolved({ providers, aliases, groups }: Table, model: ModelId): AgenticError {
  const silent = providers.filter((provider) => provider.serves(model) === "unknown").map((provider) => provider.id);
  const names = [...aliases.keys(), ...groups.keys()];
  const ids = providers.map((provider) => provider.id);
  const text = [
    `No provider serves "${model.name}". There are: ${ids.join(", ")}.`,
    ...(silent.length > 0
      ? [
          `${silent.join(", ")} cannot say what it serves; .rule("${model.name}", "${silent[0]}") sends the model there.`,
        ]
      : []),
    ...(names.length > 0 ? [`Aliases and groups: ${names.join(", ")}.`] : []),
  ].join(" ");
  return invalid(model.name, [...(silent.length > 0 ? silent : ids), ...names], text);
}

function invalid(model: string, candidates: readonly string[], text: string): AgenticError {
  return new AgenticError("routing", text, { model, candidates });
}
