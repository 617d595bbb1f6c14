import type { ModelParams, ModelProvider, ModelRequest } from "@shedkit/provider";

/** A provider whose models have parameters of their own, by name; they win over those that a request asks for. */
export function tunedProvider(provider: ModelProvider, params: ReadonlyMap<string, ModelParams>): ModelProvider {
  const tuned = (request: ModelRequest): ModelRequest => {
    const own = params.get(request.model.name);
    return own === undefined ? request : { ...request, params: { ...request.params, ...own } };
  };
  const { describe, embedder, countTokens, close } = provider;
  return {
    id: provider.id,
    serves: (model) => provider.serves(model),
    stream: (request) => provider.stream(tuned(request)),
    ...(describe && { describe: (model) => describe.call(provider, model) }),
    ...(embedder && { embedder: (model) => embedder.call(provider, model) }),
    ...(countTokens && { countTokens: (request) => countTokens.call(provider, tuned(request)) }),
    ...(close && { close: () => close.call(provider) }),
  };
}
