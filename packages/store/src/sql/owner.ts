import type { QueryStore } from "../contract.js";
import { Database } from "./database.js";

/**
 * Who this store is among all that use the database. While it holds leases it says so from time to time, so that what
 * a dead process held is free again after `leaseMs`, or at once where the storage can tell that it died.
 */
export class LeaseOwner {
  readonly id: string;
  readonly #storage: QueryStore;
  readonly #database: Database;
  readonly #leaseMs: number;
  #leases = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #saying: Promise<unknown> = Promise.resolve();

  constructor(storage: QueryStore, id: string, leaseMs: number) {
    this.id = storage.owner === undefined ? id : `${storage.owner}/${id}`;
    this.#storage = storage;
    this.#database = new Database(storage);
    this.#leaseMs = leaseMs;
  }

  /** A lease begins. The owner is known in the database when this resolves. */
  async begin(): Promise<void> {
    this.#leases++;
    if (this.#leases === 1) {
      this.#say(() => this.#sayAlive());
      this.#sayLater();
    }
    try {
      await this.#saying;
    } catch (error) {
      await this.end();
      throw error;
    }
  }

  /** A lease ended. */
  async end(): Promise<void> {
    this.#leases--;
    if (this.#leases > 0) return;
    clearTimeout(this.#timer);
    await this.#say(async () => {
      if (this.#leases > 0) return; // the next one began meanwhile
      await this.#database.query("DELETE FROM shedkit_owners WHERE id = ?", [this.id]).catch(() => {}); // it expires anyway
    });
  }

  /** Whether a lease of `owner` still counts. */
  async isAlive(owner: string): Promise<boolean> {
    const told = await this.#storage.isAlive?.(owner.slice(0, Math.max(0, owner.lastIndexOf("/"))));
    if (told !== undefined) return told;
    const sql = `SELECT 1 AS found FROM shedkit_owners WHERE id = ? AND expires_at > ${this.#database.dialect.now}`;
    return (await this.#database.query(sql, [owner])).length > 0;
  }

  /** One word after the other: the way to the database may mix them up, and the last one counts. */
  #say(word: () => Promise<void>): Promise<unknown> {
    this.#saying = this.#saying.catch(() => {}).then(word);
    return this.#saying;
  }

  async #sayAlive(): Promise<void> {
    const until = `${this.#database.dialect.now} + ${this.#leaseMs}`;
    await this.#database.query(
      `INSERT INTO shedkit_owners (id, expires_at) VALUES (?, ${until})
        ON CONFLICT (id) DO UPDATE SET expires_at = excluded.expires_at`,
      [this.id],
    );
  }

  #sayLater(): void {
    clearTimeout(this.#timer);
    const timer = setTimeout(() => {
      // A word that did not get through is said again; an append finds out whether the lease was taken meanwhile.
      this.#saying = this.#sayAlive().catch(() => {});
      this.#sayLater();
    }, this.#leaseMs / 3);
    this.#timer = timer;
    (timer as { unref?(): void }).unref?.(); // where timers keep a process alive, this one must not
  }
}
