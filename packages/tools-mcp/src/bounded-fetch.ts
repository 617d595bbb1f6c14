/** Of one message; a server that sends more is not sending one. */
const MAX_MESSAGE = 32 * 1024 * 1024;
/** Of what is no message: the text of an error. */
const MAX_OTHER = 1024 * 1024;

/** A `fetch` whose answers break where one message gets too long: what a server sends is held in memory whole. */
export function boundedFetch(
  inner: typeof fetch = fetch,
): (url: string | URL, init?: RequestInit) => Promise<Response> {
  return async (url, init) => {
    const response = await inner(url, init);
    if (response.body === null) return response;
    const type = response.headers.get("content-type") ?? "";
    const isStream = type.startsWith("text/event-stream");
    const max = isStream || type.startsWith("application/json") ? MAX_MESSAGE : MAX_OTHER;
    const { status, statusText, headers } = response;
    const bounded = new Response(response.body.pipeThrough(bound(max, isStream)), { status, statusText, headers });
    Object.defineProperty(bounded, "url", { value: response.url });
    Object.defineProperty(bounded, "redirected", { value: response.redirected });
    return bounded;
  };
}

/** In a stream of events each may be so long: they end with an empty line. */
function bound(max: number, isStream: boolean): TransformStream<Uint8Array, Uint8Array> {
  let size = 0;
  return new TransformStream({
    transform(chunk, controller) {
      const end = isStream ? endOfEvent(chunk) : -1;
      size = end < 0 ? size + chunk.length : chunk.length - end;
      if (size > max) controller.error(new Error(`it sent a message of more than ${max / 1024 / 1024} MiB`));
      else controller.enqueue(chunk);
    },
  });
}

/** Where the last empty line of a piece ends; one that is cut in two is not seen, and a later one is. */
function endOfEvent(chunk: Uint8Array): number {
  for (let at = chunk.length - 1; at > 0; at--) {
    if (chunk[at] !== LF) continue;
    const before = chunk[at - 1] === CR ? at - 2 : at - 1;
    if (before >= 0 && chunk[before] === LF) return at + 1;
  }
  return -1;
}

const LF = 0x0a;
const CR = 0x0d;
