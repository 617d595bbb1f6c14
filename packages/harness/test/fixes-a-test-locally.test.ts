import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { ModelProvider } from "@shedkit/provider";
import { LlamaCppProvider } from "@shedkit/provider-llamacpp";
import { TransformersProvider } from "@shedkit/provider-transformers";
import { tinyOnnx } from "@shedkit/testing";
import type { Usage } from "@shedkit/types";
import { expect, it, onTestFinished } from "vitest";
import { demoModelPath } from "../../model-demo/src/index.js";
import { steerLlama } from "../../provider-llamacpp/test/steered-llama.js";
import { steerTransformers } from "../../provider-transformers/test/steered-transformers.js";
import { answerToText } from "./support/fixer-in-text.js";
import { fix, fixed, TOTAL, tempFolder } from "./support/repository.js";
import { signatureTemplate } from "./support/signature-template.js";

const contextLength = 16_384;
const TIMEOUT = 300_000;

it(
  "mends a failing test on llama.cpp, with a model that was loaded from its file",
  async () => {
    steerLlama(answerToText);
    const provider = new LlamaCppProvider({ backend: "cpu", threads: 1, sequences: 1, contextLength });
    onTestFinished(() => provider.close());
    const { usages, watched } = watch(provider);
    expect(await fix(watched, demoModelPath, TOTAL, "the disk")).toEqual(fixed(TOTAL));
    expectAllKept(usages);
  },
  TIMEOUT,
);

it(
  "mends a failing test on transformers.js, with a model that was loaded from its folder",
  async () => {
    const folder = await tempFolder();
    for (const [path, bytes] of Object.entries(tinyOnnx({ chatTemplate: signatureTemplate }))) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), bytes);
    }
    await steerTransformers(folder, "<|im_start|>assistant\n", answerToText);
    const provider = new TransformersProvider({ threads: 1, contextLength });
    onTestFinished(() => provider.close());
    const { usages, watched } = watch(provider);
    expect(await fix(watched, folder, TOTAL, "the disk")).toEqual(fixed(TOTAL));
    expectAllKept(usages);
  },
  TIMEOUT,
);

/** Each step evaluated only what came since the last one, of which all was kept but the token that ended it. */
function expectAllKept(usages: readonly Usage[]): void {
  expect(usages).toHaveLength(fixed(TOTAL).calls.length + 1);
  const before = usages.slice(0, -1).map(({ total }) => total - 1);
  expect(usages.map(({ cacheRead }) => cacheRead)).toEqual([0, ...before]);
}

/** Keeps what each request to a provider used. */
function watch(provider: ModelProvider): { watched: ModelProvider; usages: Usage[] } {
  const usages: Usage[] = [];
  const watched: ModelProvider = {
    id: provider.id,
    serves: (model) => provider.serves(model),
    async *stream(request) {
      for await (const event of provider.stream(request)) {
        if (event.type === "usage") usages.push(event.usage);
        yield event;
      }
    },
  };
  return { usages, watched };
}
