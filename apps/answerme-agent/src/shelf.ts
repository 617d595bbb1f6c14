import path from "node:path";
import { type KeyValueStore, KvMemoryStore, type SessionInfo, SqlDocumentStore } from "@shedkit/store";
import { LibsqlStorage } from "@shedkit/store-libsql";
import type { SessionId } from "@shedkit/types";
import { UsageError } from "./exit.js";
import { makeFolder } from "./folder.js";
import type { KeptSession } from "./kept-session.js";

/** Where the sessions of this person are kept. */
export class Shelf {
  readonly docStore: SqlDocumentStore<LibsqlStorage>;
  readonly memoryStore: KvMemoryStore<LibsqlStorage>;
  readonly #storage: LibsqlStorage;

  private constructor(storage: LibsqlStorage) {
    this.#storage = storage;
    this.docStore = new SqlDocumentStore(storage);
    this.memoryStore = new KvMemoryStore(storage);
  }

  /** Opens the database, which is made where there is none. Throws AgenticError `store`, or what mkdir throws. */
  static async open(file: string): Promise<Shelf> {
    await makeFolder(path.dirname(file));
    return new Shelf(await LibsqlStorage.open(`file:${file}`));
  }

  /** What else is kept of sessions. */
  get notes(): KeyValueStore {
    return this.#storage;
  }

  /** Notes which folder a session is about. */
  async place(session: SessionId, root: string): Promise<void> {
    await this.#storage.set(rootKey(session), root);
  }

  /**
   * Sessions in which something was said, newest first; of one folder, or with these words in them. Those of sub-agents,
   * which have no folder of their own, are left out unless `all` are wanted.
   */
  async list(query: {
    root?: string | undefined;
    text?: string | undefined;
    all?: boolean | undefined;
    limit: number;
  }): Promise<KeptSession[]> {
    const { root, text, all = false, limit } = query;
    const found: KeptSession[] = [];
    for await (const info of this.#infos(text)) {
      const kept = await this.#kept(info);
      const fits = root === undefined ? all || kept.root !== undefined : kept.root === root;
      if (fits) found.push(kept);
      if (found.length === limit) return found;
    }
    return found;
  }

  /** The session whose id begins like this. Throws UsageError where there is none, or more than one. */
  async find(id: string): Promise<KeptSession> {
    const fitting: SessionInfo[] = [];
    for await (const info of this.#infos()) if (info.id.startsWith(id.toLowerCase())) fitting.push(info);
    const [only, other] = fitting;
    if (only === undefined) throw new UsageError(`no session begins with "${id}"; answerme-agent sessions lists them`);
    if (other !== undefined) throw new UsageError(`${fitting.length} sessions begin with "${id}"; give more of the id`);
    return this.#kept(only);
  }

  async *#infos(text?: string): AsyncGenerator<SessionInfo> {
    let cursor: string | undefined;
    do {
      const page = await this.docStore.sessions({ text, limit: 100, cursor });
      for (const info of page.items) if (info.records > 0) yield info;
      cursor = page.cursor;
    } while (cursor !== undefined);
  }

  /** Gives a session another title than its first question. */
  async setTitle(session: SessionId, title: string): Promise<void> {
    await this.#storage.set(titleKey(session), title);
  }

  async delete(session: SessionId): Promise<void> {
    await this.docStore.delete(session);
    await this.memoryStore.clear(session);
    await this.#storage.delete(rootKey(session));
    await this.#storage.delete(titleKey(session));
  }

  async close(): Promise<void> {
    await this.docStore.close();
    await this.#storage.close();
  }

  async #kept(info: SessionInfo): Promise<KeptSession> {
    const title = await this.#storage.get(titleKey(info.id));
    return { ...info, ...(typeof title === "string" && { title }), root: await this.rootOf(info.id) };
  }

  /** The folder that a session is about, as far as it was noted. */
  async rootOf(session: SessionId): Promise<string | undefined> {
    const root = await this.#storage.get(rootKey(session));
    return typeof root === "string" ? root : undefined;
  }
}

/** The same as that of the page, so that a title given here is shown there. */
function titleKey(session: SessionId): string {
  return `server/title/${session}`;
}

function rootKey(session: SessionId): string {
  return `answerme/root/${session}`;
}
