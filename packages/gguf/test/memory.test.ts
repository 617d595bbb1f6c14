import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { estimateMemory, type GgufHeader, readGgufHeader } from "../src/index.js";
import { ggufBytes, modelKeys, type WrittenTensor, type WrittenValue } from "./support/gguf-bytes.js";
import { tempFolder } from "./support/hub.js";

const LAYERS = 8;
const HEADS = 4;
const KV_HEADS = 2;
const HEAD = 64 / HEADS;

async function headerOf(
  architecture: string,
  more: Record<string, WrittenValue> = {},
  tensors: WrittenTensor[] = layered(),
): Promise<GgufHeader> {
  const keys = Object.fromEntries(Object.entries(more).map(([key, value]) => [`${architecture}.${key}`, value]));
  const metadata = modelKeys(architecture, {
    [`${architecture}.block_count`]: LAYERS,
    [`${architecture}.attention.head_count_kv`]: KV_HEADS,
    [`${architecture}.context_length`]: 100_000,
    ...keys,
  });
  const path = join(await tempFolder(), "m.gguf");
  await writeFile(path, ggufBytes({ metadata, tensors }));
  return readGgufHeader(path);
}

/** Bytes: the embedding 100 x 4, each layer 32 x 4, the output 50 x 4. */
function layered(output = true): WrittenTensor[] {
  const blocks = Array.from({ length: LAYERS }, (_, i) => ({ name: `blk.${i}.ffn.weight`, shape: [32] }));
  return [
    { name: "token_embd.weight", shape: [100] },
    ...blocks,
    ...(output ? [{ name: "output.weight", shape: [50] }] : []),
  ];
}

const kv = (header: GgufHeader, contextLength: number) =>
  estimateMemory(header, { contextLength, batchSize: 256 }).kvCache.cpu;
const layer = (tokens: number) => tokens * KV_HEADS * HEAD * 2 * 2;

test("weights go to the GPU layer by layer from the last, the output first, the embedding never", async () => {
  const header = await headerOf("llama");
  const split = (gpuLayers: number | "all") => estimateMemory(header, { gpuLayers }).weights;
  expect(split(0)).toEqual({ cpu: 400 + LAYERS * 128 + 200, gpu: 0 });
  expect(split(1)).toEqual({ cpu: 400 + LAYERS * 128, gpu: 200 });
  expect(split(3)).toEqual({ cpu: 400 + (LAYERS - 2) * 128, gpu: 200 + 2 * 128 });
  expect(split("all")).toEqual({ cpu: 400, gpu: 200 + LAYERS * 128 });
  expect(split(99)).toEqual(split("all"));
});

test("an embedding that also serves as output is on the GPU a second time", async () => {
  const header = await headerOf("llama", {}, layered(false));
  expect(estimateMemory(header, { gpuLayers: "all" }).weights).toEqual({ cpu: 400, gpu: 400 + LAYERS * 128 });
  expect(estimateMemory(header).weights).toEqual({ cpu: 400 + LAYERS * 128, gpu: 0 });
});

test("a split model is the sum of its files", async () => {
  const [first, second] = [await headerOf("llama"), await headerOf("llama")];
  expect(estimateMemory([first, second]).weights.cpu).toBe(2 * estimateMemory(first).weights.cpu);
});

test("the cache: keys and values of every token in every layer, by type", async () => {
  const header = await headerOf("llama");
  expect(kv(header, 4096)).toBe(LAYERS * layer(4096));
  const q8 = estimateMemory(header, { contextLength: 4096, cacheType: "q8_0" }).kvCache.cpu;
  expect(q8).toBe((LAYERS * layer(4096) * 34) / 64);
  expect(estimateMemory(header, { contextLength: 4096, gpuLayers: 3 }).kvCache).toEqual({
    cpu: 6 * layer(4096),
    gpu: 2 * layer(4096),
  });
});

test("heads may have sizes of their own, and layers numbers of their own", async () => {
  expect(kv(await headerOf("llama", { "attention.key_length": 128, "attention.value_length": 64 }), 1000)).toBe(
    LAYERS * 1000 * KV_HEADS * (128 + 64) * 2,
  );
  const heads = [0, 1, 2, 3, 0, 1, 2, 3];
  expect(kv(await headerOf("llama", { "attention.head_count_kv": heads }), 1000)).toBe(12 * 1000 * HEAD * 2 * 2);
});

test("layers with a sliding window keep the window and a batch", async () => {
  const window = { "attention.sliding_window": 512 };
  const windowed = layer(768); // 512 and a batch of 256
  expect(kv(await headerOf("gemma3", window), 8192)).toBe(7 * windowed + layer(8192)); // every sixth sees all
  expect(kv(await headerOf("gemma2", window), 8192)).toBe(4 * windowed + 4 * layer(8192));
  expect(kv(await headerOf("gemma3", window), 300)).toBe(LAYERS * layer(300));
  const pattern = [true, true, true, false, false, false, false, false];
  expect(kv(await headerOf("gemma4", { ...window, "attention.sliding_window_pattern": pattern }), 8192)).toBe(
    3 * windowed + 5 * layer(8192),
  );
  expect(kv(await headerOf("llama", window), 8192)).toBe(LAYERS * layer(8192)); // llama.cpp uses no window there
});

test("layers that share another one's cache keep none", async () => {
  expect(kv(await headerOf("gemma4", { "attention.shared_kv_layers": 3 }), 1000)).toBe(5 * layer(1000));
});

test("recurrent layers keep a state of one size, whatever the context", async () => {
  const ssm = { "ssm.state_size": 16, "ssm.inner_size": 32, "ssm.conv_kernel": 4, "ssm.group_count": 1 };
  const header = await headerOf("qwen3next", { full_attention_interval: 4, ...ssm });
  const state = (3 * (32 + 2 * 16) + 16 * 32) * 4;
  expect(kv(header, 1000)).toBe(6 * state + 2 * layer(1000));
  expect(kv(header, 2000)).toBe(6 * state + 2 * layer(2000));
});

test("totals are sums, on both sides, and grow with the context", async () => {
  const header = await headerOf("llama", { vocab_size: 1000 });
  for (const gpuLayers of [0, 4, "all"] as const) {
    const { weights, kvCache, compute, total } = estimateMemory(header, { gpuLayers });
    for (const side of ["cpu", "gpu"] as const) expect(total[side]).toBe(weights[side] + kvCache[side] + compute[side]);
  }
  expect(estimateMemory(header).contextLength).toBe(8192);
  expect(estimateMemory(header, { contextLength: 1000 }).total.cpu).toBeLessThan(estimateMemory(header).total.cpu);
});
