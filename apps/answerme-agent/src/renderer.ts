import type { TurnEvent } from "@shedkit/agent";
import type { CallInfo } from "@shedkit/tool";
import type { ChangeLine } from "./change.js";

/** What is said of the model before it is loaded. */
export interface ModelNotice {
  /** The name that the model goes by. */
  model: string;
  /** One line for a person. */
  text: string;
}

/** Shows a session to whoever reads: a person, or a program. */
export interface Renderer {
  model(notice: ModelNotice): void;
  /** The session that runs, for programs that go on with it later. */
  session(id: string): void;
  /** `info`: what a call is about. */
  event(event: TurnEvent, info?: CallInfo): void;
  /** Something a person should know that is no part of the answer. */
  notice(text: string): void;
  /** A change that is about to be made, before a person is asked about it. */
  change(lines: readonly ChangeLine[]): void;
  /** One line about what went wrong. */
  error(text: string): void;
  /** The program ends in an error, for programs that wait for a last event. */
  failed(error: unknown): void;
}
