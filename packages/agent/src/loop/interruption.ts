import { onAbort } from "@shedkit/tool";
import { AgenticError } from "@shedkit/types";

/** What breaks in on a turn: an abort, the end of its session, steering. */
export class Interruption {
  /** Why the turn ends, once it was aborted. */
  aborted: AgenticError | undefined;
  sessionEnds = false;
  /** Something was said that the model has not been asked about yet. */
  steered = false;
  #running = abortable();

  /** Of what is running now: a model call, the tools of a step. */
  get signal(): AbortSignal {
    return this.#running.signal;
  }

  abort(reason: string): void {
    if (this.aborted) return;
    this.aborted = new AgenticError("cancelled", `The turn was aborted: ${reason}`, { reason });
    this.#running.abort(this.aborted);
  }

  steer(): void {
    this.steered = true;
    this.#running.abort(new AgenticError("cancelled", "A steering message came.", { reason: "steered" }));
  }

  /** Before the next request, which answers what was said. */
  renew(): void {
    if (this.signal.aborted && !this.aborted) this.#running = abortable();
    this.steered = false;
  }
}

/** Somebody waits for its signal from the beginning: what waits for it in each step takes no listener of its own then. */
function abortable(): AbortController {
  const controller = new AbortController();
  onAbort(controller.signal, () => undefined);
  return controller;
}
