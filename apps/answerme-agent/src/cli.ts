import { createRequire } from "node:module";
import { answer } from "./answer.js";
import { parseCommand, type RunOptions } from "./args.js";
import { report } from "./ask.js";
import { ExitCode, exitCodeOf } from "./exit.js";
import { help } from "./help.js";
import { Interrupts } from "./interrupts.js";
import { JsonRenderer } from "./json-renderer.js";
import { flush, processTerminal } from "./terminal.js";
import { TextRenderer } from "./text-renderer.js";

/** The program: reads the arguments, runs, and ends the process with its exit code. */
export async function main(argv: readonly string[]): Promise<void> {
  const terminal = processTerminal;
  // The reader of a pipe may leave early (`| head -1`): that is no error of ours.
  for (const stream of [terminal.out, terminal.err]) {
    stream.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));
  }
  const { json, print, debug } = outputOf(argv);
  const renderer = json ? new JsonRenderer(terminal) : new TextRenderer(terminal, { quiet: print });
  const fail = (error: unknown) => {
    report(error, renderer, debug);
    renderer.failed(error);
    return exitCodeOf(error);
  };
  process.on("uncaughtException", (error) => process.exit(fail(error)));
  using interrupts = new Interrupts(() => process.exit(ExitCode.interrupted));
  const run = async (): Promise<ExitCode> => {
    const command = parseCommand(argv);
    if (command.type === "run") return answer(command.options, { terminal, renderer, interrupts });
    if (command.type === "serve" && command.restate) {
      const { serveRestate } = await import("./restate/serve.js");
      return serveRestate(command, command.restate, { terminal, renderer, interrupts, version: version() });
    }
    if (command.type === "serve") {
      return (await import("./serve.js")).serve(command, { terminal, renderer, interrupts });
    }
    terminal.out.write(await textOf(command));
    return ExitCode.answered;
  };
  const code = await run().catch(fail);
  await flush(terminal);
  process.exit(code);
}

/** How the program writes; guessed where the command line is wrong, since that must be said too. */
function outputOf(argv: readonly string[]): Pick<RunOptions, "json" | "print" | "debug"> {
  try {
    const command = parseCommand(argv);
    return "options" in command ? command.options : { json: false, print: false, debug: false };
  } catch {
    const end = argv.indexOf("--");
    const flags = new Set(end < 0 ? argv : argv.slice(0, end));
    return { json: flags.has("--json"), print: false, debug: flags.has("--debug") };
  }
}

/** What the commands print that ask no model. */
async function textOf(command: Exclude<ReturnType<typeof parseCommand>, { type: "run" | "serve" }>): Promise<string> {
  if (command.type === "help") return help;
  if (command.type === "version") return `${version()}\n`;
  const { doctorText, sessionsText, settingsText } = await import("./reports.js");
  switch (command.type) {
    case "config":
      return settingsText(command.options);
    case "doctor":
      return doctorText(command.options, version());
    case "sessions":
      return sessionsText(command);
  }
}

function version(): string {
  return (createRequire(import.meta.url)("../package.json") as { version: string }).version;
}
