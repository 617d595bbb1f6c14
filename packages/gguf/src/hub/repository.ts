import { AgenticError } from "@shedkit/types";
import { modelError } from "../error.js";
import { hubFetch, notTheHub, type Subject } from "./requests.js";
import type { Hub } from "./settings.js";

/** A file of a repository. */
export interface HubFile {
  path: string;
  bytes: number;
  checksum: Checksum;
}

/** How the content of a file is known: SHA-256 of large files, git's own hash of small ones. */
interface Checksum {
  algorithm: "sha256" | "git-sha1";
  hex: string;
}

/** A repository at one commit. */
export interface HubRepository {
  /** As its owner writes it; the hub understands any case. */
  repo: string;
  commit: string;
}

/** Asks which commit a revision is. */
export async function findRepository(
  hub: Hub,
  repo: string,
  revision: string,
  signal: AbortSignal | undefined,
): Promise<HubRepository> {
  const { modelInfo } = await import("@huggingface/hub");
  const params = {
    name: repo,
    revision,
    additionalFields: ["sha" as const],
    ...client(hub, { repo, revision }, signal),
  };
  const { name, sha } = await modelInfo(params).catch((error: unknown) => {
    throw foreign(hub, error);
  });
  if (/^[0-9a-f]{40}$/.test(sha) && /^[\w.-]+\/[\w.-]+$/.test(name) && !name.includes(".."))
    return { repo: name, commit: sha };
  throw foreign(hub, `it says about ${repo} neither a name nor a commit`);
}

/** The `.gguf` files of a commit. */
export async function listGgufFiles(
  hub: Hub,
  repository: HubRepository,
  signal: AbortSignal | undefined,
): Promise<HubFile[]> {
  return (await listRepositoryFiles(hub, repository, signal)).filter(({ path }) => /\.gguf$/i.test(path));
}

/** The files of a commit whose content is known by a checksum. */
export async function listRepositoryFiles(
  hub: Hub,
  { repo, commit }: HubRepository,
  signal: AbortSignal | undefined,
): Promise<HubFile[]> {
  const { listFiles } = await import("@huggingface/hub");
  const files: HubFile[] = [];
  const listing = listFiles({
    repo: model(repo),
    revision: commit,
    recursive: true,
    ...client(hub, { repo, revision: commit }, signal),
  });
  try {
    for await (const { type, path, size, oid, lfs } of listing) {
      if (type !== "file" || !isSafe(path)) continue;
      const checksum = checksumOf(lfs?.oid ?? oid);
      if (checksum) files.push({ path, bytes: lfs?.size ?? size, checksum });
    }
  } catch (error) {
    throw foreign(hub, error);
  }
  return files;
}

/** Where a file's bytes are, asked for at a time: it also tells whether we may have them. */
export async function fileAddress(
  hub: Hub,
  { repo, commit }: HubRepository,
  file: HubFile,
  signal: AbortSignal | undefined,
): Promise<string> {
  const { fileDownloadInfo } = await import("@huggingface/hub");
  const info = await fileDownloadInfo({
    repo: model(repo),
    path: file.path.split("/").map(encodeURIComponent).join("/"),
    revision: commit,
    ...client(hub, { repo, revision: commit }, signal),
  }).catch((error: unknown) => {
    throw foreign(hub, error);
  });
  if (!info) throw modelError("fileNotInRepo", `${repo} no longer has ${file.path}; try again.`);
  if (info.size === file.bytes) return info.url;
  throw foreign(hub, `it lists ${file.path} with ${file.bytes} bytes and serves ${info.size}`);
}

/** What the client could make nothing of is no hub's answer. */
function foreign(hub: Hub, why: unknown): AgenticError {
  if (AgenticError.is(why)) return why;
  return notTheHub(hub, why instanceof Error ? why.message : String(why), why);
}

function client(hub: Hub, subject: Subject, signal: AbortSignal | undefined) {
  return { hubUrl: hub.endpoint, fetch: hubFetch(hub, subject, signal) };
}

// A bare name would be taken for a dataset where its owner is called "datasets".
function model(name: string): { type: "model"; name: string } {
  return { type: "model", name };
}

// Paths come from whoever made the repository, and become paths in the cache.
function isSafe(path: string): boolean {
  return !path.split("/").some((part) => part === "" || part === "." || part === ".." || /[\\:\0]/.test(part));
}

function checksumOf(hex: string | undefined): Checksum | undefined {
  if (hex === undefined) return undefined;
  if (/^[0-9a-f]{64}$/.test(hex)) return { algorithm: "sha256", hex };
  return /^[0-9a-f]{40}$/.test(hex) ? { algorithm: "git-sha1", hex } : undefined;
}
