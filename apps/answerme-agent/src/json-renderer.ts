import type { TurnEvent } from "@shedkit/agent";
import type { CallInfo } from "@shedkit/tool";
import { AgenticError, noUsage, type SerializedError } from "@shedkit/types";
import { UsageError } from "./exit.js";
import type { ModelNotice, Renderer } from "./renderer.js";
import type { Terminal } from "./terminal.js";

/** One JSON object a line on standard output: first `start`, then the turn's events as they come. */
export class JsonRenderer implements Renderer {
  readonly #terminal: Terminal;
  /** The last event was written. */
  #ended = false;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  model({ model, text }: ModelNotice): void {
    this.#line({ type: "start", model, notice: text });
  }

  session(id: string): void {
    this.#line({ type: "session", id });
  }

  event(event: TurnEvent, info?: CallInfo): void {
    this.#ended = event.type === "failed" || event.type === "done";
    this.#line(info === undefined ? event : { ...event, info });
  }

  notice(text: string): void {
    this.#terminal.err.write(`${text}\n`);
  }

  change(): void {}

  error(text: string): void {
    this.#terminal.err.write(`answerme-agent: ${text}\n`);
  }

  failed(error: unknown): void {
    if (this.#ended) return;
    this.#line({ type: "failed", error: serialized(error), usage: noUsage });
  }

  #line(value: object): void {
    this.#terminal.out.write(`${JSON.stringify(value)}\n`);
  }
}

/** An error as those of turns are written; what is wrong with the command line or the settings has the code `usage`. */
function serialized(error: unknown): SerializedError {
  if (error instanceof UsageError) return { code: "usage", message: error.message, details: {}, causes: [] };
  return AgenticError.from(error).toJSON();
}
