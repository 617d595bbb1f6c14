import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { open, rename, rm, stat, statfs } from "node:fs/promises";
import { join } from "node:path";
import { AgenticError } from "@shedkit/types";
import { cancelled, modelError, throwIfAborted } from "../error.js";
import { whatItIs } from "../file-kind.js";
import { cacheError, folderName, linkIntoSnapshot, makeCacheFolder, repositoryFolder } from "./cache.js";
import { withLock } from "./lock.js";
import { defaultPartBytes, dropPartialFile, openPartialFile, type Part, type PartialFile, size } from "./parts.js";
import { fetchRange } from "./range.js";
import { fileAddress, type HubFile, type HubRepository } from "./repository.js";
import { backOff } from "./requests.js";
import type { Hub } from "./settings.js";

/** What a download tells of itself. Bytes are of this file alone. */
export interface DownloadEvents {
  waiting(): void;
  downloading(bytesDone: number): void;
  verifying(bytesDone: number): void;
}

const STOPPED = "The download was stopped; what has arrived is kept, and the next attempt goes on from there.";
/** Tries of a part in which nothing new came. */
const PART_ATTEMPTS = 6;

/**
 * Brings one file into the cache, and returns where it lies. A blob that is there already is used; what another attempt
 * left is gone on with; two processes fetch once. The file gets its name when its checksum is right, not before.
 * There must be room for `later` bytes more, of the model's other files.
 */
export async function downloadToCache(
  hub: Hub,
  repository: HubRepository,
  file: HubFile,
  later: number,
  events: DownloadEvents,
  signal: AbortSignal | undefined,
): Promise<{ location: string; fetched: boolean }> {
  const { cacheDir } = hub;
  const blobs = blobFolder(hub, repository);
  const blob = join(blobs, file.checksum.hex);
  let fetched = false;
  if (!(await isWhole(blob, file))) {
    throwIfAborted(signal, STOPPED);
    const lock = join(cacheDir, ".locks", folderName(repository.repo), `${file.checksum.hex}.fetching`);
    await withLock(lock, { cacheDir, signal, onWait: () => events.waiting() }, async () => {
      if (await isWhole(blob, file)) return; // somebody else has fetched it meanwhile
      await makeCacheFolder(cacheDir, blobs);
      await fetchBlob(hub, repository, file, blob, later, events, signal);
      fetched = true;
    });
  }
  return { location: await linkIntoSnapshot(cacheDir, repository, file.path, blob), fetched };
}

/** Whether a file is in the cache. */
export function isInCache(hub: Hub, repository: HubRepository, file: HubFile): Promise<boolean> {
  return isWhole(join(blobFolder(hub, repository), file.checksum.hex), file);
}

/** Takes a file out of the cache, that it be fetched anew. */
export async function removeFromCache(hub: Hub, repository: HubRepository, file: HubFile): Promise<void> {
  await rm(join(blobFolder(hub, repository), file.checksum.hex), { force: true }).catch((error: unknown) => {
    throw cacheError(hub.cacheDir, error);
  });
}

function blobFolder(hub: Hub, { repo }: HubRepository): string {
  return join(repositoryFolder(hub.cacheDir, repo), "blobs");
}

async function isWhole(blob: string, file: HubFile): Promise<boolean> {
  const found = await stat(blob).catch(() => undefined);
  return found?.isFile() === true && found.size === file.bytes;
}

async function fetchBlob(
  hub: Hub,
  repository: HubRepository,
  file: HubFile,
  blob: string,
  later: number,
  events: DownloadEvents,
  signal: AbortSignal | undefined,
): Promise<void> {
  // Names of our own: other tools take a file `<blob>.incomplete` for a beginning without holes.
  const paths = { data: `${blob}.shedkit.incomplete`, journal: `${blob}.shedkit.parts` };
  const url = await fileAddress(hub, repository, file, signal);
  try {
    const partial = await openPartialFile(paths, {
      bytes: file.bytes,
      partBytes: hub.transfer.partBytes ?? defaultPartBytes(file.bytes),
      checkRoom: (missing) => checkRoom(hub.cacheDir, missing + later),
    });
    try {
      await fetchParts(hub, repository, file, url, partial, events, signal);
    } finally {
      await partial.close();
    }
    await verify(repository, file, paths.data, events, signal);
    await rename(paths.data, blob);
    await dropPartialFile(paths);
  } catch (error) {
    if (AgenticError.is(error, "provider") && DAMAGED.has(error.details.problem ?? "")) await dropPartialFile(paths);
    throw cacheError(hub.cacheDir, error);
  }
}

