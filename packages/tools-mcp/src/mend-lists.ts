import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import type { Sdk } from "./link.js";
import { oneLine } from "./text.js";

/** Stands in the schema of a tool that a server lists and that is none: why. */
export const UNREADABLE = "x-shedkit-unreadable";

/** What is listed, and how many characters of it are taken on all pages: honest lists are far shorter. */
const LISTS = ["tools", "resources", "resourceTemplates", "prompts"] as const;
const MAX_ITEMS = 10_000;
const MAX_CHARS = 64 * 1024 * 1024;

/** Stands at the end of a list of tools that went on and on. */
const REST = { name: "(more)", inputSchema: { type: "object", [UNREADABLE]: "the list is longer than what is taken" } };

interface ListPage {
  nextCursor?: unknown;
  [list: string]: unknown;
}

/** Ends a list that goes on without end: its pages are gathered before anybody looks at them. */
function endLists(): (page: ListPage) => ListPage {
  const taken = new Map<string, { items: number; chars: number }>();
  return (page) => {
    const kind = LISTS.find((list) => Array.isArray(page[list]));
    if (kind === undefined) return page;
    const items = page[kind] as unknown[];
    const so = taken.get(kind) ?? { items: 0, chars: 0 };
    so.items += items.length;
    if (page.nextCursor !== undefined) so.chars += JSON.stringify(items).length;
    const goesOn = page.nextCursor !== undefined && so.items <= MAX_ITEMS && so.chars <= MAX_CHARS;
    if (goesOn) taken.set(kind, so);
    else taken.delete(kind);
    if (goesOn || page.nextCursor === undefined) return page;
    const { nextCursor: _, ...last } = page;
    return { ...last, [kind]: kind === "tools" ? [...items, REST] : items };
  };
}

/**
 * Ends lists without end, and takes a list of tools to pieces before the SDK refuses the whole of it for one tool that is
 * not as it should be: such a tool comes through without anything but its name, and is refused by itself.
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
  const ended = endLists();
  const mended = (message: JSONRPCMessage): JSONRPCMessage => {
    const { result: given } = message as { result?: ListPage };
    if (typeof given !== "object" || given === null) return message;
    const result = ended(given);
    const { tools } = result;
    if (Array.isArray(tools))
      return { ...message, result: { ...result, tools: tools.flatMap(mend) } } as JSONRPCMessage;
    return result === given ? message : ({ ...message, result } as JSONRPCMessage);
  };
  Object.defineProperty(transport, "onmessage", {
    configurable: true,
    get: () => given,
    set: (take: Transport["onmessage"]) => {
      given = take && ((message, extra) => take(mended(message), extra));
    },
  });
}
