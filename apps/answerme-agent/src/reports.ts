import { homedir } from "node:os";
import type { Command, RunOptions } from "./args.js";
import { shelfFile } from "./data-folder.js";
import { sessionLine } from "./kept-session.js";
import { mcpEntryText } from "./mcp.js";
import { settingsOf } from "./run-settings.js";
import { servicesText } from "./services.js";
import { rootFolder } from "./session.js";

/** Every setting and where it came from. */
export async function settingsText(options: RunOptions): Promise<string> {
  const settings = await settingsOf(options, await rootFolder(options.root));
  const { mcpServers, ...others } = settings;
  const lines = Object.entries(others).map(([name, { value, from }]) => {
    const text = name === "services" ? servicesText(settings.services.value) : JSON.stringify(value);
    return `${name} = ${text}   (${from})`;
  });
  const servers = mcpServers.value.map(
    (entry) => `mcpServers.${entry.name} = ${mcpEntryText(entry)}   (${entry.from})`,
  );
  return `${[...lines, ...(servers.length > 0 ? servers : [`mcpServers = {}   (${mcpServers.from})`])].join("\n")}\n`;
}

/** What this machine can run. */
export async function doctorText(options: RunOptions, version: string): Promise<string> {
  const root = await rootFolder(options.root);
  const settings = await settingsOf(options, root);
  const { examine } = await import("./doctor.js");
  return examine({ version, settings, root });
}

/** The sessions that were kept, those with words in them; or what came of deleting one, or giving it a title. */
export async function sessionsText(command: Extract<Command, { type: "sessions" }>): Promise<string> {
  const { Shelf } = await import("./shelf.js");
  const shelf = await Shelf.open(shelfFile(process.env, homedir()));
  try {
    if (command.delete !== undefined) {
      const session = await shelf.find(command.delete);
      await shelf.delete(session.id);
      return `Deleted ${sessionLine(session, true)}\n`;
    }
    if (command.title !== undefined) {
      const { id } = await shelf.find(command.title.id);
      await shelf.setTitle(id, command.title.text);
      return `${sessionLine(await shelf.find(id), true)}\n`;
    }
    const text = command.words === "" ? undefined : command.words;
    const sessions = await shelf.list({ text, all: command.all, limit: 100 });
    if (sessions.length === 0)
      return text === undefined ? "No session was kept yet.\n" : `No session has "${text}" in it.\n`;
    return sessions.map((session) => `${sessionLine(session, true)}\n`).join("");
  } finally {
    await shelf.close();
  }
}
