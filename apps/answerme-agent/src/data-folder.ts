import path from "node:path";

type Environment = { readonly [name: string]: string | undefined };

/** Where the sessions of this person are. */
export function shelfFile(env: Environment, home: string): string {
  return path.join(dataFolder(env, home), "sessions.db");
}

/** Where what was typed at the prompt is. */
export function historyFile(env: Environment, home: string): string {
  return path.join(dataFolder(env, home), "history");
}

function dataFolder(env: Environment, home: string): string {
  return path.join(env.XDG_DATA_HOME || (env.LOCALAPPDATA ?? path.join(home, ".local", "share")), "answerme");
}
