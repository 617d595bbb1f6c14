import type { ListContext, ToolMetadata } from "@shedkit/tool";

/** Whether a tool wants to be told of now. One that fails to say so is not listed. */
export function wantsListing({ shouldList }: ToolMetadata, context: ListContext): boolean {
  try {
    return shouldList?.(context) ?? true;
  } catch {
    return false;
  }
}
