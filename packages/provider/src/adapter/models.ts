import type { Usage } from "@shedkit/types";
import type { ModelDescription, ModelPrice } from "../contract.js";
import type { CloudProviderConfig } from "./config.js";

/** What a backend knows of models, by the beginning of their names; the longest that fits counts. */
export type ModelTable = { readonly [prefix: string]: ModelDescription };

/** What is known of a model: the configuration over the table. */
export function knownModel(
  name: string,
  table: ModelTable,
  config: Pick<CloudProviderConfig, "models">,
): Partial<ModelDescription> | undefined {
  const own = config.models?.[name];
  const prefix = Object.keys(table)
    .filter((key) => name.startsWith(key))
    .reduce((longest, key) => (key.length > longest.length ? key : longest), "");
  const known = prefix === "" ? undefined : table[prefix];
  return own === undefined && known === undefined ? undefined : { ...known, ...own };
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
