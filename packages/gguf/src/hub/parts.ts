import { type FileHandle, open, readFile, rm } from "node:fs/promises";

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

/** What a partial file is opened with. */
export interface PartialOptions {
  bytes: number;
  /** Counts only when the file begins. */
  partBytes: number;
  /** Told how many bytes are missing, before anything is made; throws where there is no room for them. */
  checkRoom(missing: number): Promise<void>;
}

/** Opens what an earlier attempt left, or begins. */
export async function openPartialFile(paths: PartialPaths, options: PartialOptions): Promise<PartialFile> {
  const { bytes } = options;
  const earlier = await readJournal(paths, bytes);
  const partBytes = earlier?.partBytes ?? options.partBytes;
  const done = new Set(earlier?.done);
  const parts = partsOf(bytes, partBytes);
  const missing = parts.filter((part) => !done.has(part.index));
  const bytesMissing = missing.reduce((sum, part) => sum + part.end - part.start, 0);
  await options.checkRoom(bytesMissing);
  const [data, journal] = await openBoth(paths, bytes, earlier ? undefined : JSON.stringify({ bytes, partBytes }));
  return {
    missing,
    bytesDone: bytes - bytesMissing,
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

/** `head` is the journal's first line where it begins. */
async function openBoth(
  paths: PartialPaths,
  bytes: number,
  head: string | undefined,
): Promise<[FileHandle, FileHandle]> {
  const data = await open(paths.data, head === undefined ? "r+" : "w+");
  let journal: FileHandle | undefined;
  try {
    journal = await open(paths.journal, head === undefined ? "a" : "w");
    // A line that a kill cut short stays: the line feed in front of the next one ends it.
    await journal.write(`${head ?? ""}\n`);
    await data.truncate(bytes);
    return [data, journal];
  } catch (error) {
    await data.close();
    await journal?.close();
    throw error;
  }
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

/** Bytes for people: `4.9 GB`. */
export function size(bytes: number): string {
  const units = ["bytes", "kB", "MB", "GB", "TB"];
  let at = 0;
  let n = bytes;
  for (; n >= 999.5 && at < units.length - 1; at++) n /= 1000;
  return `${at === 0 || n >= 99.95 ? Math.round(n) : n.toFixed(1)} ${units[at]}`;
}
