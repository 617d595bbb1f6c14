import type { ModelParams, ModelRequest } from "@shedkit/provider";
import type { LoopParts, TurnSpec } from "./state.js";

const DEFAULT_TEMPERATURE = 0.7;
const MAX_TEMPERATURE = 2;

/** With what a turn asks its models; `hotter` is what the temperature is raised by. */
export function paramsOf({ config }: LoopParts, spec: TurnSpec, hotter: number): ModelParams {
  const params = { ...config.modelParams, ...spec.params };
  if (hotter > 0) params.temperature = Math.min(MAX_TEMPERATURE, (params.temperature ?? DEFAULT_TEMPERATURE) + hotter);
  return params;
}

/** What is sent to a model: the conversation as it is, and an answer no longer than may be spent. */
export function requestOf(
  parts: LoopParts,
  spec: TurnSpec,
  {
    model,
    params,
    sumUp,
    signal,
  }: Pick<ModelRequest, "model" | "params"> & {
    /** It answers with what it has: no tools are offered. */
    sumUp: boolean;
    signal: AbortSignal;
  },
): ModelRequest {
  const { log, tools, system, sessionId, spending } = parts;
  const left = spending.remaining;
  if (left !== undefined) params.maxTokens = Math.min(left, params.maxTokens ?? left);
  const request: ModelRequest = {
    model,
    messages: log.state.messages,
    tools: sumUp ? { tools: [], activations: [] } : tools.offeredTools(),
    params,
    sessionId,
    signal,
  };
  if (system !== undefined) request.system = system;
  if (spec.output !== undefined) request.output = spec.output;
  return request;
}
