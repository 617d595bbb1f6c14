import { createRequire } from "node:module";
import { homedir } from "node:os";
import { policyOf } from "./approval.js";
import { parseCommand, type RunOptions } from "./args.js";
import { ask, report } from "./ask.js";
import { withReferencedFiles } from "./attachments.js";
import { loadSettings, type Settings, type Sourced } from "./config.js";
import type { Conversation } from "./converse.js";
import { ExitCode, exitCodeOf, UsageError } from "./exit.js";
import { help } from "./help.js";
import { Interrupts } from "./interrupts.js";
import { JsonRenderer } from "./json-renderer.js";
import { chooseModel } from "./model-choice.js";
import type { Renderer } from "./renderer.js";
import { openSession, rootFolder } from "./session.js";
import { isPiped, readAll, readBeside } from "./stdin.js";
import { flush, processTerminal, type Terminal } from "./terminal.js";
import { TextRenderer } from "./text-renderer.js";
import { tourFolder, tourQuestions } from "./tour.js";

/** The program: reads the arguments, runs, and ends the process with its exit code. */
export async function main(argv: readonly string[]): Promise<void> {
  const terminal = processTerminal;
  // The reader of a pipe may leave early (`| head -1`): that is no error of ours.
  for (const stream of [terminal.out, terminal.err]) {
    stream.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));
  }
  const quiet = argv.includes("--print") || argv.includes("-p");
  const renderer = argv.includes("--json") ? new JsonRenderer(terminal) : new TextRenderer(terminal, { quiet });
  const debug = argv.includes("--debug");
  const fail = (error: unknown) => {
    report(error, renderer, debug);
    return exitCodeOf(error);
  };
  process.on("uncaughtException", (error) => process.exit(fail(error)));
  using interrupts = new Interrupts(() => process.exit(ExitCode.interrupted));
  const code = await run(argv, { terminal, renderer, interrupts }).catch(fail);
  await flush(terminal);
  process.exit(code);
}

interface Surroundings {
  readonly terminal: Terminal;
  readonly renderer: Renderer;
  readonly interrupts: Interrupts;
}

async function run(argv: readonly string[], around: Surroundings): Promise<ExitCode> {
  const command = parseCommand(argv);
  if (command.type === "help") around.terminal.out.write(help);
  else if (command.type === "version") around.terminal.out.write(`${version()}\n`);
  else if (command.type === "config") around.terminal.out.write(await settingsText(command.options));
  else if (command.type === "doctor") around.terminal.out.write(await doctorText(command.options));
  else return answer(command.options, around);
  return ExitCode.answered;
}

async function answer(options: RunOptions, around: Surroundings): Promise<ExitCode> {
  const { renderer } = around;
  const root = await rootFolder(options.root);
  const settings = await settingsOf(options, root);
  const question = options.question ?? (await pipedQuestion(options, renderer));
  const choice = chooseModel(settings.model.value, settings.maxSteps.value);
  renderer.model(choice.notice);
  const permission = settings.permission.value;
  if (question === undefined) {
    const choose = (model: string) => chooseModel(model, settings.maxSteps.value);
    return atThePrompt(options, { ...around, choice, choose, root, permission });
  }
  const denied = new Set<string>();
  const policy = policyOf(permission, ({ tool }) => {
    denied.add(tool);
    return "it changes files, and there is nobody to ask; answer without it";
  });
  const session = await openSession({ choice, root, policy, readOnly: permission === "readOnly" });
  try {
    const beside = options.question === undefined || !isPiped() ? "" : await pipedBeside(renderer);
    const message = await withReferencedFiles(beside + question, root);
    const { maxSteps } = choice;
    const { code } = await ask(session, message, { ...around, maxSteps, debug: options.debug });
    if (denied.size === 0) return code;
    renderer.error(`${[...denied].join(", ")} would change files and was not permitted; --yes permits it`);
    return code === ExitCode.answered ? ExitCode.notPermitted : code;
  } finally {
    await session.end();
  }
}

async function atThePrompt(
  options: RunOptions,
  { terminal, ...around }: Surroundings & Pick<Conversation, "choice" | "choose" | "root" | "permission">,
): Promise<ExitCode> {
  const { completion, converse, offerTour } = await import("./converse.js");
  const { Prompt } = await import("./prompt.js");
  let root: string | undefined = around.root;
  const prompt = new Prompt({
    input: process.stdin,
    output: terminal.out,
    editing: terminal.redraws,
    complete: (line) => completion(root ?? around.root)(line),
  });
  if (options.root === undefined) root = await offerTour(prompt, around.renderer, root);
  if (root === undefined) return ExitCode.interrupted;
  return converse({ ...around, prompt, root, debug: options.debug });
}

/** The settings in force; a flag wins over everything else. */
function settingsOf({ model, yes, readOnly }: RunOptions, root: string): Promise<Sourced<Settings>> {
  return loadSettings({
    flags: {
      ...(model !== undefined && { model: { value: model, from: "--model" } }),
      ...(yes && { permission: { value: "allow", from: "--yes" } }),
      ...(readOnly && { permission: { value: "readOnly", from: "--read-only" } }),
    },
    env: process.env,
    root,
    home: homedir(),
  });
}

async function settingsText(options: RunOptions): Promise<string> {
  const settings = await settingsOf(options, await rootFolder(options.root));
  const lines = Object.entries(settings).map(
    ([name, { value, from }]) => `${name} = ${JSON.stringify(value)}   (${from})`,
  );
  return `${lines.join("\n")}\n`;
}

async function doctorText(options: RunOptions): Promise<string> {
  const settings = await settingsOf(options, await rootFolder(options.root));
  const { examine } = await import("./doctor.js");
  return examine({ version: version(), model: settings.model });
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

function version(): string {
  return (createRequire(import.meta.url)("../package.json") as { version: string }).version;
}
