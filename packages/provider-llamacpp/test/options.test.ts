import { afterAll, expect, it } from "vitest";
import { importBinding, startLlama } from "../src/binding.js";
import { LoadedModel } from "../src/loaded-model.js";
import type { LlamaCppOptions } from "../src/options.js";
import { collect, cpuProvider, only, outputs, request, tinyModel } from "./helpers.js";

const path = tinyModel({ says: ["tick ", "tack "], forever: true, contextLength: 4096 });
const binding = await importBinding();
const llama = await startLlama(binding, "cpu");
afterAll(() => llama.dispose());

async function loaded(options: LlamaCppOptions) {
  const parts = { binding, llama, file: { path, bytes: 700_000 }, options };
  const model = await LoadedModel.load(parts, { signal: new AbortController().signal, onProgress: () => undefined });
  const { context } = await model.generation();
  const { contextSize, batchSize, currentThreads, totalSequences } = context;
  const { gpuLayers } = model.model;
  await model.dispose();
  return { contextSize, batchSize, threads: currentThreads, sequences: totalSequences, gpuLayers };
}

it("takes the context length, batch size, threads, sequences and layers that it is given", async () => {
  const options = { contextLength: 1024, batchSize: 128, threads: 2, sequences: 3, gpuLayers: 0 };
  const { threads, ...rest } = await loaded(options);
  expect(rest).toEqual({ contextSize: 1024, batchSize: 128, sequences: 3, gpuLayers: 0 });
  expect(threads).toBeGreaterThanOrEqual(1);
  expect((await loaded({ gpuLayers: "all" })).contextSize).toBe(4096); // what the model was trained for
});

it.each([
  ["contextLength", 0, "wanted a whole number from 16 to 16777216, got 0."],
  ["contextLength", 1e9, "wanted a whole number from 16 to 16777216, got 1000000000."],
  ["contextLength", Number.NaN, "got NaN."],
  ["batchSize", 0.5, "got 0.5."],
  ["threads", -1, "from 1 to 1024, got -1."],
  ["sequences", "two", "got two."],
  ["gpuLayers", -1, 'from 0 to 10000, or "all", got -1.'],
])("refuses numbers that cannot be meant, at once: %s %s", (field, value, told) => {
  const make = () => cpuProvider({ [field]: value } as LlamaCppOptions);
  expect(make).toThrow(expect.objectContaining({ code: "provider", details: { problem: "badOption" } }));
  expect(make).toThrow(`${field}: wanted`);
  expect(make).toThrow(told);
});

it.each([
  ["A context size of 20000000 is too large for the available RAM", /^There is not enough memory for .*: A context/],
  ["Not enough VRAM for these layers", /^There is not enough memory .*contextLength\.$/],
  ["Failed to load the program", /^llama\.cpp cannot load .* damaged/],
])("tells what llama.cpp says of a lack of memory apart from what it says of a file: %s", async (reason, told) => {
  const refusing = { loadModel: () => Promise.reject(new Error(reason)) } as unknown as typeof llama;
  const parts = { binding, llama: refusing, file: { path, bytes: 700_000 }, options: {} };
  const load = LoadedModel.load(parts, { signal: new AbortController().signal, onProgress: () => undefined });
  await expect(load).rejects.toThrow(told);
});

it("evaluates a prompt that is longer than its batch", async () => {
  const provider = cpuProvider({ contextLength: 2048, batchSize: 64 });
  const ask = request(path, ["word ".repeat(200)], { params: { maxTokens: 3 } });
  const events = await collect(provider.stream(ask));
  expect(outputs(events)).toEqual([{ type: "text", text: "tick tack tick" }]);
  expect(only(events, "usage").usage.input).toBe(await provider.countTokens(ask));
});

it("says that a backend is missing, and what to do", async () => {
  const provider = cpuProvider({ backend: process.platform === "darwin" ? "cuda" : "metal" });
  const { error } = only(await collect(provider.stream(request(path, ["Hi"]))), "failure");
  expect(error).toMatchObject({ code: "provider", details: { problem: "noBackend" } });
  expect(error.message).toContain('Use backend "cpu"');
});

it("a repetition penalty makes the model say other things than it said", async () => {
  const [provider, random] = [cpuProvider(), tinyModel()];
  const say = async (repeatPenalty: number) => {
    const params = { maxTokens: 60, repeatPenalty };
    return outputs(await collect(provider.stream(request(random, ["Hi"], { params }))));
  };
  expect(await say(1)).toEqual(await say(1));
  expect(await say(5)).not.toEqual(await say(1));
});
