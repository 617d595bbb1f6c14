import type { DocumentStore, SessionInfo } from "@shedkit/store";
import { infoAfter } from "@shedkit/store/backend";
import { AgenticError, newSessionId, type SessionId, type SessionRecord } from "@shedkit/types";
import { badRequest, HttpError } from "./http-error.js";
import { LiveSession, type SessionState } from "./live-session.js";
import type { Notes } from "./notes.js";
import type { ServerLimits, ServerOptions } from "./options.js";

/** A session in a list. */
export interface ListedSession extends SessionInfo, SessionState {
  /** As {@link ServerOptions.label} says. */
  label?: string | undefined;
}

/** Sessions that were begun and have no record yet; more than these are forgotten. */
const MAX_FRESH = 1000;
/** A session that was only looked at is let go of sooner: perhaps another program waits for it. */
const LOOKED_AT_MS = 1000;
/** The title of a session is in its first records. */
const HEAD = 20;

/** The sessions of a server: those in the store, and which of them are open here. */
export class Sessions {
  readonly notes: Notes;
  readonly docStore: DocumentStore;
  readonly #options: ServerOptions;
  readonly #limits: ServerLimits;
  readonly #open = new Map<SessionId, Promise<LiveSession>>();
  readonly #live = new Map<SessionId, LiveSession>();
  readonly #closing = new Map<SessionId, Promise<void>>();
  readonly #fresh = new Map<SessionId, { createdAt: number; model: string | undefined }>();
  readonly #timers = new Map<SessionId, ReturnType<typeof setTimeout>>();
  readonly #listeners = new Set<(session: SessionId) => void>();
  #ended = false;

  constructor(options: ServerOptions, notes: Notes, limits: ServerLimits) {
    this.#options = options;
    this.#limits = limits;
    this.notes = notes;
    this.docStore = options.docStore;
  }

  /** The open session of that id. */
  live(session: SessionId): LiveSession | undefined {
    return this.#live.get(session);
  }

