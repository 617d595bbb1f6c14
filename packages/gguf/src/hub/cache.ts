import { randomUUID } from "node:crypto";
import {
  copyFile,
  link,
  mkdir,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  symlink,
  unlink,
  writeFile,
} from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { AgenticError } from "@shedkit/types";
import { modelError, systemCode } from "../error.js";
import type { HubRepository } from "./repository.js";

/** A file of a commit that is in the cache. */
export interface CachedFile {
  /** In the repository. */
  path: string;
  bytes: number;
  /** On this machine. */
  location: string;
}

/** What the cache holds of a revision. */
export interface CachedRevision extends HubRepository {
  files: readonly CachedFile[];
  /** On this machine. */
  snapshot: string;
}

/** The folder of a repository: `blobs/` by checksum, `snapshots/<commit>/` with links to them, `refs/<revision>`. */
export function repositoryFolder(cacheDir: string, repo: string): string {
  return join(cacheDir, folderName(repo));
}

/** The name of a repository's folder. */
export function folderName(repo: string): string {
  return `models--${repo.replace("/", "--")}`;
}

/**
 * What is in the cache of a repository at a revision, of the files that `wanted` matches; undefined where it has
 * nothing. Asks no network.
 */
export async function findCached(
  cacheDir: string,
  repo: string,
  revision: string,
  wanted = /\.gguf$/i,
): Promise<CachedRevision | undefined> {
  const folder = (await names(cacheDir)).find((name) => name.toLowerCase() === folderName(repo).toLowerCase());
  if (folder === undefined) return undefined;
  const root = join(cacheDir, folder);
  const commit = await cachedCommit(root, revision);
  if (commit === undefined) return undefined;
  const snapshot = join(root, "snapshots", commit);
  const files: CachedFile[] = [];
  for (const entry of await readdir(snapshot, { recursive: true }).catch(() => [])) {
    if (!wanted.test(entry)) continue;
    const location = join(snapshot, entry);
    const found = await stat(location).catch(() => undefined); // a link to a blob that was deleted
    if (found?.isFile()) files.push({ path: entry.replaceAll("\\", "/"), bytes: found.size, location });
  }
  return { repo: folder.slice("models--".length).replace("--", "/"), commit, files, snapshot };
}

/** The names in the cache folder: none where there is no such folder. Throws where it is something else. */
async function names(cacheDir: string): Promise<string[]> {
  try {
    return await readdir(cacheDir);
  } catch (error) {
    if (systemCode(error) === "ENOENT") return [];
    throw cacheError(cacheDir, error);
  }
}

async function cachedCommit(root: string, revision: string): Promise<string | undefined> {
  if (/^[0-9a-f]{40}$/.test(revision)) return revision;
  const ref = await readFile(join(root, "refs", revision), "utf8").catch(() => "");
  if (ref.trim() !== "") return ref.trim();
  if (revision !== "main") return undefined;
  // Some tools write no refs: the newest snapshot is what `main` was when it was fetched.
  let newest: { commit: string; at: number } | undefined;
  for (const commit of await readdir(join(root, "snapshots")).catch(() => [])) {
    const at = (await stat(join(root, "snapshots", commit))).mtimeMs;
    if (!newest || at > newest.at) newest = { commit, at };
  }
  return newest?.commit;
}

/** Makes a folder of the cache. */
export async function makeCacheFolder(cacheDir: string, folder: string): Promise<void> {
  try {
    await makeFolder(folder);
  } catch (error) {
    throw cacheError(cacheDir, error);
  }
}

/** Step by step: Node's own recursive mkdir never returns where a folder refuses new ones with ENOENT, as /proc does. */
async function makeFolder(folder: string): Promise<void> {
  const missing: string[] = [];
  for (let at = folder; !(await isFolder(at)); at = dirname(at)) {
    missing.unshift(at);
    if (at === dirname(at)) break;
  }
  for (const path of missing) {
    try {
      await mkdir(path);
    } catch (error) {
      if (!(await isFolder(path))) throw error; // else somebody was faster
    }
  }
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() ?? false;
}

/** Makes `snapshots/<commit>/<path>` stand for a blob, and returns it. */
export async function linkIntoSnapshot(
  cacheDir: string,
  { repo, commit }: HubRepository,
  path: string,
  blob: string,
): Promise<string> {
  const location = join(repositoryFolder(cacheDir, repo), "snapshots", commit, ...path.split("/"));
  await makeCacheFolder(cacheDir, dirname(location));
  const stands = await realpath(location).catch(() => undefined);
  if (stands !== undefined && stands === (await realpath(blob))) return location;
  // Made beside and renamed over, so that the name always stands for a whole file.
  const fresh = `${location}.${randomUUID()}.link`; // others of this process may be at the same one
  try {
    await rm(fresh, { force: true });
    await symlink(relative(dirname(location), blob), fresh)
      .catch(() => link(blob, fresh)) // Windows lets few users make symbolic links
      .catch(() => copyFile(blob, fresh));
    await rename(fresh, location);
  } catch (error) {
    await unlink(fresh).catch(() => undefined);
    throw cacheError(cacheDir, error);
  }
  return location;
}

/** Notes which commit a branch or tag was. */
export async function writeRef(cacheDir: string, { repo, commit }: HubRepository, revision: string): Promise<void> {
  if (revision === commit) return;
  const ref = join(repositoryFolder(cacheDir, repo), "refs", ...revision.split("/"));
  await makeCacheFolder(cacheDir, dirname(ref));
  try {
    const fresh = `${ref}.${randomUUID()}.new`;
    await writeFile(fresh, commit);
    await rename(fresh, ref);
  } catch (error) {
    throw cacheError(cacheDir, error);
  }
}

/** An error of the file system under the cache folder, as one clear line. */
export function cacheError(cacheDir: string, error: unknown): unknown {
  const code = AgenticError.is(error) ? undefined : systemCode(error);
  if (code === undefined) return error;
  if (code === "ENOSPC" || code === "EDQUOT") {
    return modelError(
      "diskFull",
      `The disk of the cache folder ${cacheDir} is full. Make room and try again: what has arrived is kept.`,
      { cause: error },
    );
  }
  const why =
    code === "ENOTDIR" || code === "EEXIST"
      ? `${(error as { path?: string }).path ?? cacheDir} is in the way: it is a file, or lies under one`
      : code === "EACCES" || code === "EPERM" || code === "EROFS"
        ? `it may not be written (${code})`
        : `it cannot be used (${code})`;
  return modelError(
    "cacheNotWritable",
    `The cache folder ${cacheDir} does not work: ${why}. Name another folder, for example with HF_HUB_CACHE in the environment.`,
    { cause: error },
  );
}
