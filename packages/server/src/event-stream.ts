import type { SessionItem } from "@shedkit/agent";
import type { SessionId } from "@shedkit/types";
import { httpError } from "./http-error.js";
import { placeOfRecord } from "./log-reader.js";
import type { ServerLimits } from "./options.js";
import type { Sessions } from "./sessions.js";
import { SseWriter } from "./sse-writer.js";

/** Where a reader is: a record, its number, and how much of the step behind it was shown. */
interface Place {
  recordId: string;
  seq: number;
  shown: number;
}

/** The place behind the event `after`; the empty string is the beginning. Undefined where the log has no such event. */
export async function placeBehind(sessions: Sessions, session: SessionId, after: string): Promise<Place | undefined> {
  const [recordId = "", shown = "0"] = after.split("~");
  if (recordId === "") return { recordId, seq: 0, shown: Number(shown) };
  const seq = await placeOfRecord(sessions.docStore, session, recordId);
  return seq === undefined || !/^\d+$/.test(shown) ? undefined : { recordId, seq, shown: Number(shown) };
}

/**
 * The events of a session from a place on, as server-sent events: what the log holds, then what happens. A session that
 * is not open here is followed by its log alone.
 */
export function eventStream(
  sessions: Sessions,
  session: SessionId,
  place: Place,
  limits: ServerLimits,
  signal: AbortSignal,
): { body: ReadableStream<Uint8Array>; done: Promise<void> } {
  const writer = new SseWriter(limits.readerBytes, limits.heartbeatMs);
  const stop = AbortSignal.any([signal, writer.left]);
  const follower = new Follower(sessions, session, place, limits, writer, stop);
  const done = follower
    .run()
    .catch((error: unknown) => {
      const { code, message } = httpError(error);
      writer.send("error", { code, message });
    })
    .finally(() => writer.end());
  return { body: writer.body, done };
}

class Follower {
  readonly #sessions: Sessions;
  readonly #session: SessionId;
  readonly #place: Place;
  readonly #limits: ServerLimits;
  readonly #writer: SseWriter;
  readonly #stop: AbortSignal;
  #wake: () => void = () => undefined;
  #deleted = false;
  #moved = false;
  #told = "";

  constructor(
    sessions: Sessions,
    session: SessionId,
    place: Place,
    limits: ServerLimits,
    writer: SseWriter,
    stop: AbortSignal,
  ) {
    this.#sessions = sessions;
    this.#session = session;
    this.#place = place;
    this.#limits = limits;
    this.#writer = writer;
    this.#stop = stop;
  }

  async run(): Promise<void> {
    const stopListening = this.#sessions.onChange((session) => {
      if (session !== this.#session) return;
      this.#wake();
      this.#tellState().catch(() => undefined); // the loop meets what is wrong with the store
    });
    try {
      while (!this.#stop.aborted && !this.#deleted) {
        await this.#readLog();
        await this.#tellState();
        const live = this.#sessions.live(this.#session);
        if (live) await this.#follow(live.session.items({ after: this.#after, signal: this.#stop }));
        else await this.#pause();
      }
    } finally {
      stopListening();
    }
  }

  /** What the log holds behind the place, as fast as the reader takes it. */
  async #readLog(): Promise<void> {
    await this.#find();
    for await (const { seq, record } of this.#sessions.docStore.read(this.#session, { after: this.#place.seq })) {
      await this.#writer.room(this.#stop);
      if (this.#stop.aborted) return;
      this.#place.recordId = record.id;
      this.#place.seq = seq;
      if (record.type === "step") this.#place.shown = 0;
      this.#writer.send("record", record, this.#after);
    }
  }

  /** What happens, until the session is closed or the reader falls behind: then it goes on from the log. */
  async #follow(items: AsyncIterable<SessionItem>): Promise<void> {
    for await (const item of items) {
      const { id, turnId, ...shown } = item;
      const [recordId = "", count = "0"] = id.split("~");
      if (shown.type === "record") {
        // What waits for leave is shown again when its turn goes on.
        if (shown.record.type === "approvalRequested" && recordId <= this.#place.recordId) continue;
        this.#writer.send("record", shown.record, id);
        this.#moved = true;
      } else {
        const { type, ...data } = shown;
        this.#writer.send(type, { ...data, turnId }, type === "delta" ? id : undefined);
      }
      this.#place.recordId = recordId;
      this.#place.shown = Number(count);
      if (this.#writer.full) break;
    }
    await this.#writer.room(this.#stop);
  }

  /** Where in the log the place is, after it moved with what happened. */
  async #find(): Promise<void> {
    if (!this.#moved) return;
    this.#moved = false;
    const { docStore } = this.#sessions;
    this.#place.seq = (await placeOfRecord(docStore, this.#session, this.#place.recordId)) ?? this.#place.seq;
  }

  get #after(): string {
    const { recordId, shown } = this.#place;
    return shown === 0 ? recordId : `${recordId}~${shown}`;
  }

  /** Until the session is opened here, or it is time to look at its log again. */
  async #pause(): Promise<void> {
    if (this.#stop.aborted) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const wake = () => this.#wake();
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      timer = setTimeout(resolve, this.#limits.pollMs);
      this.#stop.addEventListener("abort", wake, { once: true });
    });
    clearTimeout(timer);
    this.#stop.removeEventListener("abort", wake);
  }

  /** What is not in the log: whether a turn runs, and which model answers. */
  async #tellState(): Promise<void> {
    const exists = await this.#sessions.check(this.#session).then(
      () => true,
      () => false,
    );
    if (this.#stop.aborted || this.#deleted) return;
    if (!exists) {
      this.#deleted = true;
      this.#writer.send("deleted", {});
      this.#writer.end();
      return;
    }
    const state = await this.#sessions.state(this.#session);
    const text = JSON.stringify(state);
    if (text === this.#told) return;
    this.#told = text;
    this.#writer.send("state", state);
  }
}
