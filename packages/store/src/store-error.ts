import { AgenticError, type SessionId } from "@shedkit/types";

/** A store that was closed. `remedy` says how to get a new one. */
export function closedError(store: string, operation: string, remedy: string): AgenticError {
  return new AgenticError("store", `The store is closed. ${remedy}`, { store, operation });
}

/** A session that someone else writes to. */
export function busyError(session: SessionId, what: string): AgenticError {
  return new AgenticError("sessionBusy", `Session ${session} is busy. ${what}`, { sessionId: session });
}

/** A wait that was aborted. */
export function cancelledError(session: SessionId, signal: AbortSignal | undefined): AgenticError {
  return new AgenticError("cancelled", `Waiting for session ${session} was aborted.`, {}, { cause: signal?.reason });
}

/** A key whose version is another than the one that was named. */
export function versionError(store: string, key: string, wanted: number, found: number): AgenticError {
  return new AgenticError(
    "store",
    `"${key}" was changed meanwhile: expected version ${wanted}, found ${found}. Read it and try again.`,
    { store, operation: "set" },
    { retryable: true },
  );
}

/** What a storage's own error means to the caller. An AgenticError stays itself. */
export function storeError(error: unknown, store: string, operation: string): AgenticError {
  if (AgenticError.is(error)) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new AgenticError("store", `${store}: ${operation} failed: ${message}`, { store, operation }, { cause: error });
}
