import type { Client } from "@libsql/client";
import { closedError } from "@shedkit/store/backend";
import { AgenticError } from "@shedkit/types";

/** What a storage needs of whoever holds its database. */
export interface Connection {
  readonly client: Client;
  /** Only a local database knows its fellow users. */
  readonly owner?: { readonly id: string; isAlive(id: string): boolean | undefined; close(): void } | undefined;
}

/** How long a writer waits for another process to end its transaction. */
const BUSY_TIMEOUT_MS = 10_000;

/** For how long a server that does not answer is waited for. */
const TIMEOUT_MS = 60_000;

/** Opens a database. The native library is loaded for local ones only, so that a remote one works where it cannot. */
export async function connect(
  url: string,
  { authToken, timeoutMs = TIMEOUT_MS }: { authToken?: string | undefined; timeoutMs?: number | undefined },
): Promise<Connection> {
  if (/^(libsql|https?|wss?):/.test(url)) {
    const { createClient } = await import("@libsql/client/web");
    const timed = (request: Request) => fetch(request, { signal: AbortSignal.timeout(timeoutMs) });
    return { client: createClient({ url, fetch: timed, ...(authToken === undefined ? {} : { authToken }) }) };
  }
  if (url !== ":memory:" && !url.startsWith("file:")) {
    throw new AgenticError(
      "store",
      `"${url}" is no database URL. Wanted ":memory:", "file:agent.db", "libsql://host" or "http://host".`,
      { store: "libsql", operation: "open" },
    );
  }
  const { createClient } = await import("@libsql/client");
  // One connection: calls to a local database do not wait for each other, and settings hold for a connection only.
  const client = createClient({ url, timeout: BUSY_TIMEOUT_MS, concurrency: 1 });
  try {
    if (url === ":memory:") return { client };
    // Readers do not wait for the writer. Each commit is flushed to the disk (synchronous = FULL is the default).
    await client.execute("PRAGMA journal_mode = WAL");
    const { LocalOwner } = await import("@shedkit/store/node");
    return { client, owner: new LocalOwner() };
  } catch (error) {
    client.close();
    throw error;
  }
}

/** An error of libsql as ours. Busy, lost and silent connections may go through later. */
export function libsqlError(error: unknown, operation: string): AgenticError {
  if (AgenticError.is(error)) return error;
  const { code = "", message = String(error), cause } = error as { code?: string; message?: string; cause?: unknown };
  if (code === "CLIENT_CLOSED") return closedError("libsql", operation, "Open a new LibsqlStorage.");
  const status = code === "SERVER_ERROR" ? (cause as { status?: number } | undefined)?.status : undefined;
  const retryable =
    status === undefined
      ? /^(SQLITE_BUSY|SERVER_ERROR|HRANA_WEBSOCKET_ERROR|HRANA_CLOSED_ERROR)/.test(code) || neverCame(error)
      : status === 429 || status >= 500;
  return new AgenticError(
    "store",
    `libsql: ${operation} failed: ${message}`,
    { store: "libsql", operation },
    { cause: error, retryable, status },
  );
}

/** Whether `fetch` failed: the server cannot be reached, or did not answer in time. A wrong argument is a TypeError too. */
function neverCame(error: unknown): boolean {
  const { name, message } = error as { name?: unknown; message?: unknown };
  return name === "TimeoutError" || (error instanceof TypeError && !/argument/.test(String(message)));
}
