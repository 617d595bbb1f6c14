import { checkState } from "./check-result.js";
import type { ToolMetadata } from "./metadata.js";
import type { StateHandle } from "./params.js";

/** The memory of a tool that no session keeps one for; what is set must fit its schema. */
export function ownMemory(state: ToolMetadata["state"], tool: string): StateHandle<unknown> {
  let value: unknown = state?.initial();
  return {
    get: () => value,
    set: (next) => {
      if (state !== undefined) checkState(state.schema, tool, next);
      value = next;
    },
  };
}
