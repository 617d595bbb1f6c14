import { readdir, readFile, realpath, stat } from "node:fs/promises";
import path from "node:path";
import { UsageError } from "./exit.js";

/** Larger files are for the `read` tool, which takes parts. */
const MAX_BYTES = 100_000;
const REFERENCE = /(?<=^|\s)@("[^"\n]+"|[^\s"]+)/g;

/**
 * The message with the files that it refers to (`@notes.txt`, `@"two words.txt"`) put behind it. What is no file of the
 * folder stays as it is. Throws UsageError for a file that is too large or no text.
 */
export async function withReferencedFiles(message: string, root: string): Promise<string> {
  const names = new Set([...message.matchAll(REFERENCE)].map(([, name = ""]) => unquoted(name)));
  const parts = [message];
  for (const name of names) {
    const text = await fileText(name, root);
    if (text !== undefined) parts.push(`The file ${name}:\n${text}`);
  }
  return parts.join("\n\n");
}

/** What the last word of a line may become, where it is a reference; and that word. */
export async function completeReference(line: string, root: string): Promise<[string[], string]> {
  const word = /(?:^|\s)(@[^\s"]*)$/.exec(line)?.[1];
  if (word === undefined) return [[], line];
  const typed = word.slice(1);
  const folder = typed.slice(0, typed.lastIndexOf("/") + 1);
  const inside = await insideRoot(folder || ".", root);
  const entries = inside === undefined ? [] : await readdir(inside, { withFileTypes: true }).catch(() => []);
  const found = entries
    .filter((entry) => !entry.name.includes(" ") && `${folder}${entry.name}`.startsWith(typed))
    .map((entry) => `@${folder}${entry.name}${entry.isDirectory() ? "/" : ""}`);
  return [found.sort(), word];
}

async function fileText(name: string, root: string): Promise<string | undefined> {
  const file = await insideRoot(name, root);
  const found = file === undefined ? undefined : await stat(file).catch(() => undefined);
  if (file === undefined || !found?.isFile()) return undefined;
  if (found.size > MAX_BYTES) {
    throw new UsageError(`@${name} has ${found.size} bytes, at most ${MAX_BYTES} go along; ask about it without the @`);
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(await readFile(file));
  } catch {
    throw new UsageError(`@${name} is no UTF-8 text; only text files go along`);
  }
}

/** Where a name leads, links followed; undefined outside of the folder, or nowhere. */
async function insideRoot(name: string, root: string): Promise<string | undefined> {
  const [file, top] = await Promise.all([
    realpath(path.resolve(root, name)).catch(() => undefined),
    realpath(root).catch(() => root),
  ]);
  if (file === undefined) return undefined;
  return file === top || file.startsWith(top.endsWith(path.sep) ? top : top + path.sep) ? file : undefined;
}

function unquoted(name: string): string {
  return name.startsWith('"') ? name.slice(1, -1) : name.replace(/[,;:!?.)]+$/, "");
}
