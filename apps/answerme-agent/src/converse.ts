import path from "node:path";
import { type MessageLike, noUsage } from "@shedkit/types";
import { askPerson, policyOf } from "./approval.js";
import { ask } from "./ask.js";
import { completeReference, withReferencedFiles } from "./attachments.js";
import { completeCommand, counted, isCommand, runCommand, type Talk } from "./commands.js";
import { ExitCode, explain, UsageError } from "./exit.js";
import type { Interrupts } from "./interrupts.js";
import type { Keeping } from "./keeping.js";
import type { Mcp } from "./mcp.js";
import { tellProblems } from "./mcp-setup.js";
import type { ModelChoice } from "./model-choice.js";
import type { Prompt } from "./prompt.js";
import type { Renderer } from "./renderer.js";
import { openSession, type SessionPlace } from "./session.js";
import type { Settings, Sourced } from "./settings.js";
import { tourFolder, tourQuestions } from "./tour.js";

export interface Conversation {
  readonly prompt: Prompt;
  readonly renderer: Renderer;
  readonly interrupts: Interrupts;
  readonly choice: ModelChoice;
  readonly root: string;
  /** Where a person's own skills and notes are. Default: nowhere. */
  readonly ownFolder?: string | undefined;
  readonly permission: Settings["permission"];
  /** Which tools there are, and rules. Default: all, and none. */
  readonly settings?: Pick<Sourced<Settings>, "tools" | "toolSet" | "services" | "permissions"> | undefined;
  readonly mcp?: Mcp | undefined;
  /** The model of a name. */
  choose(model: string): ModelChoice;
  /** Absent: the session is not kept. */
  readonly keeping?: Keeping | Promise<Keeping | undefined> | undefined;
  /** What there is to say once the session is open. Default: nothing. */
  readonly late?: string[] | undefined;
  readonly debug: boolean;
}

/** Asks for questions until the person leaves: one session, a turn a question. */
export async function converse(options: Conversation): Promise<ExitCode> {
  const { prompt, renderer, late = [] } = options;
  renderer.notice("Ask about the files. Ctrl-C stops an answer, ctrl-D leaves, /help says what else there is.");
  // The session opens while the person types; where it cannot be opened, nobody waits for the line.
  const opening = begin(options);
  const broken = new AbortController();
  opening.catch(() => broken.abort());
  try {
    for (let pressed = false; ; ) {
      const answer = await prompt.line("> ", { isMessage: true, signal: broken.signal });
      const talk = await opening;
      for (const text of late.splice(0)) renderer.notice(text);
      if (answer.type === "end") return ExitCode.answered;
      if (answer.type === "interrupt") {
        if (pressed) return ExitCode.interrupted;
        renderer.notice("(ctrl-C again to leave)");
        pressed = true;
        continue;
      }
      pressed = false;
      if (answer.text === "") continue;
      const code = isCommand(answer.text)
        ? await command(answer.text, talk, options)
        : await turn(answer.text, talk, options);
      if (code !== undefined) return code;
    }
  } finally {
    await (await opening).session.end();
  }
}

async function begin(options: Conversation): Promise<Talk> {
  const { choice, root, ownFolder, permission, settings, mcp, interrupts, choose, renderer } = options;
  const keeping = await options.keeping;
  const policy = policyOf({ permission, permissions: settings?.permissions.value, root, ownFolder }, "ask");
  const fixed = { root, ownFolder, policy, readOnly: permission === "readOnly", settings };
  let serving: Promise<void> | undefined;
  const open = async (choice: ModelChoice, place: SessionPlace | undefined) => {
    const session = await openSession({ ...fixed, choice, place });
    await keeping?.shelf.place(session.sessionId, root);
    renderer.session(session.sessionId);
    // Nobody waits for the servers before there is a question.
    serving = choice.groups === undefined ? mcp?.serve(session) : undefined;
    return session;
  };
  const talk: Talk = {
    session: await open(choice, keeping?.place),
    choice,
    root,
    interrupts,
    shelf: keeping?.shelf,
    mcp,
    usage: noUsage,
    questions: 0,
    async served() {
      await serving;
    },
    async change(model) {
      talk.choice = choose(model);
      await talk.goTo(talk.session.sessionId);
    },
    async goTo(sessionId) {
      const { docStore, memoryStore } = talk.session;
      await talk.session.end();
      talk.session = await open(talk.choice, { docStore, memoryStore, sessionId });
    },
  };
  return talk;
}

/** The exit code where the person leaves by a command. */
async function command(line: string, talk: Talk, { renderer }: Conversation): Promise<ExitCode | undefined> {
  const outcome = await runCommand(line, talk);
  if (outcome.type === "leave") return ExitCode.answered;
  renderer.notice(outcome.text);
  return undefined;
}

/** The exit code where there is no going on. */
async function turn(text: string, talk: Talk, options: Conversation): Promise<ExitCode | undefined> {
  const { prompt, renderer } = options;
  const { session, choice } = talk;
  const message = await attached(text, choice, options);
  if (message === undefined) return undefined;
  await talk.served();
  if (talk.questions === 0 && choice.groups === undefined) tellProblems(await talk.mcp?.lines(), renderer);
  const approve = askPerson(prompt, renderer, options.root);
  const { code, usage } = await prompt.during(
    (line) => session.steer(line),
    () => ask(session, message, { ...options, approve, choice }),
  );
  counted(talk, usage);
  // Where the model was never there, every question would fail the same way.
  return code === ExitCode.noModel && talk.questions === 1 ? code : undefined;
}

/** What a half-typed line may become: a command, or a file of the folder. */
export function completion(root: string) {
  return async (line: string): Promise<[string[], string]> =>
    line.startsWith("/") ? completeCommand(line) : completeReference(line, root);
}

/** The folder to ask about: the example folder, where there is one and the person wants it; undefined to leave. */
export async function offerTour(prompt: Prompt, renderer: Renderer, cwd: string): Promise<string | undefined> {
  const folder = tourFolder(cwd);
  if (folder === undefined) return cwd;
  const answer = await prompt.line(`Take the tour of ${path.relative(cwd, folder)}? [Y/n] `);
  if (answer.type !== "line") return undefined;
  if (/^n/i.test(answer.text)) return cwd;
  renderer.notice(`Try: ${tourQuestions.join("  |  ")}`);
  return folder;
}

async function attached(
  text: string,
  choice: ModelChoice,
  { root, renderer }: Conversation,
): Promise<MessageLike | undefined> {
  try {
    return await withReferencedFiles(text, root, choice);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    renderer.error(explain(error));
    return undefined;
  }
}
