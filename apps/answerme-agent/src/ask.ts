import type { AnyAgentSession, TurnEvent } from "@shedkit/agent";
import type { CallInfo } from "@shedkit/tool";
import { AgenticError, type MessageLike, noUsage, type Usage } from "@shedkit/types";
import type { Approver } from "./approval.js";
import { ExitCode, exitCodeOf, explain } from "./exit.js";
import type { Interrupts } from "./interrupts.js";
import type { ModelChoice } from "./model-choice.js";
import type { Renderer } from "./renderer.js";

export interface AskOptions {
  renderer: Renderer;
  interrupts: Interrupts;
  choice: Pick<ModelChoice, "maxSteps" | "stuck">;
  /** Asked about calls that need leave. */
  approve?: Approver | undefined;
  debug: boolean;
}

/** What a question came to: what the program would exit with, and what it cost. */
export interface Asked {
  code: ExitCode;
  usage: Usage;
}

/** Asks one question and shows the turn. */
export async function ask(session: AnyAgentSession, question: MessageLike, options: AskOptions): Promise<Asked> {
  const { renderer, interrupts, choice, debug } = options;
  const { maxSteps, stuck } = choice;
  const asked: Asked = { code: ExitCode.answered, usage: noUsage };
  const turn = async () => {
    for await (const event of session.runTurnStream(question, { maxSteps }).events()) {
      renderer.event(event, aboutCall(session, event));
      if (event.type === "approvalRequested") {
        const decision = await options.approve?.(event);
        if (decision === undefined) session.abort("stopped at a question");
        else await session.approve(event.approvalId, decision);
      }
      if (event.type === "done") asked.usage = event.summary.usage;
      if (event.type !== "failed") continue;
      asked.usage = event.usage;
      await interrupts.settled();
      asked.code = interrupts.pressed ? ExitCode.interrupted : exitCodeOf(event.error);
      if (asked.code === ExitCode.interrupted) renderer.notice("stopped");
      else report(event.error, renderer, debug, isCircle(event.error) ? stuck : undefined);
    }
  };
  await interrupts.during(() => session.abort("stopped by ctrl-C"), turn);
  return asked;
}

/** What there is to show of a call, for programs that know no tool. */
function aboutCall({ toolManager }: AnyAgentSession, event: TurnEvent): CallInfo | undefined {
  if (event.type !== "toolCall") return undefined;
  const { id, name, arguments: args = {} } = event;
  return toolManager.callInfo({ id, name, arguments: args });
}

/** Whether the model did not come to an end by itself. */
function isCircle(error: AgenticError): boolean {
  if (AgenticError.is(error, "session")) return error.details.reason === "inner limit";
  return AgenticError.is(error, "loopDetected");
}

/** One line about an error, `instead` where it is given; with `debug` also its stack and causes. */
export function report(error: unknown, renderer: Renderer, debug: boolean, instead?: string): void {
  renderer.error(instead ?? explain(error));
  if (!debug) return;
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    renderer.notice(cause.stack ?? String(cause));
    if (AgenticError.is(cause)) renderer.notice(JSON.stringify(cause.details));
  }
}
