import type { ModelDescription } from "@shedkit/provider";
import type { ModelTable } from "@shedkit/provider/adapter";

function model(maxOutput: number): ModelDescription {
  return { contextWindow: 200_000, maxOutput, input: ["text", "image", "file"], tools: true };
}

/** What Claude models take at least. */
export const claudeModels: ModelTable = {
  "claude-": model(32_000),
  "claude-opus-4-5": model(64_000),
  "claude-sonnet-4": model(64_000),
  "claude-sonnet-4-": model(64_000),
  "claude-haiku-4-5": model(64_000),
  "claude-3-5-haiku": model(8192),
  "claude-3-7-sonnet": model(64_000),
};

/** What a model can do that not every model can. */
export interface Abilities {
  /** Tools that are declared without being shown, and shown by a reference in a result. */
  deferral: boolean;
  /** System messages behind the user's. */
  midSystem: boolean;
  /** Thinking whose length the model chooses. Without it: by a budget of tokens. */
  adaptiveThinking: boolean;
  /** An answer that keeps to a schema. */
  outputFormat: boolean;
}

/** By name; a name that says nothing is taken for a newer model. What a server refuses is learned besides. */
export function abilitiesOf(name: string): Abilities {
  const old = /claude-(2|3|instant)/.test(name);
  const four = /claude-(opus|sonnet|haiku)-4(?:-(\d)(?!\d))?(?:-|$)/.exec(name);
  const minor = four === null ? undefined : Number(four[2] ?? 0);
  const newest = /claude-(fable-5|mythos-5|opus-(4-8|5)|sonnet-5-5|haiku-5-5)/.test(name);
  return {
    deferral: !old,
    midSystem: newest,
    adaptiveThinking: !old && (minor === undefined || minor >= 6),
    outputFormat: !old && (minor === undefined || minor >= 5),
  };
}
