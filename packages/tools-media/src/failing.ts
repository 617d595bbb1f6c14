import { ToolCallResult, type ToolContext, ToolError } from "@shedkit/tool";

/**
 * Does something that a service is asked for, for so long. What the service refuses is a failed result, with what it
 * says; faults are ToolErrors under the name of the tool.
 */
export async function asking<T>(
  ctx: ToolContext,
  timeoutMs: number,
  what: string,
  act: (signal: AbortSignal) => Promise<T>,
): Promise<T | ToolCallResult> {
  const time = AbortSignal.timeout(timeoutMs);
  try {
    return await act(AbortSignal.any([ctx.signal, time]));
  } catch (error) {
    ctx.signal.throwIfAborted();
    if (time.aborted) return ToolCallResult.failure("timeout", `${what} took longer than ${timeoutMs / 1000} s.`);
    if (!(error instanceof ToolError)) throw error;
    const { kind, status, retryable, retryAfterMs } = error;
    const refused = kind === "execution" && status !== undefined && status < 500;
    if (refused) return ToolCallResult.failure(`refused: HTTP ${status}`, `${what} was refused. ${error.message}`);
    throw new ToolError(kind, ctx.names.tool, error.message, { cause: error, status, retryable, retryAfterMs });
  }
}

const SIZE = /^(?:\d{2,5}x\d{2,5}|[a-z][a-z0-9_:-]{0,30}|\d{1,2}[:x]\d{1,2})$/i;

/** A size that none is, or that the settings do not allow, as a failed result. */
export function badSize(
  size: string | undefined,
  sizes: readonly string[],
  ctx: ToolContext,
): ToolCallResult | undefined {
  if (size === undefined) return undefined;
  const name = ctx.names.param("size");
  if (sizes.length > 0 && !sizes.includes(size)) {
    return ToolCallResult.failure(
      `no such size: ${size}`,
      `${name} must be one of ${sizes.join(", ")}. Nothing was made.`,
    );
  }
  if (SIZE.test(size)) return undefined;
  return ToolCallResult.failure(`no size: ${size}`, `${name} is written as 1024x1024, not as ${JSON.stringify(size)}.`);
}
