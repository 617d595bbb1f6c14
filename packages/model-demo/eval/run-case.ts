import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { ModelProvider } from "@shedkit/provider";
import { demoModelSettings } from "../src/index.js";
import type { EvalCase } from "./cases.js";
import { type Verdict, verdictOf } from "./score.js";
import { type DemoSessionOptions, demoSession, writeFiles } from "./session.js";

type Files = { readonly [path: string]: string };

const projects = new Map(
  readFileSync(new URL("./projects.jsonl", import.meta.url), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { project: string; files: Files })
    .map(({ project, files }) => [project, files]),
);

export interface CaseResult {
  wanted: EvalCase;
  verdict: Verdict;
  answer: string;
  /** `name(arguments)` of each call of the last turn. */
  calls: string[];
}

export interface RunOptions {
  provider: ModelProvider;
  model?: string | undefined;
  renamed?: DemoSessionOptions["renamed"];
}

/** Asks one case in a new session over a fresh folder. */
export async function runCase(wanted: EvalCase, options: RunOptions): Promise<CaseResult> {
  const root = mkdtempSync(path.join(tmpdir(), "demo-eval-"));
  try {
    writeFiles(root, wanted.files ?? projects.get(wanted.project ?? "") ?? {});
    await using session = await demoSession({ root, ...options });
    const { maxSteps } = demoModelSettings;
    for (const said of wanted.before ?? []) await session.runTurn(said, { maxSteps });
    const turn = await session.runTurn(wanted.ask, { maxSteps });
    const facts = (await session.memory.facts()).map(String);
    const answer = turn.failure ? undefined : turn.text;
    return {
      wanted,
      verdict: verdictOf(wanted, { answer, root, facts }),
      answer: answer ?? `failed: ${turn.failure?.message}`,
      calls: turn.toolCalls().map((call) => `${call.name}(${JSON.stringify(call.arguments)})`),
    };
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}
