import type { AgentProgress } from "@shedkit/agent";
import type { SessionRecord } from "@shedkit/types";
import { useEffect, useReducer } from "preact/hooks";
import { ApiError, api, type ModelEntry, type SessionEntry, type Stored } from "./api.js";
import { Conversation } from "./conversation.js";

/** How many records are shown at first, and with each "earlier". */
const WINDOW = 400;
const RETRY_MS = 2000;

/** The session that is shown. */
export interface Current {
  id: string;
  info: SessionEntry;
  conversation: Conversation;
  /** Those that are shown, in order. */
  records: Stored[];
  running: boolean;
  connected: boolean;
  /** What is going on. */
  activity: Activity;
}

/** What is going on, in a few words, and the part of it that is done, from 0 to 1, where that is known. */
interface Activity {
  text: string;
  share?: number | undefined;
}

const NOTHING: Activity = { text: "" };
/** By the kind of delta. */
const ACTIVITIES: { readonly [kind: string]: string } = { thinking: "thinking", text: "writing" };

/** All that the page knows. Components follow it by {@link useStore}. */
class Store {
  login = false;
  models: ModelEntry[] = [];
  sessions: SessionEntry[] = [];
  more: string | undefined;
  search = "";
  current: Current | undefined;
  problem = "";
  /** What a screen reader is told. */
  announced = "";
  readonly #listeners = new Set<() => void>();
  #events: EventSource | undefined;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #drawn = 0;
  #listing = 0;
  /** The session that is shown, or is about to be. */
  #wanted: { id: string; shown: Promise<void> } | undefined;
  #begun: Promise<void> = Promise.resolve();

  /** Tells components, once a frame. */
  changed(): void {
    if (this.#drawn) return;
    this.#drawn = requestAnimationFrame(() => {
      this.#drawn = 0;
      for (const listener of this.#listeners) listener();
    });
  }

  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  announce(text: string): void {
    this.announced = text;
    this.changed();
  }

