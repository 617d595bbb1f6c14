import type { KeyValueStore, QueryStore } from "@shedkit/store";
import { closedError, SqlKeyValues, storeError } from "@shedkit/store/backend";
import { AgenticError, type JsonValue } from "@shedkit/types";
import type { D1Binding } from "./bindings.js";
import { type Fetch, refusal, send } from "./http.js";

type Statement = { sql: string; args?: readonly unknown[] | undefined };

/** The two ways to a D1 database. */
interface D1Access {
  query(sql: string, args: readonly unknown[]): Promise<unknown[]>;
  batch(statements: readonly Statement[]): Promise<void>;
}

/** Settings of stores on D1. */
export interface D1Options {
  /** Before the name of every table, so that several may share a database: letters, digits, `_`. Default: none. */
  prefix?: string | undefined;
}

/** Where a D1 database is, for access over Cloudflare's API. */
export interface D1HttpOptions extends D1Options {
  accountId: string;
  databaseId: string;
  /** A token that may edit D1. */
  apiToken: string;
  /** Default: `https://api.cloudflare.com/client/v4`. */
  baseUrl?: string | undefined;
  /** Default: the global `fetch`. */
  fetch?: Fetch | undefined;
}

/**
 * A Cloudflare D1 database as key-value and query store: inside a Worker by its binding, elsewhere over Cloudflare's
 * API. Failures are AgenticError `store`. Its tables are made when first needed.
 */
export class D1Store implements KeyValueStore, QueryStore {
  readonly dialect = "sqlite";
  readonly tablePrefix?: string;
  readonly #access: D1Access;
  readonly #values: SqlKeyValues;
  #schema: Promise<void> | undefined;
  #closed = false;

  private constructor(access: D1Access, prefix = "") {
    this.#access = access;
    if (prefix !== "") this.tablePrefix = checkedPrefix(prefix);
    this.#values = new SqlKeyValues(this, "d1");
  }

  /** The database of a Worker's binding: `D1Store.binding(env.DB)`. */
  static binding(db: D1Binding, { prefix }: D1Options = {}): D1Store {
    const prepare = ({ sql, args = [] }: Statement) => db.prepare(sql).bind(...args.map((arg) => arg ?? null));
    const access: D1Access = {
      query: async (sql, args) => (await prepare({ sql, args }).all()).results ?? [],
      batch: async (statements) => {
        await db.batch(statements.map(prepare));
      },
    };
    return new D1Store(access, prefix);
  }

  /** The database over Cloudflare's API, from anywhere. */
  static http(options: D1HttpOptions): D1Store {
    const { accountId, databaseId, apiToken, baseUrl = "https://api.cloudflare.com/client/v4" } = options;
    const { fetch = (request) => globalThis.fetch(request) } = options;
    const [account, database] = [accountId, databaseId].map(encodeURIComponent);
    const url = `${baseUrl}/accounts/${account}/d1/database/${database}/query`;
    const post = async (operation: string, body: unknown): Promise<{ results?: unknown[] }[]> => {
      const headers = { authorization: `Bearer ${apiToken}`, "content-type": "application/json" };
      const request = new Request(url, { method: "POST", headers, body: JSON.stringify(body) });
      const answer = await send(request, fetch, "d1", operation);
      const text = new TextDecoder().decode(answer.body);
      const parsed = parseAnswer(text);
      if (parsed?.success !== true || answer.status >= 400) {
        const reasons = parsed?.errors?.map(({ code, message }) => `${message} (code ${code})`).join("; ");
        throw refusal(answer, reasons || text.slice(0, 200) || "no reason given", "d1", operation);
      }
      return parsed.result ?? [];
    };
    const single = ({ sql, args = [] }: Statement) => ({ sql, params: args.map((arg) => arg ?? null) });
    const access: D1Access = {
      query: async (sql, args) => (await post("query", single({ sql, args })))[0]?.results ?? [],
      batch: async (statements) => {
        await post("batch", { batch: statements.map(single) });
      },
    };
    return new D1Store(access, options.prefix);
  }

  async query<R extends { [column: string]: unknown }>(sql: string, args: readonly unknown[] = []): Promise<R[]> {
    return this.#run("query", async () => (await this.#access.query(sql, args)) as R[]);
  }

  async batch(statements: readonly Statement[]): Promise<void> {
    await this.#run("batch", async () => {
      if (statements.length > 0) await this.#access.batch(statements);
    });
  }

  /** Makes the table of keys and values, or brings it up to date. The first operation that needs it does so too. */
  initSchema(): Promise<void> {
    this.#schema ??= this.#values.initSchema().catch((error: unknown) => {
      this.#schema = undefined; // the next operation tries again
      throw error;
    });
    return this.#schema;
  }

  async get(key: string): Promise<JsonValue | undefined> {
    await this.initSchema();
    return this.#values.get(key);
  }

  async set(key: string, value: JsonValue, options?: { ifVersion?: number | undefined }): Promise<number> {
    await this.initSchema();
    return this.#values.set(key, value, options);
  }

  async delete(key: string): Promise<boolean> {
    await this.initSchema();
    return this.#values.delete(key);
  }

  async *keys(prefix?: string): AsyncGenerator<string, void, void> {
    await this.initSchema();
    yield* this.#values.keys(prefix);
  }

  async close(): Promise<void> {
    this.#closed = true;
  }

  async #run<T>(operation: string, work: () => Promise<T>): Promise<T> {
    if (this.#closed) throw closedError("d1", operation, "Make a new D1Store.");
    try {
      return await work();
    } catch (error) {
      throw d1Error(error, operation);
    }
  }
}

/** What D1 says of failures that pass, in its list of errors (https://developers.cloudflare.com/d1/observability/debug-d1/). */
const PASSING =
  /Network connection lost|caused object to be reset|reset because its code was updated|transient issue|D1 DB is overloaded/;

/** An error of D1 as ours: whichever way it came, its words alone tell whether it passes. */
function d1Error(error: unknown, operation: string): AgenticError {
  const known = storeError(error, "d1", operation);
  if (!AgenticError.is(known, "store") || known.retryable || !PASSING.test(known.message)) return known;
  const { message, details, status, retryAfterMs, cause } = known;
  return new AgenticError("store", message, details, { retryable: true, status, retryAfterMs, cause });
}

function checkedPrefix(prefix: string): string {
  if (/^[A-Za-z_][A-Za-z0-9_]{0,59}$/.test(prefix)) return prefix;
  throw new AgenticError(
    "store",
    `"${prefix}" cannot be before the name of a table. Wanted up to 60 letters, digits and "_", no digit first.`,
    { store: "d1", operation: "open" },
  );
}

interface ApiAnswer {
  success?: boolean;
  errors?: { code: number; message: string }[];
  result?: { results?: unknown[] }[];
}

/** Undefined where something between here and the API answered, a proxy say. */
function parseAnswer(text: string): ApiAnswer | undefined {
  try {
    return JSON.parse(text) as ApiAnswer;
  } catch {
    return undefined;
  }
}
