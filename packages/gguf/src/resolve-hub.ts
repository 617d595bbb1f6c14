import { AgenticError } from "@shedkit/types";
import { modelError, throwIfAborted } from "./error.js";
import { type CachedFile, type CachedRevision, findCached, writeRef } from "./hub/cache.js";
import { chooseForMachine } from "./hub/choose-for-machine.js";
import { isInCache, removeFromCache } from "./hub/download.js";
import { downloadAll } from "./hub/download-all.js";
import { findRepository, type HubFile, type HubRepository, listGgufFiles } from "./hub/repository.js";
import type { Hub } from "./hub/settings.js";
import { checkGgufFile } from "./local-file.js";
import { DEFAULT_QUANTIZATION, knownQuantization } from "./quantization.js";
import type { ModelReference } from "./reference.js";
import type { ResolvedModel, ResolveModelOptions } from "./resolve.js";
import { type ChosenVariant, chooseVariant, type ModelVariant, modelVariants, type VariantWish } from "./variants.js";

type HubReference = Extract<ModelReference, { type: "hub" }>;

/** A repository's model: from the cache, or fetched into it. */
export async function resolveFromHub(
  reference: HubReference,
  hub: Hub,
  options: ResolveModelOptions,
): Promise<ResolvedModel> {
  const { repo, revision = "main", file } = reference;
  const { quantization = reference.quantization } = options;
  const wish: VariantWish = {
    file,
    quantization: quantization === undefined ? undefined : knownQuantization(quantization),
  };
  throwIfAborted(options.signal, `Looking for ${repo} was stopped.`);
  const cached = await findCached(hub.cacheDir, repo, revision);
  if (hub.offline) return fromCacheOnly(reference, hub, cached, wish);
  if (cached && !options.refresh) {
    const ready = await fromCache(reference, cached, wish);
    if (ready) return ready;
  }
  let found: { repository: HubRepository; chosen: ChosenVariant<HubFile> };
  try {
    options.onEvent?.({ type: "resolving", repo, revision });
    const repository = await findRepository(hub, repo, revision, options.signal);
    const files = await listGgufFiles(hub, repository, options.signal);
    const variants = modelVariants(files);
    const chosen = chooseVariant(repository.repo, variants, wish);
    found = { repository, chosen: await forMachine(hub, repository, variants, chosen, wish, options) };
  } catch (error) {
    // Without a network, something near to what was asked for is better than nothing.
    if (cached && AgenticError.is(error, "provider") && error.details.problem === "unreachable") {
      const { reason, ...rest } = await fromCacheOnly(reference, hub, cached, wish).catch(() => {
        throw error;
      });
      return { ...rest, reason: `${reason} (${hub.host} could not be reached; this was in the cache.)` };
    }
    throw error;
  }
  return fetchVariant(reference, hub, found.repository, found.chosen, options);
}

async function forMachine(
  hub: Hub,
  repository: HubRepository,
  variants: readonly ModelVariant<HubFile>[],
  usual: ChosenVariant<HubFile>,
  wish: VariantWish,
  { machine, contextLength, signal }: ResolveModelOptions,
): Promise<ChosenVariant<HubFile>> {
  if (machine === undefined || wish.file !== undefined || wish.quantization !== undefined) return usual;
  const isHere = async ({ files }: ModelVariant<HubFile>) => {
    const found = await Promise.all(files.map((file) => isInCache(hub, repository, file)));
    return found.every(Boolean);
  };
  return chooseForMachine(hub, repository, variants, usual, { machine, contextLength, isHere }, signal);
}

/** What the cache has, if it is what the wish would choose from the hub as well. */
async function fromCache(
  reference: HubReference,
  cached: CachedRevision,
  wish: VariantWish,
): Promise<ResolvedModel | undefined> {
  try {
    const chosen = chooseVariant(cached.repo, modelVariants(cached.files), wish);
    const named = wish.file !== undefined || wish.quantization !== undefined;
    const isUsual = chosen.variant.quantization?.replace(/^UD-/, "") === DEFAULT_QUANTIZATION;
    return named || isUsual ? await ready(reference, cached, chosen) : undefined;
  } catch {
    return undefined; // not there, or damaged: the hub has it
  }
}

async function fromCacheOnly(
  reference: HubReference,
  hub: Hub,
  cached: CachedRevision | undefined,
  wish: VariantWish,
): Promise<ResolvedModel> {
  const variants = modelVariants(cached?.files ?? []);
  if (!cached || variants.length === 0) {
    throw modelError(
      "offline",
      `${reference.repo} is not in the cache ${hub.cacheDir}, and nothing is fetched offline (HF_HUB_OFFLINE). Go online once, or give the path of a .gguf file.`,
    );
  }
  return ready(reference, cached, chooseVariant(`the cache of ${cached.repo}`, variants, wish));
}

async function ready(
  reference: HubReference,
  cached: CachedRevision,
  { variant, reason }: ChosenVariant<CachedFile>,
): Promise<ResolvedModel> {
  const [path = ""] = variant.files.map(({ location }) => location);
  const { files, bytes } = await checkGgufFile(path); // another tool may have put it there
  return { ...describe(reference, cached, variant, reason), path, files, bytes, source: "cache" };
}

async function fetchVariant(
  reference: HubReference,
  hub: Hub,
  repository: HubRepository,
  { variant, reason }: ChosenVariant<HubFile>,
  options: ResolveModelOptions,
): Promise<ResolvedModel> {
  const { onEvent, signal } = options;
  const { repo } = repository;
  const { files: wanted, bytes, quantization } = variant;
  onEvent?.({ type: "chosen", repo, quantization, files: wanted.map(({ path }) => path), bytes, reason });
  const { files, source } = await downloadAll(hub, repository, wanted, onEvent, signal);
  await writeRef(hub.cacheDir, repository, reference.revision ?? "main");
  const [path = ""] = files;
  try {
    await checkGgufFile(path, { signal });
  } catch (error) {
    if (source === "download" || signal?.aborted) throw error;
    // Damaged on the disk since it was fetched, though its size is right.
    for (const file of wanted) await removeFromCache(hub, repository, file);
    return fetchVariant(reference, hub, repository, { variant, reason }, options);
  }
  return { ...describe(reference, repository, variant, reason), path, files, bytes, source };
}

function describe(
  reference: HubReference,
  { commit }: HubRepository,
  { quantization }: ModelVariant,
  reason: string,
): Pick<ResolvedModel, "reference" | "commit" | "quantization" | "reason"> {
  return { reference, commit, quantization, reason };
}
