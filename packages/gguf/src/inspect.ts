import { stat } from "node:fs/promises";
import { homedir } from "node:os";
import { resolve } from "node:path";
import type { GgufHeader } from "./header.js";
import { readHubHeaders } from "./hub/read-headers.js";
import { findRepository, listGgufFiles } from "./hub/repository.js";
import { hubOf } from "./hub/settings.js";
import { checkGgufFile } from "./local-file.js";
import { knownQuantization, quantizationOfFile } from "./quantization.js";
import { type ModelReference, parseModelReference } from "./reference.js";
import type { ResolveModelOptions } from "./resolve.js";
import { chooseVariant, type ModelVariant, modelVariants } from "./variants.js";

/** What is known of a model without fetching it. */
export interface ModelInspection {
  reference: ModelReference;
  /** All that the repository has, the largest first; of a path, that one. */
  variants: readonly ModelVariant[];
  /** The one that {@link resolveModel} would take. */
  chosen: ModelVariant;
  reason: string;
  /** Of every file of the chosen one, in order. */
  headers: readonly GgufHeader[];
}

/**
 * Looks at a model without fetching it: what there is, and the headers, by requests for ranges. With
 * {@link planModel} it tells what to fetch for this machine. Throws as {@link resolveModel} does.
 */
export async function inspectModel(
  reference: string | ModelReference,
  options: Omit<ResolveModelOptions, "onEvent" | "refresh"> = {},
): Promise<ModelInspection> {
  const parsed = typeof reference === "string" ? parseModelReference(reference) : reference;
  const { signal, home = homedir() } = options;
  if (parsed.type === "file") {
    const given = resolve(parsed.path.replace(/^~(?=$|[\\/])/, () => home));
    const { files, bytes, headers } = await checkGgufFile(given, { signal });
    const sized = await inOrder(files, async (path) => ({ path, bytes: (await stat(path)).size }));
    const chosen = { quantization: quantizationOfFile(given), files: sized, bytes };
    return { reference: parsed, variants: [chosen], chosen, reason: "It was named by its path.", headers };
  }
  const wanted = options.quantization ?? parsed.quantization;
  const quantization = wanted === undefined ? undefined : knownQuantization(wanted);
  const hub = hubOf(options.hub, home);
  const repository = await findRepository(hub, parsed.repo, parsed.revision ?? "main", signal);
  const variants = modelVariants(await listGgufFiles(hub, repository, signal));
  const { variant: chosen, reason } = chooseVariant(repository.repo, variants, { file: parsed.file, quantization });
  const headers = await readHubHeaders(hub, repository, chosen.files, signal);
  return { reference: parsed, variants, chosen, reason, headers };
}

async function inOrder<T, R>(items: readonly T[], read: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (const item of items) results.push(await read(item));
  return results;
}
