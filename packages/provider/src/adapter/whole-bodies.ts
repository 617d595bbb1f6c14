import type { CloudProviderConfig } from "./config.js";
import { IDLE_MS } from "./watch.js";

/** More of an error's body than this says nothing new. */
const LONGEST_ERROR = 1 << 20;

/**
 * The `fetch` of a backend: bodies that the SDKs read whole, errors and JSON, are read here, since the SDKs would wait
 * for them for ever. What came of an error's body counts, also where the rest never comes; JSON that stops is a
 * timeout. Streams of events pass as they are.
 */
export function wholeBodies(config: Pick<CloudProviderConfig, "fetch" | "idleTimeoutMs">): typeof fetch {
  const idleMs = config.idleTimeoutMs ?? IDLE_MS;
  return async (input, init) => {
    const response = await (config.fetch ?? globalThis.fetch)(input, init);
    const { body, ok, status, statusText, headers } = response;
    if (body === null || !canBeMade(status) || (ok && !/json/.test(headers.get("content-type") ?? ""))) return response;
    const bytes = await read(body, { idleMs, ok, signal: init?.signal ?? undefined });
    return new Response(bytes, { status, statusText, headers });
  };
}

/** A response of another status cannot be put together anew. */
function canBeMade(status: number): boolean {
  return status >= 200 && status <= 599 && status !== 204 && status !== 205 && status !== 304;
}

interface Reading {
  idleMs: number;
  ok: boolean;
  signal: AbortSignal | undefined;
}

async function read(body: ReadableStream<Uint8Array>, { idleMs, ok, signal }: Reading): Promise<Blob> {
  const reader = body.getReader();
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  let silent = false;
  const cancel = (): void => void reader.cancel().catch(() => {});
  const onSilence = (): void => {
    silent = true;
    cancel();
  };
  let timer = setTimeout(onSilence, idleMs);
  if (signal?.aborted) cancel();
  signal?.addEventListener("abort", cancel, { once: true });
  try {
    while (ok || length < LONGEST_ERROR) {
      const { value, done } = await reader.read();
      if (done) break;
      parts.push(new Uint8Array(value));
      length += value.length;
      clearTimeout(timer);
      timer = setTimeout(onSilence, idleMs);
    }
  } catch (error) {
    if (ok) throw error;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", cancel);
    cancel();
  }
  if (silent && ok) throw new DOMException(`The response said nothing for ${idleMs} ms.`, "TimeoutError");
  return new Blob(parts);
}
