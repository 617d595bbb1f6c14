import type { AnyAgentSession } from "@shedkit/agent";
import type { MessageLike } from "@shedkit/types";

/** What of a session is not in its log. */
export interface SessionState {
  /** Whether it is open in this server. */
  open: boolean;
  running: boolean;
  /** The model that is asked next. */
  model: string;
}

/** A session that is open here. */
export class LiveSession {
  readonly session: AnyAgentSession;
  readonly model: string;
  running = false;
  /** Whether something was said in it here; else it was only looked at. */
  worked = false;
  readonly #onChange: () => void;
  readonly #watching: Promise<void>;
  readonly #leave = new AbortController();
  #holders = 0;

  constructor(session: AnyAgentSession, model: string, onChange: () => void) {
    this.session = session;
    this.model = model;
    this.#onChange = onChange;
    this.#watching = this.#watch().catch(() => undefined); // then it is known by its turns alone
  }

  /** Whether nothing runs in it and nobody uses it. */
  get idle(): boolean {
    return !this.running && this.#holders === 0;
  }

  /** Keeps it open while `work` runs. */
  async hold<T>(work: (live: LiveSession) => T | Promise<T>): Promise<T> {
    this.#holders++;
    try {
      return await work(this);
    } finally {
      this.#holders--;
      this.#onChange();
    }
  }

  /** Starts a turn and says its id. Throws AgenticError `turnInProgress`, or `session` for an empty message. */
  ask(message: MessageLike, maxSteps?: number): string {
    const turn = this.session.runTurnStream(message, { maxSteps });
    this.#set(true);
    void turn.done().then(() => this.#set(false));
    return turn.turnId;
  }

  /** Breaks a running turn off and lets go of the session. */
  async end(): Promise<void> {
    await this.session.end();
    this.#leave.abort();
    await this.#watching;
  }

  /** A turn may also begin by an approval. */
  async #watch(): Promise<void> {
    for await (const item of this.session.items({ signal: this.#leave.signal })) {
      if (item.type === "progress" && item.progress.type === "initializing") this.#set(true);
      if (item.type !== "record") continue;
      if (item.record.type === "summary" || item.record.type === "failedAction") this.#set(false);
    }
  }

  #set(running: boolean): void {
    if (this.running === running) return;
    this.running = running;
    this.worked = true;
    this.#onChange();
  }
}
