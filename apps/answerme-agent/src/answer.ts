import { homedir } from "node:os";
import { policyOf } from "./approval.js";
import type { RunOptions } from "./args.js";
import { ask } from "./ask.js";
import { withReferencedFiles } from "./attachments.js";
import type { Conversation } from "./converse.js";
import { historyFile } from "./data-folder.js";
import { ExitCode, UsageError } from "./exit.js";
import type { Interrupts } from "./interrupts.js";
import { openKeeping } from "./keeping.js";
import { mcpFor, tellProblems } from "./mcp-setup.js";
import { chooseModel, type ModelChoice } from "./model-choice.js";
import type { Renderer } from "./renderer.js";
import { ownFolder, settingsOf } from "./run-settings.js";
import { openSession, rootFolder } from "./session.js";
import type { Settings, Sourced } from "./settings.js";
import { isPiped, readAll, readBeside } from "./stdin.js";
import type { Terminal } from "./terminal.js";
import { tourFolder, tourQuestions } from "./tour.js";

interface Surroundings {
  readonly terminal: Terminal;
  readonly renderer: Renderer;
  readonly interrupts: Interrupts;
}

interface Task {
  readonly options: RunOptions;
  readonly settings: Sourced<Settings>;
  readonly choice: ModelChoice;
  readonly root: string;
}

/** Answers the question there is, or opens a prompt. Returns what the program exits with. */
export async function answer(options: RunOptions, around: Surroundings): Promise<ExitCode> {
  const { renderer } = around;
  const root = await rootFolder(options.root);
  const settings = await settingsOf(options, root);
  const question = options.question ?? (await pipedQuestion(options, renderer));
  const choice = chooseModel(settings.model.value, settings.maxSteps.value);
  renderer.model(choice.notice);
  const task = { options, settings, choice, root };
  return question === undefined ? atThePrompt(task, around) : once(question, task, around);
}

async function once(question: string, task: Task, around: Surroundings): Promise<ExitCode> {
  const { options, settings, choice, root } = task;
  const { renderer } = around;
  const permission = settings.permission.value;
  const denied = new Set<string>();
  const rules = { permission, permissions: settings.permissions.value, root, ownFolder: ownFolder() };
  const policy = policyOf(rules, ({ tool }) => {
    denied.add(tool);
    return "it changes something or goes out to the network, and there is nobody to ask; answer without it";
  });
  const keeping = await openKeeping(options, { root, keep: settings.keepSessions.value, renderer });
  try {
    const readOnly = permission === "readOnly";
    const leave = { root, permission, notes: keeping?.shelf.notes };
    const mcp = choice.groups === undefined ? await mcpFor(settings, leave) : undefined;
    const session = await openSession({
      ...{ choice, root, policy, readOnly, settings },
      ownFolder: ownFolder(),
      unattended: true,
      place: keeping?.place,
    });
    await keeping?.shelf.place(session.sessionId, root);
    renderer.session(session.sessionId);
    try {
      await mcp?.serve(session);
      tellProblems(await mcp?.lines(), renderer);
      const beside = options.question === undefined || !isPiped() ? "" : await pipedBeside(renderer);
      const message = await withReferencedFiles(beside + question, root, choice);
      const { code } = await ask(session, message, { ...around, choice, debug: options.debug });
      if (denied.size === 0) return code;
      renderer.error(
        `${[...denied].join(", ")} was not permitted, since nobody could be asked${permission === "allow" ? "" : "; --yes permits it"}`,
      );
      return code === ExitCode.answered ? ExitCode.notPermitted : code;
    } finally {
      await session.end();
      await mcp?.close();
    }
  } finally {
    await keeping?.shelf.close();
  }
}

async function atThePrompt(task: Task, { terminal, ...around }: Surroundings): Promise<ExitCode> {
  const { options, settings, choice } = task;
  const { completion, converse, offerTour } = await import("./converse.js");
  const { Prompt } = await import("./prompt.js");
  const { openHistory } = await import("./history.js");
  const keeps = settings.keepSessions.value;
  const history = keeps ? await openHistory(historyFile(process.env, homedir())) : undefined;
  let root: string | undefined = task.root;
  const prompt = new Prompt({
    input: process.stdin,
    output: terminal.out,
    editing: terminal.redraws,
    history,
    complete: (line) => completion(root ?? task.root)(line),
  });
  if (options.root === undefined && !options.continue && options.resume === undefined) {
    root = await offerTour(prompt, around.renderer, root);
  }
  if (root === undefined) return ExitCode.interrupted;
  const permission = settings.permission.value;
  // Which session is gone on with is said before the prompt, and whether a folder's servers may start is asked.
  const first = options.continue || options.resume !== undefined || settings.mcpServers.value.length > 0;
  const late: string[] = [];
  const renderer = first ? around.renderer : { notice: (text: string) => void late.push(text) };
  const keeping = openKeeping(options, { root, keep: keeps, renderer, prompt });
  const notes = first ? (await keeping)?.shelf.notes : undefined;
  const conversation: Conversation = {
    ...around,
    prompt,
    choice,
    choose: (model) => chooseModel(model, settings.maxSteps.value),
    root,
    ownFolder: ownFolder(),
    permission,
    settings,
    mcp: await mcpFor(settings, { root, permission, notes, prompt }),
    keeping,
    late,
    debug: options.debug,
  };
  try {
    return await converse(conversation);
  } finally {
    await history?.flush();
    await conversation.mcp?.close();
    await (await keeping)?.shelf.close();
  }
}

/** What is piped in beside a question, as it goes in front of it. */
async function pipedBeside(renderer: Renderer): Promise<string> {
  const text = await readBeside(process.stdin, () =>
    renderer.notice("Nothing came from standard input for 3 seconds: going on without it."),
  );
  return text === "" ? "" : `From standard input:\n${text}\n\n`;
}

/** The question from a pipe; undefined where a person sits at a terminal. Throws UsageError where nothing comes. */
async function pipedQuestion(options: RunOptions, renderer: Renderer): Promise<string | undefined> {
  if (process.stdin.isTTY && !options.json) return undefined;
  const text = process.stdin.isTTY
    ? ""
    : await readAll(process.stdin, () => renderer.notice("Reading the question from standard input ..."));
  if (text !== "") return text;
  const program = process.env.npm_lifecycle_event === "start" ? "npm start --" : "answerme-agent";
  const root = options.root === undefined && tourFolder(process.cwd()) !== undefined ? "--root examples/tour " : "";
  throw new UsageError(`no question was given; ask one, for example: ${program} ${root}"${tourQuestions[0]}"`);
}
