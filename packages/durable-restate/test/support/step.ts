import type { ModelRequest } from "@shedkit/provider";

/** How often the model has answered since the prompt. */
export function stepOf({ messages }: ModelRequest): number {
  const steps = new Set<string>();
  for (const message of messages) {
    if (message.type === "user" && message.role === "user") steps.clear();
    else if (message.type === "assistant") steps.add(message.stepId);
  }
  return steps.size;
}
