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
