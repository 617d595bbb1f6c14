import {
  functionSpec,
  type Message,
  type Tool,
  type ToolDeclarations,
  type ToolFunctionSpec,
  toolName,
} from "@shedkit/types";

/** Which tools stand where the template puts tools, and which in the result of the `shed` call that found them. */
export interface OfferedTools {
  head: ToolFunctionSpec[];
  byCall: ReadonlyMap<string, ToolFunctionSpec[]>;
}

/** Every tool that may be called, `shed` first, in the form that prompts and grammars take. */
export function callableTools(tools: ToolDeclarations): ToolFunctionSpec[] {
  return [...(tools.shed ? [tools.shed] : []), ...tools.tools].map(functionSpec);
}

/**
 * Declares a tool where it became active, so that a prompt only grows. A tool whose `shed` call, or whose own first
 * call, is no longer in the conversation stands at the head, like a pinned one.
 */
export function offeredTools(
  tools: ToolDeclarations,
  messages: readonly Message[],
  where: "result" | "head",
): OfferedTools {
  if (where === "head") return { head: callableTools(tools), byCall: new Map() };
  const by = new Map(tools.activations.map((activation) => [activation.name, activation.by]));
  const results = new Set<string>();
  const called = new Set<string>();
  for (const message of messages) {
    if (message.type !== "toolResult") continue;
    results.add(message.toolCallId);
    called.add(message.name);
  }
  const head: Tool[] = tools.shed ? [tools.shed] : [];
  const byCall = new Map<string, ToolFunctionSpec[]>();
  for (const tool of tools.tools) {
    const name = toolName(tool);
    const activated = by.get(name);
    if (typeof activated === "object" && results.has(activated.toolCallId)) {
      const found = byCall.get(activated.toolCallId);
      if (found) found.push(functionSpec(tool));
      else byCall.set(activated.toolCallId, [functionSpec(tool)]);
    } else if (activated !== "call" || !called.has(name)) head.push(tool); // a refused call's result carries the schema
  }
  return { head: head.map(functionSpec), byCall };
}
