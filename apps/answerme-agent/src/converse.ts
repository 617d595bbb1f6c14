import path from "node:path";
import { askPerson, policyOf } from "./approval.js";
import { ask } from "./ask.js";
import { completeReference, withReferencedFiles } from "./attachments.js";
import { completeCommand, counted, isCommand, newTalk, runCommand } from "./commands.js";
import type { Settings } from "./config.js";
import { ExitCode, explain, UsageError } from "./exit.js";
import type { Interrupts } from "./interrupts.js";
import type { ModelChoice } from "./model-choice.js";
import type { Prompt } from "./prompt.js";
import type { Renderer } from "./renderer.js";
import { openSession } from "./session.js";
import { tourFolder, tourQuestions } from "./tour.js";

export interface Conversation {
  readonly prompt: Prompt;
  readonly renderer: Renderer;
  readonly interrupts: Interrupts;
  readonly choice: ModelChoice;
  readonly root: string;
  readonly permission: Settings["permission"];
  readonly debug: boolean;
}

/** Asks for questions until the person leaves: one session, a turn a question. */
export async function converse(options: Conversation): Promise<ExitCode> {
  const { prompt, renderer, choice, root, permission } = options;
  renderer.notice("Ask about the files. Ctrl-C stops an answer, ctrl-D leaves, /help says what else there is.");
  const policy = policyOf(permission, "ask");
  const session = await openSession({ choice, root, policy, readOnly: permission === "readOnly" });
  const approve = askPerson(prompt, renderer);
  const talk = newTalk(session, choice, root);
  try {
    for (let pressed = false; ; ) {
      const answer = await prompt.line("> ", { isMessage: true });
      if (answer.type === "end") return ExitCode.answered;
      if (answer.type === "interrupt") {
        if (pressed) return ExitCode.interrupted;
        renderer.notice("(ctrl-C again to leave)");
        pressed = true;
        continue;
      }
      pressed = false;
      if (answer.text === "") continue;
      if (isCommand(answer.text)) {
        const outcome = await runCommand(answer.text, talk);
        if (outcome.type === "leave") return ExitCode.answered;
        renderer.notice(outcome.text);
        continue;
      }
      const message = await attached(answer.text, options);
      if (message === undefined) continue;
      const { code, usage } = await prompt.during(
        (line) => session.steer(line),
        () => ask(session, message, { ...options, approve, maxSteps: choice.maxSteps }),
      );
      counted(talk, usage);
      // Without a model every question would fail the same way.
      if (code === ExitCode.noModel) return code;
    }
  } finally {
    await session.end();
  }
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

async function attached(text: string, { root, renderer }: Conversation): Promise<string | undefined> {
  try {
    return await withReferencedFiles(text, root);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    renderer.error(explain(error));
    return undefined;
  }
}