async function checkRoom(cacheDir: string, needed: number): Promise<void> {
  const { bavail, bsize } = await statfs(cacheDir);
  const free = bavail * bsize;
  if (needed <= free) return;
  throw modelError(
    "diskFull",
    `${cacheDir} has room for ${size(free)}, and ${size(needed)} are still to be fetched. Make room, or name another cache folder (cacheDir, HF_HUB_CACHE).`,
  );
}

/** After these the bytes are worth nothing. */
const DAMAGED = new Set(["checksum", "notGguf"]);

async function fetchParts(
  hub: Hub,
  repository: HubRepository,
  file: HubFile,
  url: string,
  partial: PartialFile,
  events: DownloadEvents,
  signal: AbortSignal | undefined,
): Promise<void> {
  const failed = new AbortController();
  const both = signal ? AbortSignal.any([signal, failed.signal]) : failed.signal;
  const queue = partial.missing.values();
  let bytesDone = partial.bytesDone;
  events.downloading(bytesDone);
  let address = url;

  const fetchPart = async (part: Part) => {
    let position = part.start;
    for (let attempt = 1; position < part.end; ) {
      const before = position;
      try {
        for await (const chunk of fetchRange(
          hub,
          repository,
          { url: address, start: position, end: part.end, size: file.bytes },
          both,
        )) {
          if (position === 0) checkStart(file, chunk);
          await partial.write(chunk, position);
          position += chunk.length;
          bytesDone += chunk.length;
          events.downloading(bytesDone);
        }
      } catch (error) {
        attempt = position > before ? 1 : attempt + 1;
        if (!AgenticError.is(error) || failed.signal.aborted || attempt > PART_ATTEMPTS) throw error;
        if (error.code === "auth" && attempt <= 2) {
          address = await fileAddress(hub, repository, file, both); // a signed address that has run out
        } else if (error.retryable) {
          await backOff(hub, attempt, error, both);
        } else {
          throw error;
        }
      }
    }
    await partial.complete(part);
  };

  const worker = async () => {
    for (const part of queue) {
      try {
        await fetchPart(part);
      } catch (error) {
        failed.abort();
        throw error;
      }
    }
  };
  const workers = Array.from({ length: Math.min(hub.transfer.connections, partial.missing.length) }, worker);
  // All have to be over before the file is closed; the first failure is the one that stopped the others.
  const outcomes = await Promise.allSettled(workers);
  throwIfAborted(signal, STOPPED);
  const reasons = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason as unknown] : []));
  const first = reasons.find((reason) => !AgenticError.is(reason, "cancelled")) ?? reasons[0];
  if (first !== undefined) throw first;
}

function checkStart(file: HubFile, chunk: Uint8Array): void {
  if (chunk.length < 4 || !/\.gguf$/i.test(file.path)) return; // the checksum will tell
  const found = whatItIs(chunk);
  if (found !== undefined) {
    throw modelError(
      "notGguf",
      `${file.path} on the hub is not a GGUF file: ${found}. Choose another file or repository.`,
    );
  }
}

async function verify(
  { repo }: HubRepository,
  { path, bytes, checksum }: HubFile,
  data: string,
  events: DownloadEvents,
  signal: AbortSignal | undefined,
): Promise<void> {
  const hash = createHash(checksum.algorithm === "sha256" ? "sha256" : "sha1");
  if (checksum.algorithm === "git-sha1") hash.update(`blob ${bytes}\0`);
  let done = 0;
  for await (const chunk of createReadStream(data, { highWaterMark: 1024 * 1024 }) as AsyncIterable<Buffer>) {
    if (signal?.aborted) throw cancelled(signal, STOPPED);
    hash.update(chunk);
    done += chunk.length;
    events.verifying(done);
  }
  if (hash.digest("hex") !== checksum.hex) {
    throw modelError(
      "checksum",
      `${path} of ${repo} arrived damaged (its ${size(bytes)} do not have the checksum that the hub names). It was thrown away; try again.`,
      { retryable: true },
    );
  }
  const file = await open(data, "r+");
  await file.sync().finally(() => file.close());
}
