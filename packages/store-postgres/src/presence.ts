import pg from "pg";

const PREFIX = "pg:";
const RETRY_MS = 1000;

/**
 * Says that this storage is in use: a connection of its own holds an advisory lock, which PostgreSQL takes away as soon
 * as the connection is gone. So that this is soon also when a whole machine is gone, the server asks every few seconds.
 */
export class Presence {
  readonly id: string;
  readonly #settings: pg.ClientConfig;
  #client: pg.Client | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #closed = false;

  constructor(settings: pg.ClientConfig) {
    const [high = 0, low = 0] = crypto.getRandomValues(new Uint32Array(2));
    this.#settings = settings;
    this.id = `${PREFIX}${high & 0x7fffffff}.${low}`;
  }

  async begin(): Promise<void> {
    const client = new pg.Client(this.#settings);
    client.on("error", () => {}); // "end" follows
    await client.connect();
    this.#client = client;
    client.once("end", () => this.#again());
    await client.query("SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3");
    const [high, low] = keyOf(this.id) ?? [];
    await client.query("SELECT pg_advisory_lock(($1::bigint << 32) | $2::bigint)", [high, low]);
  }

  async end(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#client?.end().catch(() => {});
  }

  /** The connection broke. Until it is back this storage counts as dead, and others may take its sessions. */
  #again(): void {
    if (this.#closed) return;
    this.#timer = setTimeout(() => {
      this.begin().catch(() => this.#again());
    }, RETRY_MS).unref();
  }
}

/** A statement that finds the lock of an owner; undefined for a name that no {@link Presence} gave. */
export function lockQuery(owner: string): { sql: string; args: readonly unknown[] } | undefined {
  const key = keyOf(owner);
  if (key === undefined) return undefined;
  const sql = `SELECT 1 AS found FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND classid = $1 AND objid = $2`;
  return { sql, args: key };
}

function keyOf(owner: string): [high: string, low: string] | undefined {
  const [, high, low] = /^pg:(\d+)\.(\d+)$/.exec(owner) ?? [];
  return high === undefined || low === undefined ? undefined : [high, low];
}
