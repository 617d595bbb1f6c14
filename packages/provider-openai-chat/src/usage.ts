import type { Usage } from "@shedkit/types";
import type { WireUsage } from "./wire.js";

/** Usage as the wire counts it, in our parts: cached tokens apart from the input, reasoning within the output. */
export function readUsage(wire: WireUsage): Partial<Usage> {
  const prompt = wire.prompt_tokens ?? 0;
  const completion = wire.completion_tokens ?? 0;
  const details = wire.prompt_tokens_details;
  const cacheRead = details?.cached_tokens ?? wire.prompt_cache_hit_tokens ?? wire.cached_tokens ?? 0;
  const cacheWrite = details?.cache_write_tokens ?? 0;
  const reasoning = wire.completion_tokens_details?.reasoning_tokens ?? 0;
  // xAI counts reasoning beside the completion; its total tells.
  const apart = reasoning > 0 && wire.total_tokens === prompt + completion + reasoning;
  return {
    input: Math.max(0, prompt - cacheRead - cacheWrite),
    output: apart ? completion + reasoning : completion,
    cacheRead,
    cacheWrite,
    reasoning,
  };
}
