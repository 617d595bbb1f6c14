import { storeError } from "@shedkit/store/backend";
import { AgenticError } from "@shedkit/types";

/** D1 ends a query after 30 seconds; R2 takes what a slow line needs. */
const TIMEOUT_MS = 60_000;

/** How requests are made; for tests, proxies and the like. */
export type Fetch = (request: Request) => Promise<Response>;

/** An answer whose body has been read. */
export interface Answer {
  status: number;
  headers: Headers;
  body: Uint8Array<ArrayBuffer>;
}

/** Sends a request. Throws AgenticError `store`, retryable, when no answer comes. */
export async function send(request: Request, fetch: Fetch, store: string, operation: string): Promise<Answer> {
  try {
    const response = await fetch(new Request(request, { signal: AbortSignal.timeout(TIMEOUT_MS) }));
    const { status, headers } = response;
    return { status, headers, body: new Uint8Array(await response.arrayBuffer()) };
  } catch (error) {
    const { message } = storeError(error, store, operation);
    throw new AgenticError("store", message, { store, operation }, { cause: error, retryable: true });
  }
}

/** An answer that says no. */
export function refusal(answer: Answer, reason: string, store: string, operation: string): AgenticError {
  const { status, headers } = answer;
  const seconds = Number(headers.get("retry-after") ?? Number.NaN);
  return new AgenticError(
    "store",
    `${store}: ${operation} failed: ${reason} (HTTP ${status})`,
    { store, operation },
    {
      status,
      retryable: status === 429 || status >= 500,
      ...(Number.isFinite(seconds) ? { retryAfterMs: seconds * 1000 } : {}),
    },
  );
}
