import type { FileStat, FileSystem } from "@shedkit/fs";
import { type Resource, resource, type ToolContext } from "@shedkit/tool";

/** A file as an agent last saw it. */
export interface Seen {
  version: string;
  /** Of the whole content, where that was looked at. */
  fingerprint?: string | undefined;
}

/** What an agent has seen of a file system, by canonical path. */
export type SeenFiles = Map<string, Seen>;

/** One per session: what the agent saw, by file system. */
const SEEN: Resource<WeakMap<FileSystem, SeenFiles>> = resource("files seen");

// Tools that are called without a session share what was seen through the file system object.
const withoutSession = new WeakMap<FileSystem, SeenFiles>();

/** What this agent has seen. Calls with neither session nor kept resources count as one agent per file system object. */
export function seenFiles(fs: FileSystem, ctx: ToolContext): SeenFiles {
  const kept = ctx.resources.get(SEEN);
  const byFs =
    kept ?? (ctx.sessionId === undefined ? withoutSession : ctx.resources.getOrDefault(SEEN, () => new WeakMap()));
  const known = byFs.get(fs);
  if (known) return known;
  const files: SeenFiles = new Map();
  byFs.set(fs, files);
  return files;
}

/**
 * Whether a file is what the agent saw, or was never seen. `fingerprintNow` is asked where the version alone does not
 * tell: versions also change where content does not, and a very quick change may leave the version.
 */
export async function isFresh(
  seen: Seen | undefined,
  now: FileStat,
  fingerprintNow: () => string | undefined | Promise<string | undefined>,
): Promise<boolean> {
  if (!seen) return true;
  if (seen.fingerprint === undefined) return seen.version === now.version;
  return seen.fingerprint === (await fingerprintNow());
}
