import { homedir } from "node:os";
import type { SessionId } from "@shedkit/types";
import type { RunOptions } from "./args.js";
import { shelfFile } from "./data-folder.js";
import { explain, UsageError } from "./exit.js";
import { type KeptSession, sessionLine } from "./kept-session.js";
import type { Prompt } from "./prompt.js";
import type { Renderer } from "./renderer.js";
import type { SessionPlace } from "./session.js";
import type { Shelf } from "./shelf.js";

type Notices = Pick<Renderer, "notice">;

/** Where sessions are kept, and the place of the one that is to run. */
export interface Keeping {
  readonly shelf: Shelf;
  readonly place: SessionPlace;
}

interface KeepingPlace {
  root: string;
  keep: boolean;
  renderer: Notices;
  /** Where somebody can be asked which session is meant. */
  prompt?: Prompt | undefined;
}

/**
 * Opens the shelf and finds the session to go on with. Undefined where nothing is kept. Throws UsageError where a
 * session was asked for that is not there.
 */
export async function openKeeping(
  options: Pick<RunOptions, "continue" | "resume">,
  { root, keep, renderer, prompt }: KeepingPlace,
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
  const sessionId = await sessionToGoOnWith(shelf, options, { root, renderer, prompt });
  return { shelf, place: { docStore, memoryStore, sessionId } };
}

async function openShelf(wanted: string | undefined, renderer: Notices): Promise<Shelf | undefined> {
  const { Shelf } = await import("./shelf.js");
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
  { root, renderer, prompt }: Omit<KeepingPlace, "keep">,
): Promise<SessionId | undefined> {
  if (!options.continue && options.resume === undefined) return undefined;
  const session =
    options.resume === undefined
      ? (await shelf.list({ root, limit: 1 }))[0]
      : options.resume === ""
        ? await chosenSession(shelf, root, renderer, prompt)
        : await shelf.find(options.resume);
  if (session === undefined) throw new UsageError(`--continue: no session about ${root} was kept yet`);
  const elsewhere = session.root === undefined || session.root === root ? "" : `, which was about ${session.root}`;
  renderer.notice(`Going on with "${session.title ?? session.id}"${elsewhere}.`);
  return session.id;
}

/** How many sessions are shown to choose from. */
const CHOICES = 15;

/** The session that the person chooses. Throws UsageError where there is nobody to ask, or nothing is chosen. */
async function chosenSession(
  shelf: Shelf,
  root: string,
  renderer: Notices,
  prompt: Prompt | undefined,
): Promise<KeptSession> {
  const here = await shelf.list({ root, limit: CHOICES });
  const sessions = here.length > 0 ? here : await shelf.list({ limit: CHOICES });
  if (sessions.length === 0) throw new UsageError("--resume: no session was kept yet");
  if (prompt === undefined) {
    throw new UsageError("--resume needs the id of a session here; answerme-agent sessions lists them");
  }
  renderer.notice(sessions.map((session, i) => `${i + 1}  ${sessionLine(session, here.length === 0)}`).join("\n"));
  const answer = await prompt.line("Which one? [1] ");
  const text = answer.type === "line" ? answer.text || "1" : "";
  const chosen = /^\d{1,2}$/.test(text) ? sessions[Number(text) - 1] : undefined;
  if (chosen) return chosen;
  if (text === "") throw new UsageError("--resume: no session was chosen");
  return shelf.find(text);
}
