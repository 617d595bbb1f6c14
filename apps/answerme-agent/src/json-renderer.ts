import type { TurnEvent } from "@shedkit/agent";
import type { ModelNotice, Renderer } from "./renderer.js";
import type { Terminal } from "./terminal.js";

/** One JSON object a line on standard output: first `start`, then the turn's events as they come. */
export class JsonRenderer implements Renderer {
  readonly #terminal: Terminal;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  model({ model, text }: ModelNotice): void {
    this.#line({ type: "start", model, notice: text });
  }

  session(id: string): void {
    this.#line({ type: "session", id });
  }

  event(event: TurnEvent): void {
    this.#line(event);
  }

  notice(text: string): void {
    this.#terminal.err.write(`${text}\n`);
  }

  change(): void {}

  error(text: string): void {
    this.#terminal.err.write(`answerme-agent: ${text}\n`);
  }

  #line(value: object): void {
    this.#terminal.out.write(`${JSON.stringify(value)}\n`);
  }
}
