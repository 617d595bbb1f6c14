import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AgentSession } from "@shedkit/agent";
import type { ModelProvider } from "@shedkit/provider";
import { ToolShed } from "@shedkit/shed";
import type { ToolConstructor, ToolImpl } from "@shedkit/tool";
import type { ModelChoice } from "../src/model-choice.js";
import { type DemoQuestion, isRight, writeFiles } from "./demo-questions.js";

export interface Asked {
  question: DemoQuestion;
  answer: string;
  /** `name(arguments)` of each call. */
  calls: string[];
  right: boolean;
}

export interface AskOptions {
  provider: ModelProvider;
  model: string;
  tools(root: string): Iterable<ToolImpl | ToolConstructor>;
  /** The program's settings for the model. */
  choice: ModelChoice;
}

/** Asks one question in a new session over a new folder that holds its files. */
export async function ask(question: DemoQuestion, { provider, model, tools, choice }: AskOptions): Promise<Asked> {
  const root = mkdtempSync(join(tmpdir(), "demo-"));
  try {
    writeFiles(root, question.files);
    const session = await AgentSession.builder(provider)
      .withModel(model)
      .withToolshed(new ToolShed().tools(tools(root)))
      .withConfig({
        ...choice.config,
        ...(choice.maxSteps !== undefined && { maxInnerIterations: choice.maxSteps }),
      })
      .build();
    for (const said of question.before ?? []) await session.ask(said);
    const turn = await session.runTurn(question.question);
    const calls: string[] = [];
    for (const record of turn) {
      if (record.type !== "conversation" || record.message.type !== "assistant") continue;
      const { output } = record.message;
      if (output.type === "toolCall") calls.push(`${output.name}(${JSON.stringify(output.arguments)})`);
    }
    await session.end();
    const answer = turn.failure ? `failed: ${turn.failure.message}` : turn.text;
    return { question, answer, calls, right: isRight(answer, question.says) && wrote(root, question) };
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

function wrote(root: string, { wrote }: DemoQuestion): boolean {
  if (wrote === undefined) return true;
  try {
    return readFileSync(join(root, wrote.path), "utf8").trimEnd() === wrote.content;
  } catch {
    return false;
  }
}
