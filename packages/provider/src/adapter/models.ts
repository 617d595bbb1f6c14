import type { Usage } from "@shedkit/types";
import type { ModelDescription, ModelPrice, TokenRates } from "../contract.js";
import type { CloudProviderConfig } from "./config.js";

/**
 * What a backend knows of models. A name stands for itself and its dated versions (`gpt-4o`: `gpt-4o-2024-08-06`, not
 * `gpt-4o-mini`); one that ends in `-` or `.` stands for every name that begins so. A name counts
 * for more than a beginning, and a long one for more than a short one.
 */
export type ModelTable = { readonly [name: string]: ModelDescription };

/** What is known of a model: the configuration over the table. */
export function knownModel(
  name: string,
  table: ModelTable,
  config: Pick<CloudProviderConfig, "models">,
): Partial<ModelDescription> | undefined {
  const own = config.models?.[name];
  const [key] = Object.keys(table)
    .filter((one) => standsFor(one, name))
    .sort((a, b) => rankOf(b) - rankOf(a));
  const known = key === undefined ? undefined : table[key];
  return own === undefined && known === undefined ? undefined : { ...known, ...own };
}

/** A model's own name tells more than a beginning that it shares with others. */
function rankOf(key: string): number {
  return /[-.]$/.test(key) ? key.length : key.length + 1000;
}

function standsFor(key: string, name: string): boolean {
  if (!name.startsWith(key)) return false;
  return name === key || /[-.]$/.test(key) || /^[-@]\d{4}/.test(name.slice(key.length));
}

/** The usage with its cost, where the price is known. */
export function priced(usage: Usage, price: ModelPrice | undefined): Usage {
  if (price === undefined) return usage;
  const { inputPerMillion, outputPerMillion, cacheReadPerMillion, cacheWritePerMillion } = ratesOf(price, usage);
  const cost =
    usage.input * inputPerMillion +
    usage.output * outputPerMillion +
    usage.cacheRead * (cacheReadPerMillion ?? inputPerMillion) +
    usage.cacheWrite * (cacheWritePerMillion ?? inputPerMillion);
  return { ...usage, costUsd: cost / 1e6 };
}

function ratesOf(price: ModelPrice, { input, cacheRead, cacheWrite }: Usage): TokenRates {
  const { longPrompt } = price;
  return longPrompt !== undefined && input + cacheRead + cacheWrite > longPrompt.aboveTokens ? longPrompt : price;
}
