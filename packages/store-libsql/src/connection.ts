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

/** Opens a database. The native library is loaded for local ones only, so that a remote one works where it cannot. */
export async function connect(url: string, authToken: string | undefined): Promise<Connection> {
  if (/^(libsql|https?|wss?):/.test(url)) {
    const { createClient } = await import("@libsql/client/web");
    return { client: createClient({ url, ...(authToken === undefined ? {} : { authToken }) }) };
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

/** An error of libsql as ours. Busy and lost connections may go through later. */
export function libsqlError(error: unknown, operation: string): AgenticError {
  if (AgenticError.is(error)) return error;
  const { code = "", message = String(error) } = error as { code?: string; message?: string };
  if (code === "CLIENT_CLOSED") return closedError("libsql", operation, "Open a new LibsqlStorage.");
  const retryable = /^(SQLITE_BUSY|SERVER_ERROR|HRANA_WEBSOCKET_ERROR|HRANA_CLOSED_ERROR)/.test(code);
  return new AgenticError(
    "store",
    `libsql: ${operation} failed: ${message}`,
    { store: "libsql", operation },
    { cause: error, retryable: retryable || error instanceof TypeError /* fetch: the server cannot be reached */ },
  );
}
