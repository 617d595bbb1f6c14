import type { SessionParts } from "@shedkit/tool";
import { AgenticError } from "@shedkit/types";

/**
 * Stands in for a session's parts where a tool is made without one. A constructor that says it needs no session never
 * looks; one that looks all the same is told so.
 */
export const readyMadeParts: SessionParts = new Proxy({} as SessionParts, {
  get(_target, key) {
    throw new AgenticError(
      "session",
      `a tool constructor with needsSession: false asked for the session's "${String(key)}"; set needsSession: true`,
      { reason: "needsSession" },
    );
  },
});
