import { homedir } from "node:os";
import type { RunOptions } from "./args.js";
import { sessionLine } from "./kept-session.js";
import { settingsOf } from "./run-settings.js";
import { rootFolder } from "./session.js";

/** Every setting and where it came from. */
export async function settingsText(options: RunOptions): Promise<string> {
  const settings = await settingsOf(options, await rootFolder(options.root));
  const lines = Object.entries(settings).map(
    ([name, { value, from }]) => `${name} = ${JSON.stringify(value)}   (${from})`,
  );
  return `${lines.join("\n")}\n`;
}

/** What this machine can run. */
export async function doctorText(options: RunOptions, version: string): Promise<string> {
  const { model } = await settingsOf(options, await rootFolder(options.root));
  const { examine } = await import("./doctor.js");
  return examine({ version, model });
}

/** The sessions that were kept, those with words in them; or what came of deleting one. */
export async function sessionsText(command: { words: string; delete?: string | undefined }): Promise<string> {
  const { Shelf, shelfFile } = await import("./shelf.js");
  const shelf = await Shelf.open(shelfFile(process.env, homedir()));
  try {
    if (command.delete !== undefined) {
      const session = await shelf.find(command.delete);
      await shelf.delete(session.id);
      return `Deleted ${sessionLine(session, true)}\n`;
    }
    const text = command.words === "" ? undefined : command.words;
    const sessions = await shelf.list({ text, limit: 100 });
    if (sessions.length === 0)
      return text === undefined ? "No session was kept yet.\n" : `No session has "${text}" in it.\n`;
    return sessions.map((session) => `${sessionLine(session, true)}\n`).join("");
  } finally {
    await shelf.close();
  }
}
