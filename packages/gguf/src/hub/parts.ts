import { type FileHandle, open, readFile, rm } from "node:fs/promises";
import { modelError } from "../error.js";

/** A range of a file: `end` is the first byte after it. */
export interface Part {
  index: number;
  start: number;
  end: number;
}

/**
 * A file on its way: its bytes, each at its place, and a journal with a line for each part that is whole. A part is
 * written to the disk before it is noted, so a kill at any moment leaves what the journal says, and no more is lost
 * than the parts that were being fetched.
 */
export interface PartialFile {
  /** What is still to be fetched, in order. */
  readonly missing: readonly Part[];
  readonly bytesDone: number;
  write(bytes: Uint8Array, position: number): Promise<void>;
  /** Notes that a part is whole. */
  complete(part: Part): Promise<void>;
  close(): Promise<void>;
}

/** The two names under which a file lies until it is whole. */
export interface PartialPaths {
  data: string;
  journal: string;
}

/** Opens what an earlier attempt left, or begins. `partBytes` counts only when it begins. */
export async function openPartialFile(paths: PartialPaths, bytes: number, partBytes: number): Promise<PartialFile> {
  const earlier = await readJournal(paths, bytes);
  const length = earlier?.partBytes ?? partBytes;
  const done = new Set(earlier?.done);
  const data = await open(paths.data, earlier ? "r+" : "w+");
  let journal: FileHandle;
  try {
    journal = await open(paths.journal, earlier ? "a" : "w");
    // A line that a kill cut short stays: the line feed in front of the next one ends it.
    await journal.write(earlier ? "\n" : `${JSON.stringify({ bytes, partBytes })}\n`);
    await data.truncate(bytes);
  } catch (error) {
    await data.close();
    throw error;
  }
  const parts = partsOf(bytes, length);
  return {
    missing: parts.filter((part) => !done.has(part.index)),
    bytesDone: parts.reduce((sum, part) => sum + (done.has(part.index) ? part.end - part.start : 0), 0),
    async write(chunk, position) {
      for (let at = 0; at < chunk.length; ) {
        at += (await data.write(chunk, at, chunk.length - at, position + at)).bytesWritten;
      }
    },
    async complete(part) {
      await data.datasync();
      await journal.write(`${part.index}.\n`);
    },
    async close() {
      await data.close();
      await journal.close();
    },
  };
}

/** Forgets a file on its way. */
export async function dropPartialFile({ data, journal }: PartialPaths): Promise<void> {
  await rm(journal, { force: true }); // first: data without a journal counts for nothing
  await rm(data, { force: true });
}

function partsOf(bytes: number, partBytes: number): Part[] {
  return Array.from({ length: Math.ceil(bytes / partBytes) }, (_, index) => ({
    index,
    start: index * partBytes,
    end: Math.min(bytes, (index + 1) * partBytes),
  }));
}

async function readJournal(
  { data, journal }: PartialPaths,
  bytes: number,
): Promise<{ partBytes: number; done: number[] } | undefined> {
  const [head = "", ...lines] = (await readFile(journal, "utf8").catch(() => "")).split("\n");
  const begun = /^\{"bytes":(\d+),"partBytes":(\d+)\}$/.exec(head);
  if (!begun || Number(begun[1]) !== bytes || Number(begun[2]) === 0) return undefined;
  const size = await open(data)
    .then(async (file) => {
      const { size } = await file.stat();
      await file.close();
      return size;
    })
    .catch(() => 0);
  if (size !== bytes) return undefined;
  const done = lines.flatMap((line) => (/^\d+\.$/.test(line) ? [Number.parseInt(line, 10)] : []));
  return { partBytes: Number(begun[2]), done };
}

/** How long a part is where nobody says: long files are fetched in fewer requests. */
export function defaultPartBytes(bytes: number): number {
  const MiB = 1024 * 1024;
  return Math.max(16 * MiB, Math.min(64 * MiB, Math.ceil(bytes / 512)));
}

/** Throws `diskFull` where there is no room for what is still to come. */
export function checkRoom(folder: string, free: number, needed: number): void {
  if (needed <= free) return;
  throw modelError(
    "diskFull",
    `${folder} has room for ${size(free)}, and ${size(needed)} are still to be fetched. Make room, or name another cache folder (cacheDir, HF_HUB_CACHE).`,
  );
}

/** Bytes for people: `4.9 GB`. */
export function size(bytes: number): string {
  const units = ["bytes", "kB", "MB", "GB", "TB"];
  let at = 0;
  let n = bytes;
  for (; n >= 999.5 && at < units.length - 1; at++) n /= 1000;
  return `${at === 0 || n >= 99.95 ? Math.round(n) : n.toFixed(1)} ${units[at]}`;
}
