import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import type { Sdk } from "./link.js";
import { oneLine } from "./text.js";

/** Stands in the schema of a tool that a server lists and that is none: why. */
export const UNREADABLE = "x-shedkit-unreadable";

/**
 * Takes a list of tools to pieces before the SDK refuses the whole of it for one tool that is not as it should be:
 * such a tool comes through without anything but its name, and is refused by itself.
 */
export function mendLists({ specTypeSchemas }: Sdk, transport: Transport): void {
  let given: Transport["onmessage"];
  const mend = (tool: unknown): unknown[] => {
    const result = specTypeSchemas.Tool["~standard"].validate(tool);
    if (!("then" in result) && !result.issues) return [tool];
    const { name } = (tool ?? {}) as { name?: unknown };
    if (typeof name !== "string") return [];
    const issue = "then" in result ? undefined : result.issues?.[0];
    const where = issue?.path?.map((part) => String(typeof part === "object" ? part.key : part)).join(".");
    const why = oneLine(`${where ?? "it"}: ${issue?.message ?? "not as it should be"}`, 300);
    return [{ name, inputSchema: { type: "object", [UNREADABLE]: why } }];
  };
  const mended = (message: JSONRPCMessage): JSONRPCMessage => {
    const { result } = message as { result?: { tools?: unknown } };
    if (!Array.isArray(result?.tools)) return message;
    return { ...message, result: { ...result, tools: result.tools.flatMap(mend) } } as JSONRPCMessage;
  };
  Object.defineProperty(transport, "onmessage", {
    configurable: true,
    get: () => given,
    set: (take: Transport["onmessage"]) => {
      given = take && ((message, extra) => take(mended(message), extra));
    },
  });
}
