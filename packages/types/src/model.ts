/** Names a model, or what is wanted of one. */
export interface ModelId {
  /** A name is a string, whole: only a backend splits it (`owner/repo:Q4_K_M`). */
  readonly name: string;
  /** Default `"name"`. */
  readonly kind?: "name" | "alias" | "group" | "architecture" | undefined;
}

/** A string is a name. */
export type ModelIdLike = ModelId | string;

/** The {@link ModelId} of a string, or the id itself. */
export function modelId(model: ModelIdLike): ModelId {
  return typeof model === "string" ? { name: model } : model;
}

/** Tokens. `input` excludes the cached ones (`cacheRead`, `cacheWrite`); `reasoning` is part of `output`. */
export type Usage = {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  reasoning: number;
  /** `input + output + cacheRead + cacheWrite`. */
  total: number;
  costUsd?: number | undefined;
};

/** No tokens at all: where sums begin. */
export const noUsage: Readonly<Usage> = Object.freeze({
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  reasoning: 0,
  total: 0,
});

/** The sum of two usages. `costUsd` is present where either side has it. */
export function addUsage(a: Readonly<Usage>, b: Readonly<Usage>): Usage {
  const sum: Usage = {
    input: a.input + b.input,
    output: a.output + b.output,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite: a.cacheWrite + b.cacheWrite,
    reasoning: a.reasoning + b.reasoning,
    total: a.total + b.total,
  };
  if (a.costUsd !== undefined || b.costUsd !== undefined) sum.costUsd = (a.costUsd ?? 0) + (b.costUsd ?? 0);
  return sum;
}

/** Why a model stopped. */
export type FinishReason = "stop" | "length" | "toolUse" | "refusal" | "contentFilter" | "pause" | "aborted";
