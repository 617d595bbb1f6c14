import type { ContentPart } from "@shedkit/types";
import type { Connection } from "./connection.js";
import { contentOf, type McpBlock } from "./content.js";
import { oneLine } from "./text.js";

/** A text that a server offers to its user, with places to fill in. */
export interface McpPrompt {
  readonly name: string;
  readonly description: string;
  readonly arguments: readonly { readonly name: string; readonly description: string; readonly required: boolean }[];
}

/** A message of a filled-in prompt. */
export interface McpPromptMessage {
  readonly role: "user" | "assistant";
  readonly content: readonly ContentPart[];
}

export async function listPrompts(connection: Connection, signal = new AbortController().signal): Promise<McpPrompt[]> {
  const { prompts } = await connection.request(connection.settings.name, signal, (client, options) =>
    client.listPrompts(undefined, options),
  );
  return prompts.map(({ name, description = "", arguments: args = [] }) => ({
    name,
    description: oneLine(description),
    arguments: args.map((each) => ({
      name: each.name,
      description: oneLine(each.description ?? ""),
      required: each.required ?? false,
    })),
  }));
}

export async function readPrompt(
  connection: Connection,
  name: string,
  args: { readonly [name: string]: string },
  signal = new AbortController().signal,
): Promise<McpPromptMessage[]> {
  const { messages } = await connection.request(connection.settings.name, signal, (client, options) =>
    client.getPrompt({ name, arguments: { ...args } }, options),
  );
  return messages.map(({ role, content }) => ({ role, content: contentOf([content as McpBlock]) }));
}
