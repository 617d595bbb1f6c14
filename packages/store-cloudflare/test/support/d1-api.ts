import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { onTestFinished } from "vitest";
import type { D1HttpOptions } from "../../src/index.js";

interface Query {
  sql: string;
  params?: SQLInputValue[];
}

/** The limits that D1 documents. */
const MOST_PARAMETERS = 100;
const LONGEST_SQL = 100_000;
const LARGEST_VALUE = 2_000_000;

class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly code: number,
    message: string,
    readonly headers: { [name: string]: string } = {},
  ) {
    super(message);
  }
}

export interface D1Api {
  options: D1HttpOptions;
  /** Answers the next request. */
  fail(status: number, body: string, headers?: { [name: string]: string }): void;
}

/**
 * Cloudflare's API for one D1 database, over a real SQLite, with D1's limits. With `lineBreaks`, each so many batches
 * the connection breaks, in turns before and after the batch was done; it never breaks twice for the same batch.
 */
export async function d1Api({ lineBreaks = 0 }: { lineBreaks?: number } = {}): Promise<D1Api> {
  const db = new DatabaseSync(":memory:");
  const broken = new Set<string>();
  let batches = 0;
  let failure: { status: number; body: string; headers: { [name: string]: string } } | undefined;
  const server = createServer(async (request, response) => {
    let text = "";
    try {
      for await (const chunk of request.setEncoding("utf8")) text += chunk;
    } catch {
      return; // whoever sent it is gone
    }
    const answer = (status: number, body: unknown, headers = {}): void => {
      response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
    };
    if (failure !== undefined) {
      const { status, body, headers } = failure;
      failure = undefined;
      response.writeHead(status, headers).end(body);
      return;
    }
    try {
      if (request.headers.authorization !== "Bearer token") throw new Refusal(401, 10000, "Authentication error");
      if (request.method !== "POST" || request.url !== "/accounts/account/d1/database/database/query") {
        throw new Refusal(404, 7404, "The database could not be found");
      }
      const body = JSON.parse(text) as Query | { batch: Query[] };
      if (lineBreaks > 0 && "batch" in body && ++batches % lineBreaks === 0 && !broken.has(text)) {
        broken.add(text);
        if (broken.size % 2 === 0) serve(db, body.batch);
        request.socket.destroy();
        return;
      }
      answer(200, {
        success: true,
        errors: [],
        messages: [],
        result: serve(db, "batch" in body ? body.batch : [body]),
      });
    } catch (error) {
      const { status, code, headers } = error instanceof Refusal ? error : new Refusal(400, 7500, "");
      const errors = [{ code, message: (error as Error).message }];
      answer(status, { success: false, errors, messages: [], result: [] }, headers);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    db.close();
  });
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    options: { accountId: "account", databaseId: "database", apiToken: "token", baseUrl },
    fail(status, body, headers = {}) {
      failure = { status, body, headers };
    },
  };
}

/** Several queries are one transaction. */
function serve(db: DatabaseSync, queries: readonly Query[]): unknown[] {
  db.exec("BEGIN");
  try {
    const results = queries.map(({ sql, params = [] }) => {
      if (Buffer.byteLength(sql) > LONGEST_SQL) throw new Refusal(400, 7500, "statement too long: SQLITE_TOOBIG");
      if (params.length > MOST_PARAMETERS) throw new Refusal(400, 7500, "too many SQL variables: SQLITE_ERROR");
      if (params.some((value) => typeof value === "string" && Buffer.byteLength(value) > LARGEST_VALUE)) {
        throw new Refusal(400, 7500, "string or blob too big: SQLITE_TOOBIG");
      }
      return { success: true, meta: { duration: 0 }, results: db.prepare(sql).all(...params) };
    });
    db.exec("COMMIT");
    return results;
  } catch (error) {
    db.exec("ROLLBACK");
    throw error;
  }
}
