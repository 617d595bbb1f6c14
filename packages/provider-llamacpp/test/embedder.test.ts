import { describe, expect, it } from "vitest";
import { collect, cpuProvider, outputs, request, tinyModel } from "./helpers.js";

const path = tinyModel();
const dot = (a: Float32Array | undefined, b: Float32Array | undefined) =>
  (a ?? new Float32Array()).reduce((sum, value, i) => sum + value * (b?.[i] ?? Number.NaN), 0);

it("gives one vector of length one a text, in order, the same for the same text", async () => {
  const embedder = cpuProvider().embedder(path);
  const [a, b, again] = await embedder.embed(["read the file", "ünïcode 世界", "read the file"]);
  expect(a).toHaveLength(128);
  expect(dot(a, a)).toBeCloseTo(1, 5);
  expect(dot(a, again)).toBeCloseTo(1, 5);
  expect(dot(a, b)).toBeLessThan(0.999);
});

it("takes empty texts, very long ones, and none", async () => {
  const embedder = cpuProvider().embedder(path);
  expect(await embedder.embed([])).toEqual([]);
  const [empty, long] = await embedder.embed(["", "word ".repeat(5000)]);
  expect(empty).toEqual(new Float32Array(128));
  expect(dot(long, long)).toBeCloseTo(1, 5);
});

it("stops at an abort, and shares the model with answers", async () => {
  const provider = cpuProvider();
  const embedder = provider.embedder(path);
  await expect(embedder.embed(["a"], { signal: AbortSignal.abort(new Error("no")) })).rejects.toThrow("no");
  await embedder.embed(["a"]);
  const events = await collect(provider.stream(request(path, ["Hi"], { params: { maxTokens: 2 } })));
  expect(events.some((event) => event.type === "loading")).toBe(false);
  expect(outputs(events)).toHaveLength(1);
});

describe("while texts are in work", () => {
  const texts = Array.from({ length: 40 }, (_, i) => `text number ${i} `.repeat(20));

  it("the model is not freed: unloading waits for them", async () => {
    const provider = cpuProvider();
    const embedder = provider.embedder(path);
    await embedder.embed(["a"]);
    const order: string[] = [];
    const running = embedder.embed(texts).then((vectors) => order.push(`${vectors.length} vectors`));
    const unloaded = provider.unload(path).then(() => order.push("unloaded"));
    await Promise.all([running, unloaded]);
    expect(order).toEqual(["40 vectors", "unloaded"]);
    expect(await embedder.embed(["a"])).toHaveLength(1);
  });

  it("an abort, and closing, end them at once and do no harm", async () => {
    const provider = cpuProvider();
    const embedder = provider.embedder(path);
    const stop = new AbortController();
    await embedder.embed(["a"]);
    const stopped = embedder.embed(texts, { signal: stop.signal });
    stop.abort(new Error("enough"));
    await expect(stopped).rejects.toThrow("enough");
    const running = embedder.embed(texts);
    await Promise.all([expect(running).rejects.toThrow("was closed"), provider.close()]);
    await expect(embedder.embed(["a"])).rejects.toThrow("was closed");
  });
});
