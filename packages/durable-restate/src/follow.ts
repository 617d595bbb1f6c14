import type { SessionItem } from "@shedkit/agent";
import { turnOf } from "@shedkit/agent/internals";
import { AgenticError, type SessionRecord } from "@shedkit/types";
import { type FeedItem, type FeedPage, LEFT_OUT, type LogPage } from "./wire.js";

/** How soon a feed is asked again that could not be asked. */
const RETRY_MS = 1000;
/** How many records are remembered as shown: more than a feed can be behind the log. */
const REMEMBERED = 4000;
/** After so many records from the feed the log is looked at, so that it is known to be read up to there. */
const UNREAD = 1000;

/** Where a session's items come from. */
export interface Source {
  log(range: { after: number } | { last: number }): Promise<LogPage>;
  pull(after: number): Promise<FeedPage>;
}

export interface Following {
  /** The place in the log that is known already, and in the feed. */
  from: { seq: number; n: number };
  /** The ids of the records before it, where the feed may still show them. */
  known?: readonly string[] | undefined;
  /** The record of the log behind which it begins. Default: the place. */
  after?: string | undefined;
  /** Resolves when nothing more is wanted. */
  ended: Promise<unknown>;
  /** Whether what the log holds then is still wanted. */
  toTheEnd: boolean;
}

/**
 * What a session shows, on whatever worker: each record of the log once and in order, and between them the pieces of what
 * is being made, as far as none of them is missing.
 */
export async function* follow(source: Source, options: Following): AsyncGenerator<SessionItem, void, void> {
  const { toTheEnd } = options;
  let { seq, n } = options.from;
  let { after } = options;
  let turnId = "";
  let unread = 0;
  /** Pieces of the running step were missed: the others of it make no sense. */
  let missed = false;
  const seen = new Seen(options.known ?? []);
  const end = new End(options.ended);

  async function* fromLog(): AsyncGenerator<SessionItem, void, void> {
    for (let more = true; more; ) {
      const page = await source.log({ after: seq });
      for (const record of page.records) {
        turnId = turnOf(record) ?? turnId;
        const isNew = seen.take(record);
        if (isNew && after === undefined) yield { type: "record", record, id: record.id, turnId };
        if (record.id === after) after = undefined;
      }
      ({ seq, more } = page);
    }
    unread = 0;
  }

  if (after !== undefined) {
    yield* fromLog();
    if (after !== undefined) throw unknownPlace(after);
  }
  while (!end.reached) {
    const page = await end.orEarlier(source.pull(n).catch(() => undefined));
    if (end.reached) break;
    const items = (page?.items ?? []).map((text) => JSON.parse(text) as FeedItem);
    const passedBy = page !== undefined && page.n - n !== items.length;
    missed ||= passedBy;
    n = page?.n ?? n;
    try {
      if (passedBy || items.some(isLeftOut) || items.length === 0 || unread > UNREAD) yield* fromLog();
    } catch {
      if (page) await end.orAfter(RETRY_MS); // the log cannot be reached now: what it holds comes later
    }
    if (!page) await end.orAfter(RETRY_MS);
    // What stands before a record that was shown already is old.
    const old = items.findLastIndex((item) => item.type === "record" && seen.has(item.record.id));
    for (const [i, item] of items.entries()) {
      if (item.type === "leftOut") missed = true;
      else if (item.type === "record" && item.record.type === "step") missed = false;
      if (i <= old || item.type === "leftOut") continue;
      if (item.type === "delta" && (missed || seen.hasStep(item.stepId))) continue;
      if (item.type === "record") {
        seen.take(item.record);
        turnId = item.turnId;
        unread++;
      }
      yield item;
    }
  }
  if (toTheEnd) yield* fromLog();
}

/** The newest of the records that were shown. */
class Seen {
  readonly #ids: Set<string>;

  constructor(ids: readonly string[]) {
    this.#ids = new Set(ids);
  }

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  /** Whether its records were shown: pieces of it are old then. */
  hasStep(stepId: string): boolean {
    return this.#ids.has(`step ${stepId}`);
  }

  /** Whether it is a new one. */
  take(record: SessionRecord): boolean {
    if (this.#ids.has(record.id)) return false;
    this.#ids.add(record.id);
    if (record.type === "step") this.#ids.add(`step ${record.stepId}`);
    for (const oldest of this.#ids) {
      if (this.#ids.size <= REMEMBERED) break;
      this.#ids.delete(oldest);
    }
    return true;
  }
}

function isLeftOut(item: FeedItem): boolean {
  return item.type === LEFT_OUT.type;
}

/** The end of a reader, to be waited for beside other things any number of times. */
class End {
  reached = false;
  readonly #listeners = new Set<() => void>();

  constructor(ended: Promise<unknown>) {
    const reach = () => {
      this.reached = true;
      for (const listener of [...this.#listeners]) listener();
    };
    ended.then(reach, reach);
  }

  /** What `work` comes to; undefined where the end is earlier. `work` does not reject. */
  orEarlier<T>(work: Promise<T>): Promise<T | undefined> {
    return this.#wait((resolve) => void work.then(resolve));
  }

  async orAfter(ms: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await this.#wait((resolve) => {
      timer = setTimeout(resolve, ms);
    });
    clearTimeout(timer);
  }

  async #wait<T>(begin: (resolve: (value?: T) => void) => void): Promise<T | undefined> {
    let leave: () => void = () => undefined;
    const value = await new Promise<T | undefined>((resolve) => {
      leave = () => resolve(undefined);
      this.#listeners.add(leave);
      if (this.reached) leave();
      else begin(resolve);
    });
    this.#listeners.delete(leave);
    return value;
  }
}

function unknownPlace(after: string): AgenticError {
  return new AgenticError(
    "session",
    `The session has no item "${after}". Pass the id of an item it gave, or "" for the beginning.`,
    { reason: "unknown event" },
  );
}
