import type { Usage } from "@shedkit/types";
import type { ModelDescription, ModelPrice } from "../contract.js";
import type { CloudProviderConfig } from "./config.js";

/**
 * What a backend knows of models. A name stands for itself and its dated versions (`gpt-4o`: `gpt-4o-2024-08-06`, not
 * `gpt-4o-mini`); one that ends in `-` or `.` stands for every name that begins so. The longest that fits counts.
 */
export type ModelTable = { readonly [name: string]: ModelDescription };

/** What is known of a model: the configuration over the table. */
export function knownModel(
  name: string,
  table: ModelTable,
  config: Pick<CloudProviderConfig, "models">,
): Partial<ModelDescription> | undefined {
  const own = config.models?.[name];
  const key = Object.keys(table)
    .filter((one) => standsFor(one, name))
    .reduce((longest, one) => (one.length > longest.length ? one : longest), "");
  const known = key === "" ? undefined : table[key];
  return own === undefined && known === undefined ? undefined : { ...known, ...own };
}

function standsFor(key: string, name: string): boolean {
  if (!name.startsWith(key)) return false;
  return name === key || /[-.]$/.test(key) || /^[-@]\d/.test(name.slice(key.length));
}

/** The usage with its cost, where the price is known. */
export function priced(usage: Usage, price: ModelPrice | undefined): Usage {
  if (price === undefined) return usage;
  const { inputPerMillion, outputPerMillion } = price;
  const cost =
    usage.input * inputPerMillion +
    usage.output * outputPerMillion +
    usage.cacheRead * (price.cacheReadPerMillion ?? inputPerMillion) +
    usage.cacheWrite * (price.cacheWritePerMillion ?? inputPerMillion);
  return { ...usage, costUsd: cost / 1e6 };
}
