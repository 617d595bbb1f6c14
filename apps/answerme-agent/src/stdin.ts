import { fstatSync } from "node:fs";
import type { Readable } from "node:stream";

/** All of what is piped in, as text. `waiting` is called once where nothing has come for a while. */
export async function readAll(input: Readable, waiting: () => void, afterMs = 1500): Promise<string> {
  const timer = setTimeout(waiting, afterMs);
  try {
    const chunks: Buffer[] = [];
    for await (const chunk of input) {
      clearTimeout(timer);
      chunks.push(Buffer.from(chunk));
    }
    return Buffer.concat(chunks).toString("utf8").trim();
  } finally {
    clearTimeout(timer);
  }
}

/**
 * What is piped in beside a question: all of it, or nothing where nothing begins to come for a while, as with a pipe
 * that somebody left open. `gaveUp` is called then.
 */
export async function readBeside(input: Readable, gaveUp: () => void, afterMs = 3000): Promise<string> {
  const stop = new AbortController();
  const late = () => {
    gaveUp();
    stop.abort();
    input.destroy();
  };
  try {
    return await Promise.race([
      readAll(input, late, afterMs),
      new Promise<string>((resolve) => stop.signal.addEventListener("abort", () => resolve(""), { once: true })),
    ]);
  } catch (error) {
    if (stop.signal.aborted) return "";
    throw error;
  }
}

/** Whether a shell connected standard input to a file or a pipe: `... | program`, `program < file`. */
export function isPiped(fd = 0): boolean {
  try {
    const stat = fstatSync(fd);
    return stat.isFIFO() || stat.isFile();
  } catch {
    return false; // closed
  }
}
