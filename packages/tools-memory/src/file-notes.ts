import { type FileSystem, isFsError, joinPath } from "@shedkit/fs";
import type { MemoryNotes, NoteHit } from "./notes.js";
import { chunksOf, scores } from "./rank.js";

/** Where notes are kept. */
export interface FileNotesOptions {
  /** Below the root of the file system. Default: the root. */
  folder?: string | undefined;
}

const NOTE = /\.(?:md|markdown|txt)$/i;
const MAX_DEPTH = 5;
const MOST_NOTES = 1000;
const MAX_BYTES = 1024 * 1024;

/**
 * The notes in a folder: Markdown and text files, hidden ones left out; of a long one the first MiB. They are read anew by
 * each search, and nothing outside the folder is, through links either.
 */
export function fileNotes(fs: FileSystem, { folder = "." }: FileNotesOptions = {}): MemoryNotes {
  return {
    search: async (query, { limit, signal }) => {
      const parts: Omit<NoteHit, "score">[] = [];
      for (const path of await notesIn(fs, folder, signal)) {
        const note = await readNote(fs, folder, path, signal);
        if (note === undefined) continue;
        for (const chunk of chunksOf(note.text)) parts.push({ path, changedAt: note.changedAt, ...chunk });
      }
      const fits = scores(
        query,
        parts.map(({ path, text }) => `${path} ${text}`),
      );
      const hits = parts.map((part, i) => ({ ...part, score: fits[i] ?? 0 })).filter(({ score }) => score > 0);
      return hits.sort((a, b) => b.score - a.score).slice(0, limit);
    },
    get: async (path, { signal }) => {
      if (!NOTE.test(path) || /(?:^|\/)\.(?!\.?(?:\/|$))/.test(path)) return undefined;
      return (await readNote(fs, folder, path, signal))?.text;
    },
  };
}

/** Their paths below the folder, sorted. */
async function notesIn(fs: FileSystem, folder: string, signal: AbortSignal): Promise<string[]> {
  const found: string[] = [];
  const open: { path: string; depth: number }[] = [{ path: "", depth: 1 }];
  for (let next = open.shift(); next && found.length < MOST_NOTES; next = open.shift()) {
    const { path, depth } = next;
    const entries = await fs.readdir(inside(folder, path), { signal }).catch(absent);
    for (const { name, type } of entries ?? []) {
      if (name.startsWith(".")) continue;
      const place = path === "" ? name : `${path}/${name}`;
      if (type === "file" && NOTE.test(name)) found.push(place);
      if (type === "directory" && depth < MAX_DEPTH) open.push({ path: place, depth: depth + 1 });
    }
  }
  return found.slice(0, MOST_NOTES);
}

async function readNote(
  fs: FileSystem,
  folder: string,
  path: string,
  signal: AbortSignal,
): Promise<{ text: string; changedAt: number } | undefined> {
  try {
    const place = fs.resolve(inside(folder, path));
    const [real, root] = await Promise.all([fs.realpath(place, { signal }), fs.realpath(folder, { signal })]);
    if (root !== "." && !real.startsWith(`${root}/`)) return undefined;
    const { type, mtimeMs } = await fs.stat(real, { signal });
    if (type !== "file") return undefined;
    const bytes = await fs.readFile(real, { signal, end: MAX_BYTES });
    const text = new TextDecoder().decode(bytes, { stream: true }); // without what the end cuts in two
    return { text, changedAt: mtimeMs };
  } catch (error) {
    return absent(error);
  }
}

function inside(folder: string, path: string): string {
  return path === "" ? folder : joinPath(folder, path);
}

/** What is not there, or must not be reached, is no note; an abort stays one. */
function absent(error: unknown): undefined {
  if (isFsError(error)) return undefined;
  throw error;
}
