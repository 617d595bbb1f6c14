import type { KeyValueStore } from "@shedkit/store";
import { mcpEntryText } from "./mcp.js";
import type { Prompt } from "./prompt.js";
import type { McpEntry, Settings } from "./settings.js";

export interface LeaveOptions {
  root: string;
  permission: Settings["permission"];
  /** Where leave that was given for good is kept. */
  notes?: KeyValueStore | undefined;
  /** Where somebody can be asked. */
  prompt?: Prompt | undefined;
}

/**
 * Which servers may be used: a person's own, and of those that a folder brings along the ones that somebody allowed as
 * they are written there. A folder from anywhere must not start programs by itself.
 */
export async function allowedServers(entries: readonly McpEntry[], options: LeaveOptions): Promise<Set<string>> {
  const allowed = new Set<string>();
  for (const entry of entries) if (await isAllowed(entry, options)) allowed.add(entry.name);
  return allowed;
}

async function isAllowed(entry: McpEntry, { root, permission, notes, prompt }: LeaveOptions): Promise<boolean> {
  const { disabled } = (entry.config ?? {}) as { disabled?: unknown };
  if (!entry.inProject || permission === "allow" || disabled === true) return true;
  const key = `answerme/mcp/${entry.name}/${root}`;
  const written = JSON.stringify(entry.config);
  if ((await notes?.get(key)) === written) return true;
  const answer = await prompt?.line(
    `This folder's answerme.json has the MCP server "${entry.name}": ${mcpEntryText(entry)}\n` +
      `Use it? ${notes === undefined ? "[y]es, [n]o" : "[y]es, [a]lways in this folder, [n]o"}: `,
  );
  if (answer?.type !== "line" || !/^(y|yes|a|always)$/i.test(answer.text)) return false;
  if (/^a/i.test(answer.text)) await notes?.set(key, written);
  return true;
}
