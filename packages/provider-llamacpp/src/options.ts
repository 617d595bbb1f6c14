import type { HubSettings, Machine, ModelFetchEvent } from "@shedkit/gguf";
import { AgenticError } from "@shedkit/types";

/** How a GGUF model is found, loaded and run. */
export interface LlamaCppOptions {
  /** Default: `"llamacpp"`. */
  id?: string | undefined;
  /** Where downloads are kept; wins over the hub's. Default: the shared Hugging Face cache. */
  cacheDir?: string | undefined;
  /**
   * Which file of a repository is meant, e.g. `"Q4_K_M"`. It wins over one in the model's name. Default: Q4_K_M, a
   * smaller one where that does not fit the machine.
   */
  quantization?: string | undefined;
  /** What computes. Default `"auto"`: the best this machine has. */
  backend?: "cpu" | "metal" | "cuda" | "vulkan" | "auto" | undefined;
  /** How many layers go to the GPU. Default: as many as fit. */
  gpuLayers?: number | "all" | undefined;
  /** In tokens. Default: what the model was trained for, up to 16,384, as far as memory goes. */
  contextLength?: number | undefined;
  /** How many prompt tokens are evaluated at once. Default: 512. */
  batchSize?: number | undefined;
  /** CPU threads. Default: one for models under 64 MB, which more would slow down, else one a core. */
  threads?: number | undefined;
  /**
   * How many sessions keep their context in memory and may generate at once; further ones take turns.
   * Each takes memory for a context of its own. Default: as many as a gigabyte holds, from 1 to 4.
   */
  sequences?: number | undefined;
  /** Where models of a hub come from. Default: huggingface.co, without a token. */
  hub?: HubSettings | undefined;
  /** Where a model's file is. Default: `resolveModel` of `@shedkit/gguf`: paths, and repositories of the hub. */
  resolve?: ModelResolver | undefined;
  /** Jinja, in place of the chat template that stands in the model's file. Default: that one, else ChatML. */
  chatTemplate?: string | undefined;
  /** What there is for a model. Default: what this machine has free when one is loaded, with its GPU. */
  machine?: Machine | undefined;
  /** Numbers in [0, 1) for the seeds of requests that name none. Default: `Math.random`. */
  random?: (() => number) | undefined;
  /** The day that chat templates may name. Default: the day on which the model is loaded. */
  today?: Date | undefined;
}

/** Finds the file of a model, and says how far it is. Throws AgenticError with a line that says what to do. */
export type ModelResolver = (
  name: string,
  options: { signal: AbortSignal; onEvent(event: ModelFetchEvent): void },
) => Promise<{ path: string; bytes: number }>;

const MOST_TOKENS = 2 ** 24; // llama.cpp takes minutes to find out that more is too much
const BOUNDS = {
  contextLength: { least: 16, most: MOST_TOKENS },
  batchSize: { least: 1, most: MOST_TOKENS },
  threads: { least: 1, most: 1024 },
  sequences: { least: 1, most: 256 },
  gpuLayers: { least: 0, most: 10_000 },
} as const;

/** Throws AgenticError `provider` (`problem: "badOption"`) that names the first number that cannot be meant. */
export function checkOptions(options: LlamaCppOptions): void {
  for (const [name, { least, most }] of Object.entries(BOUNDS)) {
    const value = options[name as keyof typeof BOUNDS];
    if (value === undefined || (name === "gpuLayers" && value === "all")) continue;
    if (typeof value === "number" && Number.isInteger(value) && value >= least && value <= most) continue;
    const wanted = `a whole number from ${least} to ${most}${name === "gpuLayers" ? ', or "all"' : ""}`;
    throw new AgenticError("provider", `${name}: wanted ${wanted}, got ${String(value)}.`, { problem: "badOption" });
  }
}
