import { appendFile, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { makeFolder } from "./folder.js";

/** What was typed at the prompt, newest first, over all sessions. */
export interface History {
  readonly lines: readonly string[];
  /** Keeps a line for the next time; what goes wrong is nobody's concern. */
  add(line: string): void;
  /** Resolves when all is kept. */
  flush(): Promise<void>;
}

/** Lines that are kept. */
const MOST = 500;
/** A longer line is hardly typed again. In characters. */
const LONGEST = 2000;

/** The history in a file that this user alone can read, a line a line. */
export async function openHistory(file: string): Promise<History> {
  const text = await readFile(file, "utf8").catch(() => "");
  const all = text.split("\n").filter((line) => line !== "");
  const lines = [...new Set(all.reverse())].slice(0, MOST);
  let writing = all.length > 2 * MOST ? rewrite(file, lines) : Promise.resolve();
  let last = lines[0];
  return {
    lines,
    add(line) {
      if (line === last || line.trim() === "" || line.length > LONGEST || line.includes("\n")) return;
      last = line;
      writing = writing.then(() => append(file, line));
    },
    flush: () => writing,
  };
}

async function append(file: string, line: string): Promise<void> {
  try {
    await makeFolder(path.dirname(file));
    await appendFile(file, `${line}\n`, { mode: 0o600 });
  } catch {
    // a history that cannot be kept keeps nobody from asking
  }
}

async function rewrite(file: string, lines: readonly string[]): Promise<void> {
  await writeFile(file, `${lines.toReversed().join("\n")}\n`, { mode: 0o600 }).catch(() => undefined);
}