  /** Calls back when a session is opened, closed, deleted, or begins or ends a turn; returns the function that ends it. */
  onChange(listener: (session: SessionId) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Begins a session; nothing is stored until something is said in it. */
  create(model: string | undefined): SessionId {
    if (model !== undefined) this.known(model);
    const id = newSessionId();
    this.#fresh.set(id, { createdAt: Date.now(), model });
    const [oldest] = this.#fresh.keys();
    if (oldest !== undefined && this.#fresh.size > MAX_FRESH) this.#fresh.delete(oldest);
    return id;
  }

  /** Opens a session where it is not, and keeps it open while `work` runs. Throws HttpError 404, or what opening throws. */
  async use<T>(session: SessionId, work: (live: LiveSession) => T | Promise<T>): Promise<T> {
    if (this.#ended) throw new HttpError(503, "shuttingDown", "The server is shutting down.");
    await this.check(session);
    let opening = this.#open.get(session);
    if (opening === undefined) {
      opening = this.#build(session);
      this.#open.set(session, opening);
      opening.catch(() => this.#open.delete(session));
    }
    const live = await opening;
    return live.hold(work);
  }

  /** Throws HttpError 404 where there is no such session. */
  async check(session: SessionId): Promise<void> {
    if (this.#open.has(session) || this.#fresh.has(session)) return;
    for await (const _ of this.docStore.read(session, { before: 2 })) return;
    throw new HttpError(404, "sessionNotFound", `There is no session "${session}".`);
  }

  async info(session: SessionId): Promise<ListedSession> {
    await this.check(session);
    const createdAt = this.#fresh.get(session)?.createdAt ?? Date.now();
    let info: SessionInfo = { id: session, createdAt, updatedAt: createdAt, records: 0 };
    const head: SessionRecord[] = [];
    for await (const { record } of this.docStore.read(session, { before: HEAD + 1 })) head.push(record);
    if (head.length > 0) info = infoAfter(undefined, session, head);
    for await (const { seq, record } of this.docStore.read(session, { last: 1 })) {
      info = { ...info, records: seq, updatedAt: record.at };
    }
    return this.#listed(info);
  }

  async list(query: {
    text?: string | undefined;
    limit: number;
    cursor?: string | undefined;
  }): Promise<{ items: ListedSession[]; cursor?: string | undefined }> {
    const page = await this.docStore.sessions(query);
    const { text, cursor } = query;
    const known = new Set(page.items.map(({ id }) => id));
    const titled = text === undefined || cursor !== undefined ? [] : await this.notes.titled(text);
    const more = await Promise.all(
      titled.filter((id) => !known.has(id)).map((id) => this.info(id).catch(() => undefined)),
    );
    const found = await Promise.all(
      page.items.map(async (info) =>
        info.records > 0 && (await this.#stands(info.id)) ? this.#listed(info) : undefined,
      ),
    );
    return { ...page, items: [...more, ...found].filter((info) => info !== undefined) };
  }

  async #stands(session: SessionId): Promise<boolean> {
    return this.#options.lists?.(session) ?? true;
  }

  async state(session: SessionId): Promise<SessionState> {
    const live = this.#live.get(session);
    const model = live?.model ?? (await this.#modelOf(session));
    return { open: live !== undefined, running: live?.running ?? false, model };
  }

  /** Another model answers from now on. Throws AgenticError `turnInProgress`. */
  async setModel(session: SessionId, model: string): Promise<void> {
    await this.check(session);
    this.known(model);
    const live = this.#live.get(session);
    if (live?.running) {
      throw new AgenticError("turnInProgress", "A turn is running. Wait for it, or abort it, then change the model.", {
        turnId: "",
      });
    }
    await this.notes.setModel(session, model);
    if (live && live.model !== model) await this.#close(session);
    this.#changed(session);
  }

  /** A copy that goes on from here, or from a record. */
  async fork(session: SessionId, at: string | undefined): Promise<SessionId> {
    const copy = await this.use(session, async ({ session, model }) => {
      const copy = await session.fork(at);
      await copy.end();
      await this.notes.setModel(copy.sessionId, model);
      return copy.sessionId;
    });
    const title = await this.notes.title(session);
    if (title !== undefined) await this.notes.setTitle(copy, title);
    return copy;
  }

  async remove(session: SessionId): Promise<void> {
    await this.check(session);
    await this.#close(session);
    this.#fresh.delete(session);
    const remove = this.#options.remove ?? ((id: SessionId) => this.docStore.delete(id));
    await remove(session);
    await this.notes.forget(session);
    this.#changed(session);
  }

  /** Ends every open session. */
  async end(): Promise<void> {
    this.#ended = true;
    await Promise.allSettled([...this.#open.values()]);
    await Promise.allSettled([...this.#live.keys()].map((id) => this.#close(id)));
    await Promise.allSettled(this.#closing.values());
    this.#listeners.clear();
  }

  /** The id of a model that is served. Throws HttpError 400. */
  known(model: string): string {
    const ids = this.#options.models.map(({ id }) => id);
    if (ids.includes(model)) return model;
    throw badRequest(`There is no model "${model}" here; there are: ${ids.join(", ")}.`);
  }

  /** The model that answers where nobody chooses. */
  get firstModel(): string {
    return this.#options.models[0]?.id ?? "";
  }

  async #modelOf(session: SessionId): Promise<string> {
    const noted = (await this.notes.model(session)) ?? this.#fresh.get(session)?.model;
    return this.#options.models.some(({ id }) => id === noted) ? (noted as string) : this.firstModel;
  }

  async #listed(info: SessionInfo): Promise<ListedSession> {
    const { id } = info;
    const [title, label, state] = await Promise.all([this.notes.title(id), this.#options.label?.(id), this.state(id)]);
    return { ...info, ...state, ...(title !== undefined && { title }), ...(label !== undefined && { label }) };
  }

  async #build(session: SessionId): Promise<LiveSession> {
    await this.#closing.get(session);
    const model = await this.#modelOf(session);
    if (model !== this.firstModel) await this.notes.setModel(session, model);
    const built = await this.#options.open({ docStore: this.docStore, sessionId: session, model });
    const live = new LiveSession(built, model, () => {
      this.#setTimer(session, live);
      this.#changed(session);
    });
    this.#live.set(session, live);
    this.#changed(session);
    return live;
  }

  /** A session that nobody uses is let go of, so that other programs may have it. */
  #setTimer(session: SessionId, live: LiveSession): void {
    clearTimeout(this.#timers.get(session));
    this.#timers.delete(session);
    if (!live.idle || this.#live.get(session) !== live) return;
    const timer = setTimeout(
      () => {
        this.#timers.delete(session);
        void this.#letGo(session, live);
      },
      Math.min(this.#limits.idleMs, live.worked ? Number.POSITIVE_INFINITY : LOOKED_AT_MS),
    );
    this.#timers.set(session, timer);
  }

  /** Closes a session that is still idle when its memory model has done its work. */
  async #letGo(session: SessionId, live: LiveSession): Promise<void> {
    await live.session.settled();
    // What closing could not store is nobody's to be told here; the next one who opens the session sees the log.
    if (live.idle && this.#live.get(session) === live) await this.#close(session).catch(() => undefined);
  }

  async #close(session: SessionId): Promise<void> {
    const live = this.#live.get(session);
    clearTimeout(this.#timers.get(session));
    this.#timers.delete(session);
    if (live === undefined) return this.#closing.get(session);
    this.#live.delete(session);
    this.#open.delete(session);
    const closing = live.end();
    this.#closing.set(
      session,
      closing.catch(() => undefined),
    );
    this.#changed(session);
    try {
      await closing;
    } finally {
      this.#closing.delete(session);
    }
  }

  #changed(session: SessionId): void {
    for (const listener of this.#listeners) listener(session);
  }
}
