import type { KeyValueStore } from "@shedkit/store";
import type { SessionId } from "@shedkit/types";

const TITLE = "server/title/";
const MODEL = "server/model/";

/** What is kept of sessions beside their logs: what people call them, and the models they chose. */
export class Notes {
  readonly #store: KeyValueStore;

  constructor(store: KeyValueStore) {
    this.#store = store;
  }

  title(session: SessionId): Promise<string | undefined> {
    return this.#text(TITLE + session);
  }

  /** The empty title takes the given one away. */
  async setTitle(session: SessionId, title: string): Promise<void> {
    if (title === "") await this.#store.delete(TITLE + session);
    else await this.#store.set(TITLE + session, title);
  }

  model(session: SessionId): Promise<string | undefined> {
    return this.#text(MODEL + session);
  }

  async setModel(session: SessionId, model: string): Promise<void> {
    await this.#store.set(MODEL + session, model);
  }

  /** The sessions whose given title has a text in it, whatever the case. */
  async titled(text: string): Promise<SessionId[]> {
    const found: SessionId[] = [];
    for await (const key of this.#store.keys(TITLE)) {
      const title = await this.#text(key);
      if (title?.toLowerCase().includes(text.toLowerCase())) found.push(key.slice(TITLE.length) as SessionId);
    }
    return found;
  }

  async forget(session: SessionId): Promise<void> {
    await this.#store.delete(TITLE + session);
    await this.#store.delete(MODEL + session);
  }

  async #text(key: string): Promise<string | undefined> {
    const value = await this.#store.get(key);
    return typeof value === "string" ? value : undefined;
  }
}
