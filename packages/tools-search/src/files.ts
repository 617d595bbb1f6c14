import type { FileSystem } from "@shedkit/fs";
import type { Clock } from "./clock.js";
import type { FileFinder } from "./finder.js";
import { byWalk, Ignored, isReached, walk } from "./walk.js";

export interface FilesRequest {
  folders: readonly string[];
  hidden: boolean;
  /** Only files with one of these are wanted, as far as that can be told without looking. */
  texts?: readonly string[] | undefined;
  ignoreCase?: boolean | undefined;
  clock: Clock;
  signal: AbortSignal;
}

/** The files below some folders, until time is up, each once, in the order of their names, folder by folder. */
export async function* filesBelow(
  fs: FileSystem,
  finder: FileFinder | undefined,
  request: FilesRequest,
): AsyncGenerator<string, void, void> {
  const { folders, hidden, texts = [], ignoreCase = false, clock, signal } = request;
  // What stands for bytes that are no text is not in the file itself; and a program is given no NUL.
  const findable = texts.some((text) => /[\0\ufffd]/.test(text)) ? [] : texts;
  const ignored = new Ignored(fs, signal);
  const done: string[] = [];
  for (const folder of folders) {
    const known = (path: string) => done.some((other) => isBelow(path, other));
    if (known(folder)) continue;
    const found = await finder
      ?.files({ folder, texts: findable, ignoreCase, hidden, signal: clock.signal })
      .catch(clock.cutting);
    if (clock.cut) return;
    if (!found) {
      for await (const path of walk(fs, folder, ignored, { hidden, signal })) if (!known(path)) yield path;
    } else {
      for (const path of found.toSorted(byWalk)) {
        if (!known(path) && (await isReached(fs, path, folder, ignored, hidden))) yield path;
      }
    }
    done.push(folder);
  }
}

function isBelow(path: string, folder: string): boolean {
  return folder === "." || path === folder || path.startsWith(`${folder}/`);
}
