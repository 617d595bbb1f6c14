import { ToolCallResult, ToolError } from "@shedkit/tool";
import type { DispatchOutcome } from "@shedkit/toolset";
import type { ToolCallOutcome, ToolCallRequest } from "../types.js";

/** The outcome of a call that ran. */
export function ranOutcome(request: ToolCallRequest, attempts: number, done: DispatchOutcome): ToolCallOutcome {
  const { content, promptText, result, error, errorDetail, effectiveName, repaired } = done;
  const outcome: ToolCallOutcome = { request, content, promptText, attempts };
  if (result !== undefined) outcome.result = result;
  if (error !== undefined) outcome.error = error;
  if (errorDetail !== undefined) outcome.errorDetail = errorDetail;
  if (effectiveName !== undefined) outcome.effectiveName = effectiveName;
  if (repaired !== undefined) outcome.repaired = repaired;
  return outcome;
}

/** The outcome of a call that did not run. */
export function failedOutcome(request: ToolCallRequest, error: ToolError, attempts = 0): ToolCallOutcome {
  return withText({ request, error, attempts }, error.kind, error.message);
}

/** The outcome of a call that another one held up. */
export function skippedOutcome(request: ToolCallRequest, why: string): ToolCallOutcome {
  const reason = `Not run: ${why}.`;
  return withText({ request, skipped: reason, attempts: 0 }, "skipped", reason);
}

/** The outcome of a call whose signal had aborted before it began. */
export function cancelledOutcome(request: ToolCallRequest): ToolCallOutcome {
  return failedOutcome(request, new ToolError("cancelled", request.name, "The call was cancelled before it ran."));
}

/** Throws the outcome's error where it has one. */
export function resultOf({ result, error, content, errorDetail }: DispatchOutcome | ToolCallOutcome): ToolCallResult {
  if (error) throw error;
  return new ToolCallResult(content, { output: result?.output, errorDetail });
}

export function unknownTool(name: string): ToolError {
  return new ToolError("unknownTool", name, `There is no tool "${name}". Look tools up with shed.`);
}

function withText(
  outcome: Omit<ToolCallOutcome, "promptText" | "content" | "errorDetail">,
  errorDetail: string,
  text: string,
): ToolCallOutcome {
  return { ...outcome, content: [{ type: "text", text }], errorDetail, promptText: text };
}
