import type { QueryStore } from "../contract.js";
import { type Dialect, dialectOf } from "./dialect.js";

/** One statement of a batch. */
export interface Statement {
  sql: string;
  args?: readonly unknown[] | undefined;
}

/** A storage as the stores on top of it use it: they write `?` and their own names, and it takes what its database wants. */
export class Database {
  readonly storage: QueryStore;
  readonly dialect: Dialect;

  constructor(storage: QueryStore) {
    this.storage = storage;
    this.dialect = dialectOf(storage);
  }

  query<R extends { [column: string]: unknown }>(sql: string, args: readonly unknown[] = []): Promise<R[]> {
    return this.storage.query<R>(this.#written(sql), args);
  }

  /** One transaction. */
  batch(statements: readonly Statement[]): Promise<void> {
    return this.storage.batch(statements.map(({ sql, args }) => ({ sql: this.#written(sql), args })));
  }

  /** `$1`, `$2` ... for each `?` where the dialect wants that, and the prefix before the names of ours. */
  #written(sql: string): string {
    const { dialect, tablePrefix } = this.storage;
    let n = 0;
    const placed = dialect === "postgres" ? sql.replace(/\?/g, () => `$${++n}`) : sql;
    return tablePrefix ? placed.replace(/\b(?=shedkit_|kv_store)/g, tablePrefix) : placed;
  }
}
