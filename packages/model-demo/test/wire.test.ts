import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { normalizeTranscript } from "@shedkit/provider/transcript";
import { type ScriptedAnswer, ScriptedProvider } from "@shedkit/testing";
import { ModelTemplates } from "@shedkit/text-tools/backend";
import { describe, expect, it } from "vitest";
import { demoSession, writeFiles } from "../eval/session.js";

type Turn = ["user" | "assistant" | "tool", string];

interface Sample {
  skill: string;
  renamed: { id: string; nameOverride: string; paramsNameOverrides: { [name: string]: string } }[] | null;
  /** Whether there are the file tools alone. */
  few: boolean;
  system: string;
  /** The lines of each; of a folder, none. */
  files: { [path: string]: string[] };
  turns: Turn[];
  text: string;
}

const read = (name: string) => readFileSync(new URL(name, import.meta.url), "utf8");
const samples = read("./wire.jsonl")
  .trimEnd()
  .split("\n")
  .map((line) => JSON.parse(line) as Sample);
const template = read("../train/template.jinja");
const FILE_TOOLS = ["read", "write", "edit", "list"];
const MEMORY = "Working memory:\n";

// What the generator of the training data made: the real agent with the real tools must print the very same.
describe("the wire that the model was trained on is the product's", () => {
  it.each(samples.map((sample, i) => [`${i} ${sample.skill}`, sample] as const))("%s", async (_, sample) => {
    expect(await played(sample)).toBe(sample.text);
  });
});

/** Plays what the assistant of a sample says to a session over its files. Returns the conversation as the model reads it. */
async function played({ renamed, few, system, files, turns }: Sample): Promise<string> {
  const root = mkdtempSync(path.join(tmpdir(), "demo-wire-"));
  try {
    for (const name of Object.keys(files))
      if (name.endsWith("/")) mkdirSync(path.join(root, name), { recursive: true });
    const texts = Object.entries(files).filter(([name]) => !name.endsWith("/"));
    writeFiles(
      root,
      Object.fromEntries(texts.map(([name, lines]) => [name, lines.map((line) => `${line}\n`).join("")])),
    );
    const answers = turns.filter(([role]) => role === "assistant").map(([, text]) => answerOf(text));
    const provider = new ScriptedProvider(answers);
    await using session = await demoSession({
      root,
      provider,
      model: "scripted",
      ...(few && { only: FILE_TOOLS }),
      ...(renamed && { renamed: renamed.filter(({ id }) => !few || FILE_TOOLS.includes(id)) }),
      ...(system !== "" && { systemPrompt: system }),
    });
    for (const [role, text] of turns) {
      if (role !== "user" || text.startsWith(MEMORY)) continue;
      const turn = await session.runTurn(text);
      if (turn.failure) throw turn.failure;
    }
    const request = provider.requests.at(-1);
    if (request === undefined) throw new Error("Nothing was asked.");
    const { family, template: jinja } = new ModelTemplates({ usual: template }, {}).of(request);
    const messages = normalizeTranscript(request.messages, { model: request.model.name });
    const prompt = family.render({ system: request.system, messages, tools: request.tools }, jinja);
    return `${prompt}${turns.at(-1)?.[1]}<|im_end|>\n`;
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

function answerOf(text: string): ScriptedAnswer {
  const json = /^<tool_call>\n(.*)\n<\/tool_call>$/s.exec(text)?.[1];
  if (json === undefined) return text;
  const { name, arguments: args } = JSON.parse(json);
  return { call: name, arguments: args };
}
