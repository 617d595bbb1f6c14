import { AgenticError } from "@shedkit/types";

/** What went wrong with a folder, in one line. */
export function loadError(folder: string, cause: unknown): AgenticError {
  if (AgenticError.is(cause)) return cause;
  const reason = (cause instanceof Error ? cause.message : String(cause)).split("\n", 1)[0];
  const text = `transformers.js cannot load ${folder}: ${reason}. The files may be damaged, or of a kind that it does not know.`;
  return new AgenticError("provider", text, { problem: "loadFailed" }, { cause });
}
