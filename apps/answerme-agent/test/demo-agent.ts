import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { RouterMix } from "@shedkit/harness";
import { demoModelPath } from "@shedkit/model-demo";
import { LlamaCppProvider } from "@shedkit/provider-llamacpp";
import { policyOf } from "../src/approval.js";
import { chooseModel, type ModelChoice } from "../src/model-choice.js";
import { openSession } from "../src/session.js";
import { type DemoQuestion, isRight, writeFiles } from "./demo-questions.js";

export interface Asked {
  question: DemoQuestion;
  answer: string;
  /** `name(arguments)` of each call. */
  calls: string[];
  right: boolean;
}

/** The demonstration model as the program runs it, loaded once for many sessions. */
export class DemoAgent {
  readonly #provider = new LlamaCppProvider({ backend: "cpu", gpuLayers: 0 });
  readonly choice: ModelChoice = { ...chooseModel(null, null, {}), preset: async () => this.#preset() };

  #preset() {
    const provider = this.#provider;
    const shared = {
      id: provider.id,
      serves: provider.serves.bind(provider),
      stream: provider.stream.bind(provider),
      describe: provider.describe.bind(provider),
      countTokens: provider.countTokens.bind(provider),
    }; // without `close`: a session that ends closes what its preset loaded
    return new RouterMix().primary(shared, demoModelPath).build();
  }

  /** A session of the program over a folder, with every change allowed. */
  open(root: string) {
    return openSession({
      choice: this.choice,
      root,
      policy: policyOf({ permission: "allow", root }, "ask"),
      readOnly: false,
    });
  }

  /** Asks one question in a new session over a new folder that holds its files. */
  async ask(question: DemoQuestion): Promise<Asked> {
    const root = mkdtempSync(join(tmpdir(), "demo-"));
    try {
      writeFiles(root, question.files);
      await using session = await this.open(root);
      const { maxSteps } = this.choice;
      for (const said of question.before ?? []) await session.runTurn(said, { maxSteps });
      const turn = await session.runTurn(question.question, { maxSteps });
      const calls = turn.toolCalls().map((call) => `${call.name}(${JSON.stringify(call.arguments)})`);
      const answer = turn.failure ? `failed: ${turn.failure.message}` : turn.text;
      const notes = (await session.memory.facts()).map(String);
      const did = wrote(root, question) && noted(notes, question);
      return { question, answer, calls, right: turn.failure === undefined && isRight(answer, question.says) && did };
    } finally {
      rmSync(root, { recursive: true, force: true });
    }
  }

  close(): Promise<void> {
    return this.#provider.close();
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

function noted(notes: readonly string[], { notes: wanted }: DemoQuestion): boolean {
  return wanted === undefined || notes.some((note) => isRight(note, wanted));
}
