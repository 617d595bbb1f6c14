import { homedir } from "node:os";
import { dirname, resolve } from "node:path";
import { AgenticError } from "@shedkit/types";
import { modelError, throwIfAborted } from "./error.js";
import { findCached, writeRef } from "./hub/cache.js";
import { downloadAll } from "./hub/download-all.js";
import { findRepository, type HubFile, type HubRepository, listRepositoryFiles } from "./hub/repository.js";
import { type HubSettings, hubOf } from "./hub/settings.js";
import type { ModelFetchEvent } from "./resolve.js";

/** How files of a repository are found. */
export interface RepositoryFilesOptions {
  /** A branch, a tag or a commit. Default: `main`. */
  revision?: string | undefined;
  /** Which of the files are wanted, by path. What it throws is thrown on. */
  choose(files: readonly { path: string; bytes: number }[]): readonly string[];
  /** Where and how to ask. Default: huggingface.co, no token, the shared cache. */
  hub?: HubSettings | undefined;
  onEvent?: ((event: ModelFetchEvent) => void) | undefined;
  signal?: AbortSignal | undefined;
  /** Where the shared cache is. Default: the user's home folder. */
  home?: string | undefined;
}

/** Files of a repository on this machine, whole. */
export interface RepositoryFiles {
  /** Holds the files under their paths in the repository. */
  folder: string;
  /** In the repository, in the order in which they were chosen. */
  paths: readonly string[];
  /** Of all of them together. */
  bytes: number;
  commit: string;
}

/**
 * Files of a hub's repository that are no GGUF model, in the same cache and fetched the same way: resumed, checked, once
 * for all processes. The hub is asked what there is; where it cannot be reached, or offline, the cache has to do.
 * Throws as `resolveModel` does.
 */
export async function fetchRepositoryFiles(repo: string, options: RepositoryFilesOptions): Promise<RepositoryFiles> {
  const { revision = "main", onEvent, signal } = options;
  const hub = hubOf(options.hub, options.home ?? homedir());
  throwIfAborted(signal, `Looking for ${repo} was stopped.`);
  if (hub.offline) return fromCache(hub.cacheDir, repo, revision, options);
  let repository: HubRepository;
  let files: HubFile[];
  try {
    onEvent?.({ type: "resolving", repo, revision });
    repository = await findRepository(hub, repo, revision, signal);
    files = await listRepositoryFiles(hub, repository, signal);
  } catch (error) {
    if (!AgenticError.is(error, "provider") || error.details.problem !== "unreachable") throw error;
    return fromCache(hub.cacheDir, repo, revision, options).catch(() => {
      throw error;
    });
  }
  const paths = options.choose(files);
  const wanted = paths.flatMap((path) => files.filter((file) => file.path === path));
  const { files: locations } = await downloadAll(hub, repository, wanted, onEvent, signal);
  await writeRef(hub.cacheDir, repository, revision);
  const folder = folderOf(paths[0], locations[0]);
  return { folder, paths, bytes: wanted.reduce((sum, file) => sum + file.bytes, 0), commit: repository.commit };
}

async function fromCache(
  cacheDir: string,
  repo: string,
  revision: string,
  options: RepositoryFilesOptions,
): Promise<RepositoryFiles> {
  const cached = await findCached(cacheDir, repo, revision, /(?:)/);
  if (!cached || cached.files.length === 0) {
    throw modelError(
      "offline",
      `${repo} is not in the cache ${cacheDir}, and nothing is fetched offline (HF_HUB_OFFLINE). Go online once, or give the path of a folder.`,
    );
  }
  const paths = options.choose(cached.files);
  const bytes = cached.files.reduce((sum, file) => sum + (paths.includes(file.path) ? file.bytes : 0), 0);
  return { folder: cached.snapshot, paths, bytes, commit: cached.commit };
}

/** The folder under which a file has its path. */
function folderOf(path = "", location = ""): string {
  return path.split("/").reduce((folder) => dirname(folder), resolve(location));
}
