import { readFileSync } from "node:fs";
import { join } from "node:path";
import { estimateMemory, readGgufHeader } from "@shedkit/gguf";
import { FakeHub, tinyGguf } from "@shedkit/testing";
import { expect, it } from "vitest";
import type { LlamaCppOptions } from "../src/index.js";
import { collect, cpuProvider, folder, only, outputs, request, tinyModel } from "./helpers.js";

const small = { maxTokens: 2 };
const path = tinyModel({ says: ["Hello", " there"], contextLength: 32_768 });
const header = await readGgufHeader(path);
const needs = (contextLength: number) => estimateMemory(header, { contextLength }).total.cpu;

it("tells how a model is run, and why", async () => {
  const events = await collect(cpuProvider().stream(request(path, ["Hi"], { params: small })));
  const reasons = events.flatMap((event) =>
    event.type === "loading" && event.why ? [`${event.what}: ${event.why}`] : [],
  );
  expect(reasons).toEqual([
    expect.stringMatching(/^load: .+, on the CPU: .+ of weights and .+ of cache for 16,384 tokens, with .+ free\.$/),
  ]);
  expect(only(events, "start").warnings).toEqual([]);
});

it("tells nothing of layers that somebody else has chosen", async () => {
  const machine = { memory: 8e9, gpuMemory: 4e9 };
  const told = async (options: LlamaCppOptions) => {
    const events = await collect(cpuProvider({ backend: "auto", machine, ...options }).stream(request(path, ["Hi"])));
    return events.flatMap((event) => (event.type === "loading" && event.why ? [event.why] : []));
  };
  expect(await told({})).toEqual([expect.stringMatching(/^The file, all of it on the GPU: /)]);
  expect(await told({ gpuLayers: "all" })).toEqual([]);
  expect(await told({ gpuLayers: 0 })).toEqual([]);
});

it("takes the context that fits, where no length is asked for", async () => {
  const machine = { memory: needs(8192) / 0.85 };
  const provider = cpuProvider({ machine });
  expect((await provider.describe({ name: path })).contextWindow).toBe(8192);
  const asked = cpuProvider({ machine, contextLength: 12_288 });
  const events = await collect(asked.stream(request(path, ["Hi"], { params: small })));
  expect((await asked.describe({ name: path })).contextWindow).toBe(12_288);
  expect(only(events, "start").warnings).toEqual([
    { message: expect.stringMatching(/^Nothing fits: .*smaller model/) },
  ]);
});

it("fetches a smaller quantization where the usual one does not fit, and says why", async () => {
  const hub = await FakeHub.start();
  const large = tinyGguf({ layers: 12, says: ["I am", " large"], contextLength: 32_768 });
  hub.addModel("acme/Two-GGUF", { "m-Q4_K_M.gguf": large, "m-Q2_K.gguf": readFileSync(path) });
  const contextLength = 256;
  const [largest, context] = [large.length, estimateMemory(header, { contextLength }).total.cpu];
  const provider = cpuProvider({
    hub: { endpoint: hub.url, cacheDir: join(folder, "hub") },
    machine: { memory: Math.max(context / 0.85, largest) },
    contextLength,
  });
  const events = await collect(provider.stream(request("acme/Two-GGUF", ["Hi"])));
  await hub.close();
  expect(outputs(events)).toEqual([{ type: "text", text: "Hello there" }]);
  const reasons = events.flatMap((event) => (event.type === "loading" && event.why ? [event.why] : []));
  expect(reasons[0]).toMatch(/^Q2_K, on the CPU: .* Q4_K_M does not fit so\.$/);
});
