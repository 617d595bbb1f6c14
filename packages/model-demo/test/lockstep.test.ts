import { readFileSync } from "node:fs";
import { getLlama, LlamaLogLevel } from "node-llama-cpp";
import { expect, it } from "vitest";
import { demoModelPath } from "../src/index.js";

/** What PyTorch gave, recorded by train/lockstep.py: the tokens of a prompt and those after it, greedily. */
interface Recorded {
  prompt: string;
  tokens: number[];
  next: number[];
}

const recorded = readFileSync(new URL("./lockstep.jsonl", import.meta.url), "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => JSON.parse(line) as Recorded);

// Processors round differently, so that a choice between two that are nearly alike may fall otherwise.
const SAME = 0.99;

it("gives in llama.cpp the tokens that it gave in PyTorch", { timeout: 120_000 }, async () => {
  const llama = await getLlama({ gpu: false, build: "never", logLevel: LlamaLogLevel.error });
  const model = await llama.loadModel({ modelPath: process.env.MODEL ?? demoModelPath });
  const context = await model.createContext({ contextSize: 2048, threads: 1 });
  let [same, all] = [0, 0];
  try {
    for (const { prompt, tokens, next } of recorded) {
      const own = model.tokenize(prompt, true);
      expect(own).toEqual(tokens);
      const sequence = context.getSequence();
      const out: number[] = [];
      for await (const token of sequence.evaluate(own, { temperature: 0 })) {
        out.push(token);
        if (out.length >= next.length) break;
      }
      sequence.dispose();
      const said = next.filter((token) => token !== model.tokens.eos); // the end is not given out
      all += said.length;
      same += said.filter((token, i) => out[i] === token).length;
    }
  } finally {
    await context.dispose();
    await model.dispose();
    await llama.dispose();
  }
  console.log(`${same} of ${all} tokens are the same`);
  expect(same / all).toBeGreaterThanOrEqual(SAME);
});
