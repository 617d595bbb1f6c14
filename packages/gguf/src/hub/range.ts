import { modelError } from "../error.js";
import { authorized, networkError, refusal, type Subject } from "./requests.js";
import type { Hub } from "./settings.js";

/** The bytes `start` to `end` (not included) of a file of `size` bytes. */
export interface Range {
  url: string;
  start: number;
  end: number;
  size: number;
}

/**
 * Fetches a range, in pieces as they come, exactly as many bytes as were asked for or an error. An answer that is not
 * that range of that file is refused: it would be written over good bytes.
 */
export async function* fetchRange(
  hub: Hub,
  subject: Subject,
  { url, start, end, size }: Range,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void> {
  const silence = new AbortController();
  const timer = setTimeout(
    () => silence.abort(new DOMException("nothing came", "TimeoutError")),
    hub.transfer.stallTimeoutMs,
  );
  try {
    const response = await hub.fetch(url, {
      headers: authorized(hub, url, { Range: `bytes=${start}-${end - 1}` }),
      signal: AbortSignal.any([signal, silence.signal]),
    });
    if (!response.ok) throw await refusal(hub, subject, response);
    const wanted = `bytes ${start}-${end - 1}/${size}`;
    const got = response.headers.get("Content-Range");
    if (response.status !== 206 || got !== wanted || !response.body) {
      await response.body?.cancel();
      throw modelError(
        "notTheHub",
        `${new URL(response.url || url).host} did not answer with the part of the file that was asked for (${got ?? `status ${response.status}`} instead of ${wanted}).`,
        { retryable: true },
      );
    }
    let left = end - start;
    for await (const chunk of response.body) {
      timer.refresh();
      if (chunk.length > left) throw tooMany(url);
      left -= chunk.length;
      yield chunk;
    }
    if (left > 0) throw new Error("the connection was cut");
  } catch (error) {
    throw networkError(hub, error, signal);
  } finally {
    clearTimeout(timer);
    silence.abort(); // where the reader stopped early, so does the connection
  }
}

function tooMany(url: string) {
  return modelError("notTheHub", `${new URL(url).host} sent more bytes than it said.`, { retryable: true });
}