  /** Runs an action of the user; what goes wrong is shown. */
  async run<T>(action: () => Promise<T>): Promise<T | undefined> {
    try {
      this.problem = "";
      return await action();
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) this.login = true;
      else this.problem = error instanceof Error ? error.message : String(error);
      this.changed();
      return undefined;
    } finally {
      this.changed();
    }
  }

  async start(): Promise<void> {
    await this.run(async () => {
      ({ models: this.models } = await api.models());
      this.login = false;
      await this.list();
      await this.showHash();
    });
  }

  /** The session that the address names, else the newest, else a new one. */
  async showHash(): Promise<void> {
    const id = /^#\/s\/(.+)$/.exec(location.hash)?.[1];
    if (id !== undefined) {
      try {
        return await this.show(decodeURIComponent(id));
      } catch (error) {
        if (!(error instanceof ApiError) || error.status !== 404) throw error;
        await this.elsewhere();
        throw error;
      }
    }
    const [newest] = this.sessions;
    if (newest) return this.open(newest.id);
    await this.begin();
  }

  /** Another session than the one that the address names, which is not there any more. */
  async elsewhere(): Promise<void> {
    history.replaceState(null, "", location.pathname); // this is no change that anybody is told of
    this.search = "";
    await this.list();
    await this.showHash();
  }

  /** Lists the sessions, those with the search in them. */
  async list(more = false): Promise<void> {
    const turn = ++this.#listing;
    const page = await api.list(this.search, more ? this.more : undefined);
    if (turn !== this.#listing) return;
    this.sessions = more ? [...this.sessions, ...page.items] : page.items;
    this.more = page.cursor;
    this.changed();
  }

  /** Makes a session and shows it. */
  begin(): Promise<void> {
    const made = async () => {
      const { id } = await api.create(this.current?.info.model);
      this.open(id);
      await this.show(id);
    };
    const begun = made();
    this.#begun = begun;
    begun.catch(() => {
      if (this.#begun === begun) this.#begun = Promise.resolve();
    });
    return begun;
  }

  /** The session that is meant by who writes now: the one that was begun, once it is there; none where that failed. */
  async meant(): Promise<Current | undefined> {
    return this.#begun.then(
      () => this.current,
      () => undefined,
    );
  }

  open(id: string): void {
    location.hash = `#/s/${encodeURIComponent(id)}`;
  }

  /** Shows a session, unless another one is wanted before it has come. */
  show(id: string): Promise<void> {
    if (this.#wanted?.id === id) return this.#wanted.shown;
    const mine = () => this.#wanted === wanted;
    const wanted = { id, shown: Promise.resolve() };
    this.#wanted = wanted;
    wanted.shown = this.#load(id, mine).catch((error: unknown) => {
      if (mine()) this.#wanted = undefined;
      throw error;
    });
    return wanted.shown;
  }

  async #load(id: string, mine: () => boolean): Promise<void> {
    this.#events?.close();
    clearTimeout(this.#retry);
    const [info, { records }] = await Promise.all([api.info(id), api.records(id, WINDOW)]);
    if (!mine()) return;
    const conversation = new Conversation();
    for (const { record } of records) conversation.apply(record);
    this.current = { id, info, conversation, records, running: info.running, connected: true, activity: NOTHING };
    this.announced = "";
    this.#connect(records.at(-1)?.record.id ?? "");
    this.changed();
  }

  async earlier(): Promise<void> {
    const { current } = this;
    const first = current?.records[0]?.seq ?? 1;
    if (!current || first <= 1) return;
    const { records } = await api.records(current.id, WINDOW, first);
    current.records = [...records, ...current.records];
    current.conversation = new Conversation();
    for (const { record } of current.records) current.conversation.apply(record);
    this.changed();
  }

  #connect(after: string): void {
    const { current } = this;
    if (!current) return;
    const events = new EventSource(api.eventsUrl(current.id, after));
    this.#events = events;
    let last = after;
    const on = (type: string, take: (data: never) => void) =>
      events.addEventListener(type, (event) => {
        if (this.current !== current) return;
        const { data, lastEventId } = event as MessageEvent<string>;
        if (lastEventId) last = lastEventId;
        take(JSON.parse(data) as never);
        this.changed();
      });
    events.onopen = () => {
      current.connected = true;
      this.changed();
    };
    events.onerror = () => {
      current.connected = false;
      this.changed();
      if (events.readyState !== EventSource.CLOSED || this.current !== current) return;
      // Refused, not only cut off: perhaps the token is another one now.
      this.#retry = setTimeout(
        () => void this.run(() => api.models()).then((ok) => ok && this.#connect(last)),
        RETRY_MS,
      );
    };
    on("record", (record: SessionRecord) => this.#record(current, record));
    on("delta", ({ stepId, block, kind, text }: { stepId: string; block: number; kind: string; text: string }) => {
      current.activity = { text: ACTIVITIES[kind] ?? "preparing a tool call" };
      current.conversation.delta(stepId, block, kind, text);
    });
    on("progress", ({ progress }: { progress: AgentProgress }) => {
      current.activity = activityOf(progress) ?? current.activity;
    });
    on("toolProgress", ({ toolCallId, text }: { toolCallId: string; text?: string }) => {
      if (text) current.conversation.progress(toolCallId, text);
    });
    on("state", ({ running, model }: { running: boolean; model: string }) => {
      if (current.running && !running) current.activity = NOTHING;
      current.running = running;
      current.info = { ...current.info, model };
    });
    on("deleted", () => {
      events.close();
      this.current = undefined;
      void this.run(() => this.elsewhere());
    });
  }

  #record(current: Current, record: SessionRecord): void {
    if (!current.conversation.apply(record)) return;
    current.records.push({ seq: (current.records.at(-1)?.seq ?? 0) + 1, record });
    if (record.type === "approvalRequested") {
      const { name = "A tool", asks = false } = record.call ?? {};
      this.announce(`${name} waits for your ${asks ? "answer" : "leave"}.`);
    }
    if (record.type === "failedAction") this.announce(`The turn ended: ${record.error.message}`);
    if (record.type === "summary") {
      const said = current.conversation.entries.at(-1);
      this.announce(
        said?.kind === "text" ? `Answer: ${said.text.replace(/[*_`#|>]/g, "").slice(0, 1000)}` : "The turn is done.",
      );
    }
    if (record.type === "summary" || record.type === "failedAction") {
      current.running = false;
      current.activity = NOTHING;
      void this.run(() => this.list());
      void api.info(current.id).then((info) => {
        current.info = info;
        this.changed();
      });
    }
  }
}

function activityOf(progress: AgentProgress): Activity | undefined {
  switch (progress.type) {
    case "loadingModel": {
      const { bytesDone, bytesTotal, what } = progress;
      const text = what === "download" ? "downloading the model" : "loading the model";
      return { text, ...(bytesTotal !== undefined && bytesTotal > 0 && { share: bytesDone / bytesTotal }) };
    }
    case "evaluatingPrompt":
      return { text: "reading the conversation", share: progress.tokensDone / progress.tokensTotal };
    case "generating":
      return { text: "waiting for the model" };
    case "toolCallRequested":
      return { text: `preparing ${progress.name}` };
    case "executingTools":
      return { text: "running tools" };
    case "compacting":
      return { text: "summing up what was said" };
    default:
      return undefined;
  }
}

export const store = new Store();

/** Draws the component again when something changed. */
export function useStore(): Store {
  const [, draw] = useReducer((n: number) => n + 1, 0);
  useEffect(() => store.listen(() => draw(undefined as never)), []);
  return store;
}
