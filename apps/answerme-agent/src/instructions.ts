import { readFile } from "node:fs/promises";
import path from "node:path";

/** What a project says to every agent; more than this is cut. In characters. */
const MOST = 32_000;

/** The text of the folder's `AGENTS.md`, where it has one. */
export async function projectInstructions(root: string): Promise<string | undefined> {
  const text = await readFile(path.join(root, "AGENTS.md"), "utf8").catch(() => undefined);
  if (text === undefined || text.trim() === "") return undefined;
  return text.length <= MOST ? text.trim() : `${text.slice(0, MOST)}\n(cut here)`;
}
