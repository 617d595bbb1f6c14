import type { ModelDescription, TokenRates } from "@shedkit/provider";
import type { ModelTable } from "@shedkit/provider/adapter";

/** The day on which the pages below were read. */
const AS_OF = "2026-11-30";

const K200 = 200_000;
const M1 = 1_000_000;

function model(contextWindow: number, maxOutput: number, rates?: TokenRates): ModelDescription {
  const price = rates && { ...rates, asOf: AS_OF };
  return { contextWindow, maxOutput, input: ["text", "image", "file"], tools: true, ...(price && { price }) };
}

/** Dollars for a million tokens: input, output, a read from the cache, a write to it for five minutes. */
function rates(
  inputPerMillion: number,
  outputPerMillion: number,
  cacheReadPerMillion: number,
  cacheWritePerMillion: number,
): TokenRates {
  return { inputPerMillion, outputPerMillion, cacheReadPerMillion, cacheWritePerMillion };
}

const FABLE_5 = rates(10, 50, 1, 12.5);
const OPUS = rates(5, 25, 0.5, 6.25);
const OPUS_OLD = rates(15, 75, 1.5, 18.75);
const SONNET = rates(3, 15, 0.3, 3.75);

/**
 * What Claude models take, and what the API charges for them. Windows, limits of output and rates of the models since
 * 4.6: https://platform.claude.com/docs/en/models/opus-5-5/overview and its neighbours, one page a model. Other rates:
 * https://platform.claude.com/docs/en/about-claude/pricing. Where no page said a window, it is the least that Claude
 * models have (of Opus 4.7 and Fable 5.2 those of the clouds that host them, which agree, say it); where none said every
 * rate (Haiku 5.5, Fable 5.2), there is no price.
 */
export const claudeModels: ModelTable = {
  "claude-": model(K200, 32_000),
  "claude-fable-5-2": model(M1, 128_000),
  "claude-fable-5-1": model(M1, 128_000, rates(10, 50, 0.25, 12.5)),
  "claude-fable-5": model(M1, 128_000, FABLE_5),
  "claude-mythos-5": model(M1, 128_000, FABLE_5),
  "claude-opus-5-5": model(M1, 128_000, rates(4, 20, 0.2, 5)),
  "claude-opus-5": model(M1, 128_000, OPUS),
  "claude-opus-4-8": model(M1, 128_000, OPUS),
  "claude-opus-4-7": model(M1, 128_000, OPUS),
  "claude-opus-4-6": model(M1, 128_000, OPUS),
  "claude-opus-4-5": model(K200, 64_000, OPUS),
  "claude-opus-4-1": model(K200, 32_000, OPUS_OLD),
  "claude-opus-4": model(K200, 32_000, OPUS_OLD),
  "claude-sonnet-5-5": model(M1, 128_000, rates(2, 10, 0.2, 2.5)),
  "claude-sonnet-5": model(M1, 128_000, rates(2, 10, 0.2, 2.5)),
  "claude-sonnet-4-6": model(M1, 128_000, SONNET),
  "claude-sonnet-4-5": model(K200, 64_000, SONNET),
  "claude-sonnet-4": model(K200, 64_000, SONNET),
  "claude-haiku-5-5": model(M1, 128_000),
  "claude-haiku-4-5": model(K200, 64_000, rates(1, 5, 0.1, 1.25)),
  "claude-3-7-sonnet": model(K200, 64_000, SONNET),
  "claude-3-5-haiku": model(K200, 8192, rates(0.8, 4, 0.08, 1)),
};

/** What a model can do that not every model can. */
export interface Abilities {
  /** Tools that are declared without being shown, and shown by a reference in a result. */
  deferral: boolean;
  /** System messages behind the user's. */
  midSystem: boolean;
  /** Thinking whose length the model chooses. Without it: by a budget of tokens. */
  adaptiveThinking: boolean;
  /** Not to think. */
  noThinking: boolean;
  /** To say whether thinking is shown. */
  display: boolean;
  /** A choice of tools that forces a call. */
  forcedCalls: boolean;
  /** An answer that keeps to a schema. */
  outputFormat: boolean;
  /** Calls in a conversation that declares no tools. */
  undeclaredCalls: boolean;
  /** Images and files. */
  media: boolean;
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
    // https://platform.claude.com/docs/en/models/opus-5-5/overview: these think always, and take no forced call.
    noThinking: !/claude-(fable-5|mythos-5|opus-5-5)/.test(name),
    forcedCalls: !/claude-(fable-5-|mythos-5-|opus-5-5|sonnet-5-5)/.test(name),
    display: true,
    outputFormat: !old && (minor === undefined || minor >= 5),
    undeclaredCalls: true,
    media: true,
  };
}
