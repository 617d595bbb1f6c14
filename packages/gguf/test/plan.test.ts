import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import {
  type GgufHeader,
  inspectModel,
  type ModelVariant,
  machineFromOs,
  planModel,
  readGgufHeader,
} from "../src/index.js";
import { ggufBytes, modelKeys } from "./support/gguf-bytes.js";
import { failureOf, hubForTest, model, tempFolder } from "./support/hub.js";

const GB = 1e9;
const variant = (quantization: string, gb: number): ModelVariant => ({
  quantization,
  bytes: gb * GB,
  files: [{ path: `m-${quantization}.gguf`, bytes: gb * GB }],
});
/** Like a model of 8 billion weights. */
const variants = [
  variant("BF16", 16),
  variant("Q8_0", 8.5),
  variant("Q4_K_M", 4.9),
  variant("Q3_K_M", 4),
  variant("Q2_K", 3.2),
];
let headers: GgufHeader[];

beforeAll(async () => {
  // 36 layers, 128 kB of cache a token; its own weights are small, as the plan only takes their proportions.
  const metadata = modelKeys("llama", {
    "llama.block_count": 36,
    "llama.context_length": 131_072,
    "llama.embedding_length": 4096,
    "llama.attention.head_count": 32,
    "llama.attention.head_count_kv": 8,
    "llama.vocab_size": 128_000,
  });
  const tensors = Array.from({ length: 36 }, (_, i) => ({ name: `blk.${i}.w`, shape: [256] }));
  const folder = await mkdtemp(join(tmpdir(), "shedkit-gguf-"));
  await writeFile(join(folder, "m.gguf"), ggufBytes({ metadata, tensors }));
  headers = [await readGgufHeader(join(folder, "m.gguf"))];
  await rm(folder, { recursive: true });
});

const plan = (memory: number, gpuMemory?: number, options = {}) =>
  planModel(
    variants,
    headers,
    { memory: memory * GB, gpuMemory: gpuMemory === undefined ? undefined : gpuMemory * GB },
    options,
  );

test("with room it is Q4_K_M with a long context, on the GPU where there is one", () => {
  const onCpu = plan(64);
  expect(onCpu).toMatchObject({ fits: true, gpuLayers: 0, contextLength: 32_768, variant: { quantization: "Q4_K_M" } });
  expect(onCpu.why).toMatch(
    /^Q4_K_M, on the CPU: 4\.9 GB of weights and 4\.8 GB of cache for 32,768 tokens, with 64\.0 GB of memory free\.$/,
  );
  const onGpu = plan(64, 24);
  expect(onGpu).toMatchObject({ gpuLayers: 37, contextLength: 32_768, variant: { quantization: "Q4_K_M" } });
  expect(onGpu.why).toMatch(/all of it on the GPU/);
});

test("with less room the context gives way first, then the quantization, and it is said", () => {
  const shorter = plan(8);
  expect(shorter).toMatchObject({ fits: true, contextLength: 8192, variant: { quantization: "Q4_K_M" } });
  expect(shorter.why).toMatch(/More than 8,192 tokens of context do not fit/);
  const smaller = plan(5.5);
  expect(smaller).toMatchObject({ fits: true, variant: { quantization: "Q3_K_M" } });
  expect(smaller.why).toMatch(/Q4_K_M does not fit/);
});

test("a model too large for the GPU has some of its layers there", () => {
  const some = plan(64, 3);
  expect(some.fits).toBe(true);
  expect(some.gpuLayers).toBeGreaterThan(0);
  expect(some.gpuLayers).toBeLessThan(36);
  expect(some.why).toMatch(/\d+ of 36 layers on the GPU/);
});

test("where nothing fits it says what is missing", () => {
  const none = plan(2);
  expect(none).toMatchObject({ fits: false, variant: { quantization: "Q2_K" }, contextLength: 4096 });
  expect(none.why).toMatch(/Nothing fits: even Q2_K takes .* and this machine has 2\.0 GB of memory free/);
});

test("what is asked for is kept to", async () => {
  expect(plan(64, undefined, { quantization: "q8_0", contextLength: 1000 })).toMatchObject({
    contextLength: 1000,
    variant: { quantization: "Q8_0" },
  });
  expect(plan(64, undefined, { contextLength: 10 ** 9 }).contextLength).toBe(131_072);
  expect(plan(6, undefined, { quantization: "Q8_0" }).fits).toBe(false);
  expect((await failureOf((async () => plan(64, 0, { quantization: "Q6_K" }))())).problem).toBe("quantizationNotFound");
});

test("a plan that is said to fit fits, and more memory never makes it worse", () => {
  const amount = fc.double({ min: 0.5, max: 40, noNaN: true });
  fc.assert(
    fc.property(amount, fc.double({ min: 0, max: 30, noNaN: true }), (memory, gpu) => {
      const { fits, estimate } = plan(memory, gpu);
      if (fits) {
        expect(estimate.total.cpu).toBeLessThanOrEqual(memory * GB);
        expect(estimate.total.gpu).toBeLessThanOrEqual(gpu * GB);
        expect(plan(memory + 1, gpu).fits).toBe(true);
      }
    }),
  );
});

test("this machine has memory", () => {
  expect(machineFromOs().memory).toBeGreaterThan(10_000_000);
});

test("a model on a hub is looked at without being fetched", async () => {
  const hub = await hubForTest({ tokens: ["hf_good"] });
  const big = ggufBytes({ metadata: modelKeys("llama"), tensors: [{ name: "blk.0.w", shape: [1024, 1024] }] });
  hub.addModel(
    "acme/Big-GGUF",
    { "Big-Q4_K_M-00001-of-00002.gguf": big, "Big-Q4_K_M-00002-of-00002.gguf": big, "Big-Q8_0.gguf": model() },
    { gated: true, allowedTokens: ["hf_good"] },
  );
  const settings = { endpoint: hub.url, token: "hf_good", cacheDir: await tempFolder() };
  const found = await inspectModel("acme/Big-GGUF", { hub: settings });
  expect(found.variants.map(({ quantization }) => quantization)).toEqual(["Q4_K_M", "Q8_0"]);
  expect(found.chosen.files.length).toBe(2);
  expect(found.headers.map(({ architecture }) => architecture)).toEqual(["llama", "llama"]);
  expect(hub.bytesSent).toBeLessThan(2 * big.length);
  expect(planModel(found.variants, found.headers, { memory: 64 * GB }).variant.quantization).toBe("Q4_K_M");
});

test("a model on this machine is looked at the same way", async () => {
  const path = join(await tempFolder(), "m-Q8_0.gguf");
  await writeFile(path, model());
  const found = await inspectModel(path);
  expect(found.chosen).toEqual({
    quantization: "Q8_0",
    bytes: model().length,
    files: [{ path, bytes: model().length }],
  });
  expect(planModel(found.variants, found.headers, { memory: GB })).toMatchObject({ fits: true, contextLength: 2048 });
});
