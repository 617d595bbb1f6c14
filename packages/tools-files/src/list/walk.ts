import { type FileSystem, type FileType, isFsError, joinPath } from "@shedkit/fs";
import { type FolderRules, isIgnored, rulesAbove, rulesIn } from "../ignored.js";

/** An entry of a folder, with what is in it if it is a folder that was looked into. */
export interface Entry {
  name: string;
  path: string;
  type: FileType;
  depth: number;
  entries?: Entry[] | undefined;
  /** How many entries were left out because their names begin with a dot. */
  hidden: number;
  /** How many entries were left out because a `.gitignore` says so. */
  ignored: number;
  /** The rules for what is in the folder, from the nearest to the farthest, with where each stands. */
  rules?: readonly FolderRules[] | undefined;
  /** Why a folder was not looked into. */
  skipped?: "denied" | "dependencies" | "cut" | undefined;
}

export interface WalkOptions {
  /** Also entries whose names begin with a dot. */
  hidden: boolean;
  /** Leaves out what the `.gitignore` files in the root folder and below ignore. */
  gitignore: boolean;
  /** How many levels to look into. */
  depth: number;
  signal: AbortSignal;
}

const MOST_ENTRIES = 100_000;
const MOST_LEVELS = 100; // below the folder: deeper ones would not fit, and finding each takes time in proportion to its depth
const AT_ONCE = 16; // folders read at the same time

/** Looks into a folder, level by level, so that a huge folder does not keep its neighbours from being seen. */
export async function walkFolder(fs: FileSystem, path: string, options: WalkOptions): Promise<Entry> {
  const root: Entry = { name: path, path, type: "directory", depth: 0, hidden: 0, ignored: 0 };
  if (options.gitignore) root.rules = await rulesAbove(fs, path, options.signal);
  let left = MOST_ENTRIES;
  for (let level = [root]; level.length > 0; ) {
    const next: Entry[] = [];
    for (let i = 0; i < level.length; i += AT_ONCE) {
      const batch = level.slice(i, i + AT_ONCE);
      await Promise.all(
        batch.map(async (folder) => {
          if (left <= 0) folder.skipped = "cut";
          else await lookInto(fs, folder, options);
        }),
      );
      for (const folder of batch) {
        left -= folder.entries?.length ?? 0;
        for (const entry of folder.entries ?? []) {
          if (entry.type !== "directory" || entry.depth >= options.depth) continue;
          if (entry.depth >= MOST_LEVELS) entry.skipped = "cut";
          else if (entry.name === "node_modules") entry.skipped = "dependencies";
          else next.push(entry);
        }
      }
    }
    level = next;
  }
  return root;
}

async function lookInto(fs: FileSystem, folder: Entry, options: WalkOptions): Promise<void> {
  try {
    const found = await fs.readdir(folder.path, { signal: options.signal });
    if (options.gitignore && found.some(({ name }) => name === ".gitignore")) {
      folder.rules = [...(await rulesIn(fs, folder.path, options.signal)), ...(folder.rules ?? [])];
    }
    const visible = found.filter(({ name }) => options.hidden || !name.startsWith("."));
    const entries = visible
      .map(({ name, type }): Entry => {
        const entry = { name, type, path: joinPath(folder.path, name), depth: folder.depth + 1, hidden: 0, ignored: 0 };
        return folder.rules ? { ...entry, rules: folder.rules } : entry;
      })
      .filter(({ path, type, rules = [] }) => !isIgnored(rules, path, type === "directory"));
    folder.hidden = found.length - visible.length;
    folder.ignored = visible.length - entries.length;
    folder.entries = entries.sort(byName);
  } catch (error) {
    // A folder that vanished or may not be read does not spoil the rest; the one asked for does.
    if (folder.depth === 0 || !isFsError(error)) throw error;
    folder.skipped = "denied";
  }
}

function byName(a: Entry, b: Entry): number {
  const [x, y] = [a.name.toLowerCase(), b.name.toLowerCase()];
  if (x !== y) return x < y ? -1 : 1;
  return a.name < b.name ? -1 : 1;
}
