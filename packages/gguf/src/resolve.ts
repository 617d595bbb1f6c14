import { homedir } from "node:os";
import { resolve } from "node:path";
import { type HubSettings, hubOf } from "./hub/settings.js";
import { checkGgufFile } from "./local-file.js";
import type { Machine } from "./plan.js";
import { type ModelReference, parseModelReference } from "./reference.js";
import { resolveFromHub } from "./resolve-hub.js";

/** What happens while a model is being found and fetched. Bytes are of all files of the model together. */
export type ModelFetchEvent =
  /** The hub is being asked. */
  | { type: "resolving"; repo: string; revision: string }
  /** Which files it will be, and why these. */
  | {
      type: "chosen";
      repo: string;
      quantization?: string | undefined;
      files: readonly string[];
      bytes: number;
      reason: string;
    }
  /** Another process fetches the same file; this one waits for it. */
  | { type: "waiting"; file: string }
  /** `bytesDone` begins with what an earlier attempt left. */
  | { type: "downloading"; file: string; bytesDone: number; bytesTotal: number }
  /** The checksum is being computed. */
  | { type: "verifying"; file: string; bytesDone: number; bytesTotal: number };

/** A model whose files are on this machine, whole. */
export interface ResolvedModel {
  reference: ModelReference;
  /** The file to load: the first one of a split model. */
  path: string;
  /** Every file, in order. */
  files: readonly string[];
  /** Of all files together. */
  bytes: number;
  /** Of a model from a hub, where its files name one. */
  quantization?: string | undefined;
  /** Of a model from a hub: the commit the files are of. */
  commit?: string | undefined;
  /** Where the files come from: named by path, already in the cache, or downloaded just now. */
  source: "file" | "cache" | "download";
  /** Why these files, in one sentence for people. */
  reason: string;
}

/** How a model is found. */
export interface ResolveModelOptions {
  /** Where and how to ask; see {@link hubSettingsFromEnv}. Default: huggingface.co, no token, the shared cache. */
  hub?: HubSettings | undefined;
  /** Wins over a quantization in the reference. */
  quantization?: string | undefined;
  /**
   * What the model is to run on. Where no quantization is named, a smaller one than Q4_K_M is fetched if that does not
   * fit. Default: nobody looks.
   */
  machine?: Machine | undefined;
  /** In tokens: the context that has to fit with it. Default: as {@link planModel}'s. */
  contextLength?: number | undefined;
  onEvent?: ((event: ModelFetchEvent) => void) | undefined;
  signal?: AbortSignal | undefined;
  /** Asks the hub although the cache has the model, in case a newer one was uploaded. Default: false. */
  refresh?: boolean | undefined;
  /** What `~` stands for, and where the shared cache is. Default: the user's home folder. */
  home?: string | undefined;
}

/**
 * From the name of a model to files on this machine: a path is looked at (see {@link checkGgufFile}), a repository is
 * looked for in the cache and else downloaded. What the cache has is used without asking the hub. Throws AgenticError
 * `provider`, `auth` or `cancelled`, whose text is one line that says what was wrong and what to do.
 */
export async function resolveModel(
  reference: string | ModelReference,
  options: ResolveModelOptions = {},
): Promise<ResolvedModel> {
  const parsed = typeof reference === "string" ? parseModelReference(reference) : reference;
  const home = options.home ?? homedir();
  if (parsed.type === "hub") return resolveFromHub(parsed, hubOf(options.hub, home), options);
  const given = resolve(parsed.path.replace(/^~(?=$|[\\/])/, () => home));
  const { path, files, bytes } = await checkGgufFile(given, { signal: options.signal });
  return { reference: parsed, path, files, bytes, source: "file", reason: "It was named by its path." };
}
