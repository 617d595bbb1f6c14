import { normalizeTranscript } from "@shedkit/provider/transcript";
import type { DocumentStore } from "@shedkit/store";
import type { SessionId } from "@shedkit/types";
import { abortedError } from "../abortable.js";
import type { LoopEffects } from "../loop/effects.js";
import { closeOpenCalls } from "../loop/execution.js";
import type { SessionLog } from "./log.js";
import { type OpenCall, SessionState } from "./session-state.js";

/** The state that a stored log says. Throws AgenticError `session` for a record of a newer format. */
export async function readState(
  store: DocumentStore,
  sessionId: SessionId,
  signal?: AbortSignal | undefined,
): Promise<SessionState> {
  const state = new SessionState();
  for await (const { record } of store.read(sessionId)) {
    if (signal?.aborted) throw abortedError(signal, "The log was not read");
    state.apply(record);
  }
  return state;
}

/**
 * Makes a conversation that broke off anywhere one that every provider accepts. Nothing that finished is touched, and
 * calls that wait for leave go on waiting, as do those that `runsAgain` names.
 */
export async function mend(
  log: SessionLog,
  effects: Pick<LoopEffects, "newId">,
  runsAgain: (open: OpenCall) => boolean = () => false,
): Promise<void> {
  const { state } = log;
  const waits = (open: OpenCall) => (state.suspended && open.attempt === 0) || runsAgain(open);
  const why = (open: OpenCall) => (open.attempt === 0 ? NOT_STARTED : INTERRUPTED);
  const gone = [...state.openCalls.values()].filter((open) => !waits(open));
  await closeOpenCalls(log, effects, "interrupted", why, gone);
  if (state.openCalls.size === 0) state.messages = normalizeTranscript(state.messages, { exclude: state.retracted });
}

const NOT_STARTED = "The call did not run: the program stopped before it.";
const INTERRUPTED =
  "The call was interrupted: the program stopped before its result was known. It may have taken effect; look before you repeat it.";
