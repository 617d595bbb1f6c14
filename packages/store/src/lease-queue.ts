import type { AgenticError, SessionId } from "@shedkit/types";
import type { SessionLease } from "./contract.js";
import { busyError, cancelledError } from "./store-error.js";

interface Waiter {
  grant(lease: SessionLease): void;
  refuse(error: AgenticError): void;
}

interface Holder {
  fence: number;
  readonly waiters: Waiter[];
}

/** Who may write to which session, within one process. Those who wait are served in the order in which they came. */
export class LeaseQueue {
  readonly #holders = new Map<SessionId, Holder>();
  #fence = 0; // one counter for all sessions: a lease of a deleted session never fits its successor

  async acquire(session: SessionId, waitMs: number, signal: AbortSignal | undefined): Promise<SessionLease> {
    if (signal?.aborted) throw cancelledError(session, signal);
    const holder = this.#holders.get(session);
    if (holder === undefined) return this.#grant(session, []);
    if (waitMs <= 0) throw busyError(session, "Another agent is writing to it; end that one first, or pass waitMs.");
    return new Promise<SessionLease>((resolve, reject) => {
      const leave = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", onAbort);
      };
      const give = (error: AgenticError): void => {
        leave();
        const at = holder.waiters.indexOf(waiter);
        if (at >= 0) holder.waiters.splice(at, 1);
        reject(error);
      };
      const onAbort = (): void => give(cancelledError(session, signal));
      const timer = setTimeout(
        () => give(busyError(session, `It was still being written to after ${waitMs} ms.`)),
        waitMs,
      );
      signal?.addEventListener("abort", onAbort, { once: true });
      const waiter: Waiter = {
        grant(lease) {
          leave();
          resolve(lease);
        },
        refuse: give,
      };
      holder.waiters.push(waiter);
    });
  }

  /** Throws `sessionBusy` for a lease that was released, taken over or revoked. */
  check(lease: SessionLease): void {
    if (this.#holders.get(lease.session)?.fence === lease.fence) return;
    throw busyError(lease.session, "This lease was released or replaced; acquire the session again.");
  }

  /** Ends the lease of a session; the next in line gets a new one. */
  revoke(session: SessionId): void {
    const holder = this.#holders.get(session);
    if (holder !== undefined) this.#next(session, holder);
  }

  /** Ends every lease and refuses all who wait. */
  close(error: () => AgenticError): void {
    const holders = [...this.#holders.values()];
    this.#holders.clear();
    for (const holder of holders) for (const waiter of [...holder.waiters]) waiter.refuse(error());
  }

  #grant(session: SessionId, waiters: Waiter[]): SessionLease {
    const fence = ++this.#fence;
    this.#holders.set(session, { fence, waiters });
    return {
      session,
      fence,
      release: async () => {
        const holder = this.#holders.get(session);
        if (holder?.fence === fence) this.#next(session, holder);
      },
    };
  }

  #next(session: SessionId, holder: Holder): void {
    this.#holders.delete(session);
    const waiter = holder.waiters.shift();
    if (waiter !== undefined) waiter.grant(this.#grant(session, holder.waiters));
  }
}
