import { type FileSystem, foldName, isFsError, nameOf } from "@shedkit/fs";
import type { Clock } from "./clock.js";
import { globOf, isGlob } from "./glob.js";

export interface FindResult {
  /** The best first. */
  paths: string[];
  more: number;
  stopped?: "late" | undefined;
}

const AT_ONCE = 32; // files looked at at the same time

/** Finds files by their paths: those with points, the most first, or the newest. */
export async function find(
  fs: FileSystem,
  paths: AsyncIterable<string>,
  score: (path: string) => number,
  { limit, newest, clock, signal }: { limit: number; newest: boolean; clock: Clock; signal: AbortSignal },
): Promise<FindResult> {
  const found: { path: string; score: number }[] = [];
  let stopped: "late" | undefined;
  for await (const path of paths) {
    const points = score(path);
    if (points > 0) found.push({ path, score: points });
    if (clock.late()) {
      stopped = "late";
      break;
    }
  }
  if (clock.cut) stopped = "late";
  if (newest) {
    for (let i = 0; i < found.length; i += AT_ONCE) {
      const batch = found.slice(i, i + AT_ONCE);
      await Promise.all(
        batch.map(async (entry) => {
          entry.score = await changedAt(fs, entry.path, signal);
        }),
      );
    }
  }
  // The order of the walk among equals.
  found.sort((a, b) => b.score - a.score);
  return { paths: found.slice(0, limit).map(({ path }) => path), more: Math.max(0, found.length - limit), stopped };
}

/** Points by a glob; or by words, all of which must stand in the path: those in whose name they stand have more. */
export function scoreOf(query: string): (path: string) => number {
  return isGlob(query) ? scoreByGlob(query) : scoreByWords(query);
}

function scoreByGlob(query: string): (path: string) => number {
  const fits = globOf(query);
  return (path) => (fits(path) ? 1 : 0);
}

/** Small letters find capitals too, capitals only themselves. */
function scoreByWords(query: string): (path: string) => number {
  const exact = query !== query.toLowerCase();
  const words = foldName(query).trim().split(/\s+/);
  return (path) => {
    const folded = foldName(path);
    const where = exact ? folded : folded.toLowerCase();
    const name = nameOf(where);
    let points = 0;
    for (const word of words) {
      if (!where.includes(word)) return 0;
      const stem = name.replace(/(?<=.)\.[^.]*$/, "");
      if (name === word || stem === word) points += 4;
      else if (name.startsWith(word)) points += 3;
      else points += name.includes(word) ? 2 : 1;
    }
    return points;
  };
}

async function changedAt(fs: FileSystem, path: string, signal: AbortSignal): Promise<number> {
  try {
    return (await fs.stat(path, { signal })).mtimeMs;
  } catch (error) {
    if (isFsError(error)) return 0; // gone meanwhile
    throw error;
  }
}
