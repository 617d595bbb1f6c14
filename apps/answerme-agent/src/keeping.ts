import { homedir } from "node:os";
import type { SessionId } from "@shedkit/types";
import type { RunOptions } from "./args.js";
import { explain, UsageError } from "./exit.js";
import type { Renderer } from "./renderer.js";
import type { SessionPlace } from "./session.js";
import type { Shelf } from "./shelf.js";

type Notices = Pick<Renderer, "notice">;

/** Where sessions are kept, and the place of the one that is to run. */
export interface Keeping {
  readonly shelf: Shelf;
  readonly place: SessionPlace;
}

/**
 * Opens the shelf and finds the session to go on with. Undefined where nothing is kept. Throws UsageError where a
 * session was asked for that is not there.
 */
export async function openKeeping(
  options: Pick<RunOptions, "continue" | "resume">,
  { root, keep, renderer }: { root: string; keep: boolean; renderer: Notices },
): Promise<Keeping | undefined> {
  const wanted = options.continue ? "--continue" : options.resume === undefined ? undefined : "--resume";
  if (!keep) {
    if (wanted === undefined) return undefined;
    throw new UsageError(
      `${wanted} needs sessions that are kept, and keepSessions is false; see answerme-agent config`,
    );
  }
  const shelf = await openShelf(wanted, renderer);
  if (shelf === undefined) return undefined;
  const { docStore, memoryStore } = shelf;
  const sessionId = await sessionToGoOnWith(shelf, options, root, renderer);
  return { shelf, place: { docStore, memoryStore, sessionId } };
}

async function openShelf(wanted: string | undefined, renderer: Notices): Promise<Shelf | undefined> {
  const { Shelf, shelfFile } = await import("./shelf.js");
  const file = shelfFile(process.env, homedir());
  try {
    return await Shelf.open(file);
  } catch (error) {
    const why = `the sessions in ${file} cannot be opened: ${explain(error)}`;
    if (wanted !== undefined) throw new UsageError(`${wanted}: ${why}`);
    renderer.notice(`This session is not kept: ${why}`);
    return undefined;
  }
}

async function sessionToGoOnWith(
  shelf: Shelf,
  options: Pick<RunOptions, "continue" | "resume">,
  root: string,
  renderer: Notices,
): Promise<SessionId | undefined> {
  if (!options.continue && options.resume === undefined) return undefined;
  const [session] =
    options.resume === undefined ? await shelf.list({ root, limit: 1 }) : [await shelf.find(options.resume)];
  if (session === undefined) throw new UsageError(`--continue: no session about ${root} was kept yet`);
  const elsewhere = session.root === undefined || session.root === root ? "" : `, which was about ${session.root}`;
  renderer.notice(`Going on with "${session.title ?? session.id}"${elsewhere}.`);
  return session.id;
}
