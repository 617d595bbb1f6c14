/** What is used of a prepared statement of D1. */
export interface D1Statement {
  bind(...values: unknown[]): D1Statement;
  all(): Promise<{ results?: unknown[] | undefined }>;
}

/** What is used of a Worker's D1 binding. */
export interface D1Binding {
  prepare(sql: string): D1Statement;
  batch(statements: D1Statement[]): Promise<unknown>;
}

/** What is used of a Worker's R2 binding. */
export interface R2Binding {
  put(key: string, data: Uint8Array): Promise<unknown>;
  get(key: string): Promise<{ arrayBuffer(): Promise<ArrayBuffer> } | null>;
  head(key: string): Promise<unknown>;
  delete(key: string): Promise<void>;
}
