import { type FileSystem, isFsError, nameOf } from "@shedkit/fs";
import { globOf, isGlob } from "./glob.js";

export interface FindResult {
  /** The best first. */
  paths: string[];
  more: number;
  stopped?: "late" | undefined;
}

const AT_ONCE = 32; // files looked at at the same time

/**
 * Finds files by their paths. A glob: the newest first. Otherwise words, all of which must stand in the path: those in
 * whose name they stand first.
 */
export async function find(
  fs: FileSystem,
  paths: AsyncIterable<string>,
  query: string,
  { limit, late, signal }: { limit: number; late: () => boolean; signal: AbortSignal },
): Promise<FindResult> {
  const glob = isGlob(query);
  const score = glob ? scoreByGlob(query) : scoreByWords(query);
  const found: { path: string; score: number }[] = [];
  let stopped: "late" | undefined;
  for await (const path of paths) {
    const points = score(path);
    if (points > 0) found.push({ path, score: points });
    if (late()) {
      stopped = "late";
      break;
    }
  }
  if (glob) {
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

function scoreByGlob(query: string): (path: string) => number {
  const fits = globOf(query);
  return (path) => (fits(path) ? 1 : 0);
}

/** Small letters find capitals too, capitals only themselves. */
function scoreByWords(query: string): (path: string) => number {
  const exact = query !== query.toLowerCase();
  const words = query.trim().split(/\s+/);
  return (path) => {
    const where = exact ? path : path.toLowerCase();
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
