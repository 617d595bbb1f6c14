import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { onTestFinished } from "vitest";

type Value = { type: string; value?: unknown; base64?: string };
type Stmt = { sql?: string; sql_id?: number; args?: Value[] };
type Cond = { type: string; step?: number; cond?: Cond; conds?: Cond[] };
type Request =
  | { type: "execute"; stmt: Stmt }
  | { type: "batch"; batch: { steps: { condition?: Cond; stmt: Stmt }[] } }
  | { type: "store_sql"; sql_id: number; sql: string }
  | { type: "close" | "close_sql" | "get_autocommit" };

/** A libsql server for tests: the JSON form of its HTTP protocol, over a real SQLite. */
export async function hranaServer(authToken?: string): Promise<{ url: string; server: Server }> {
  const db = new DatabaseSync(":memory:");
  // On a busy machine a server that ends idle connections would end some that are being used again.
  const server = createServer({ keepAliveTimeout: 600_000 }, async (request, response) => {
    const answer = (status: number, body: unknown): void => {
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    };
    if (authToken !== undefined && request.headers.authorization !== `Bearer ${authToken}`) {
      return answer(401, { message: "Unauthorized: the token is missing or wrong" });
    }
    if (request.url !== "/v2/pipeline") return answer(request.url === "/v2" ? 200 : 404, {});
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += chunk;
    const { requests } = JSON.parse(body) as { requests: Request[] };
    const sqls = new Map<number, string>();
    answer(200, { baton: null, base_url: null, results: requests.map((each) => serve(db, sqls, each)) });
    if (db.isTransaction) db.exec("ROLLBACK"); // the stream is closed
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    db.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}

function serve(db: DatabaseSync, sqls: Map<number, string>, request: Request): unknown {
  try {
    if (request.type === "store_sql") sqls.set(request.sql_id, request.sql);
    const { type } = request;
    if (type === "execute") return ok({ type, result: execute(db, sqls, request.stmt) });
    if (type === "batch") return ok({ type, result: batch(db, sqls, request.batch.steps) });
    return ok({ type, is_autocommit: !db.isTransaction });
  } catch (error) {
    return { type: "error", error: { message: String(error), code: "SQLITE_ERROR" } };
  }
}

const ok = (response: unknown): unknown => ({ type: "ok", response });

function batch(db: DatabaseSync, sqls: Map<number, string>, steps: { condition?: Cond; stmt: Stmt }[]): unknown {
  const results: unknown[] = [];
  const errors: unknown[] = [];
  const holds = (cond: Cond): boolean => {
    if (cond.type === "ok") return results[cond.step ?? -1] != null;
    if (cond.type === "error") return errors[cond.step ?? -1] != null;
    if (cond.type === "not") return cond.cond !== undefined && !holds(cond.cond);
    if (cond.type === "and") return (cond.conds ?? []).every(holds);
    if (cond.type === "or") return (cond.conds ?? []).some(holds);
    return !db.isTransaction;
  };
  for (const { condition, stmt } of steps) {
    let [result, error]: [unknown, unknown] = [null, null];
    if (condition === undefined || holds(condition)) {
      try {
        result = execute(db, sqls, stmt);
      } catch (thrown) {
        error = { message: String(thrown), code: "SQLITE_CONSTRAINT" };
      }
    }
    results.push(result);
    errors.push(error);
  }
  return { step_results: results, step_errors: errors };
}

function execute(db: DatabaseSync, sqls: Map<number, string>, stmt: Stmt): unknown {
  const statement = db.prepare(stmt.sql ?? sqls.get(stmt.sql_id ?? -1) ?? "");
  statement.setReturnArrays(true);
  const args = (stmt.args ?? []).map(({ type, value }) => (type === "null" ? null : value) as SQLInputValue);
  const rows = statement.all(...args) as unknown as unknown[][];
  return {
    cols: statement.columns().map(({ name }) => ({ name })),
    rows: rows.map((row) => row.map(wireValue)),
    affected_row_count: 0,
    last_insert_rowid: null,
  };
}

function wireValue(value: unknown): Value {
  if (value === null) return { type: "null" };
  if (typeof value === "string") return { type: "text", value };
  return Number.isInteger(value) ? { type: "integer", value: `${value}` } : { type: "float", value };
}
