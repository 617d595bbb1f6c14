import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { FakeHub, tinyOnnx } from "@shedkit/testing";
import { expect, it } from "vitest";
import { importRuntime } from "../src/runtime.js";
import { collect, cpuProvider, folder, only, outputs, request, tinyModel } from "./helpers.js";

const hello = tinyModel({ says: ["Hello", " there"] });
const endless = tinyModel({ says: ["tick ", "tack "], forever: true, contextLength: 100_000 });

it("ends a running answer at an abort, with what there was, and leaves the session usable", async () => {
  const provider = cpuProvider();
  const abort = new AbortController();
  const events = [];
  let deltas = 0;
  for await (const event of provider.stream(request(endless, ["Hi"], { session: "s", signal: abort.signal }))) {
    events.push(event);
    if (event.type === "textDelta" && ++deltas === 5) abort.abort(new Error("enough"));
  }
  expect(deltas).toBeLessThan(8);
  expect(events.slice(-2).map((event) => event.type)).toEqual(["usage", "failure"]);
  expect(only(events, "failure").error).toMatchObject({ code: "cancelled", details: { reason: "enough" } });
  const again = await collect(provider.stream(request(endless, ["Hi"], { session: "s", params: { maxTokens: 2 } })));
  expect(only(again, "finish").reason).toBe("length");
});

it("an abort before the request is one failure, and loads nothing", async () => {
  let resolved = 0;
  const provider = cpuProvider({
    resolve: async () => {
      resolved++;
      return { folder: hello, dtype: "fp32", bytes: 1 };
    },
  });
  const events = await collect(provider.stream(request("m", ["Hi"], { signal: AbortSignal.abort(new Error("no")) })));
  expect(events).toMatchObject([{ type: "failure", error: { code: "cancelled" } }]);
  expect(resolved).toBe(0);
});

it("several at once load the model once and answer side by side", async () => {
  let resolved = 0;
  const provider = cpuProvider({
    resolve: async () => {
      resolved++;
      return { folder: hello, dtype: "fp32", bytes: 1000 };
    },
  });
  const ask = (session: string) => collect(provider.stream(request("m", ["Hi"], { session })));
  const answers = await Promise.all(["a", "b", "c", "d"].map(ask));
  expect(answers.map((events) => outputs(events))).toEqual(
    Array.from({ length: 4 }, () => [{ type: "text", text: "Hello there" }]),
  );
  expect(resolved).toBe(1);
});

it("unloads a model when its answers are over, and loads it again when it is asked for", async () => {
  const provider = cpuProvider();
  const stop = new AbortController();
  const running = collect(provider.stream(request(endless, ["Hi"], { signal: stop.signal })));
  await collect(provider.stream(request(endless, ["Hi"], { params: { maxTokens: 1 } })));
  const unloaded = provider.unload(endless);
  stop.abort();
  await Promise.all([running, unloaded]);
  const events = await collect(provider.stream(request(endless, ["Hi"], { params: { maxTokens: 1 } })));
  expect(events.some((event) => event.type === "loading")).toBe(true);
  expect(only(events, "finish").reason).toBe("length");
  await provider.unload("never/loaded");
});

it("fetches what one kind of weights needs from the hub, and does with the cache afterwards", async () => {
  await using hub = await FakeHub.start();
  const files = { ...tinyOnnx({ suffix: "_fp16" }), ...tinyOnnx({ says: ["Hello", " there"], suffix: "_q4" }) };
  hub.addModel("acme/Tiny-ONNX", { ...tinyOnnx({ suffix: "" }), ...files, "pytorch_model.bin": new Uint8Array(1000) });
  const settings = { endpoint: hub.url, cacheDir: join(folder, "cache") };
  const provider = cpuProvider({ hub: settings });
  const events = await collect(provider.stream(request("acme/tiny-onnx", ["Hi"])));
  expect(outputs(events)).toEqual([{ type: "text", text: "Hello there" }]);
  expect(events.some((event) => event.type === "loading" && event.what === "download")).toBe(true);
  const fetched = hub.requests.flatMap(({ kind, url }) => (kind === "resolve" ? [url] : [])).join("\n");
  expect(fetched).toContain("model_q4.onnx");
  expect(fetched).not.toMatch(/model\.onnx|fp16|pytorch/);

  const offline = cpuProvider({ hub: { ...settings, offline: true } });
  expect(outputs(await collect(offline.stream(request("acme/tiny-onnx", ["Hi"]))))).toHaveLength(1);
  const { error } = only(await collect(provider.stream(request("acme/tiny-onnx:uint8", ["Hi"]))), "failure");
  expect(error.message).toBe("acme/tiny-onnx has no uint8 weights; it has q4, fp16, fp32.");
});

const file = (name: string, files: { [path: string]: string }) => {
  const root = join(folder, name);
  mkdirSync(join(root, "onnx"), { recursive: true });
  for (const [path, text] of Object.entries(files)) writeFileSync(join(root, path), text);
  return root;
};
const small = { "config.json": "{}", "tokenizer.json": "{}", "tokenizer_config.json": "{}" };

it.each([
  ["a missing folder", join(folder, "missing")],
  ["a folder without a model", file("empty", { "readme.txt": "nothing" })],
  ["a folder without a tokenizer", file("half", { "config.json": "{}", "onnx/model.onnx": "x" })],
  ["weights that are none", file("broken", { ...small, "onnx/model.onnx": "no weights" })],
])("%s is one clear failure", async (_, path) => {
  const events = await collect(cpuProvider().stream(request(path, ["Hi"])));
  const { error } = only(events, "failure");
  expect(error.code).toBe("provider");
  expect(error.message).toContain(path);
  expect(error.message).not.toContain("\n");
});

it.each(["nonsense", "a/b/c", "owner/repo:q4:q8:x", "../x:q4y/.."])("%s is no model's name", async (name) => {
  expect(cpuProvider().serves({ name })).toBe(name.startsWith("..") ? "yes" : "no");
});

it("says how transformers.js is installed where it is missing", async () => {
  const missing = Object.assign(new Error("Cannot find package '@huggingface/transformers'"), {
    code: "ERR_MODULE_NOT_FOUND",
  });
  await expect(importRuntime(() => Promise.reject(missing))).rejects.toMatchObject({
    code: "provider",
    message:
      "ONNX models need @huggingface/transformers, which is not installed; install it with: npm i @huggingface/transformers",
    details: { package: "@huggingface/transformers", install: "npm i @huggingface/transformers" },
  });
});

it("gives one vector of length one a text, in order, the same for the same text", async () => {
  const model = tinyModel({ kind: "vectors" });
  const embedder = cpuProvider().embedder(model);
  const [a, b, again, empty, long] = await embedder.embed([
    "read the file",
    "ünï",
    "read the file",
    "",
    "word ".repeat(5000),
  ]);
  const dot = (x: ArrayLike<number> = [], y: ArrayLike<number> = []) =>
    Array.from(x).reduce((sum, value, i) => sum + value * (y[i] ?? 0), 0);
  expect(a).toHaveLength(128);
  expect(dot(a, a)).toBeCloseTo(1, 5);
  expect(dot(a, again)).toBeCloseTo(1, 5);
  expect(dot(a, b)).toBeLessThan(0.999);
  expect(empty).toEqual(new Float32Array(128));
  expect(dot(long, long)).toBeCloseTo(1, 5);
  expect(await embedder.embed([])).toEqual([]);
  await expect(embedder.embed(["a"], { signal: AbortSignal.abort(new Error("no")) })).rejects.toThrow("no");
});

it("frees no model under the texts that it is in work with", async () => {
  const model = tinyModel({ kind: "vectors" });
  const provider = cpuProvider();
  const embedder = provider.embedder(model);
  const texts = Array.from({ length: 40 }, (_, i) => `text number ${i} `.repeat(20));
  await embedder.embed(["a"]);
  const order: string[] = [];
  const running = embedder.embed(texts).then((vectors) => order.push(`${vectors.length} vectors`));
  const unloaded = provider.unload(model).then(() => order.push("unloaded"));
  await Promise.all([running, unloaded]);
  expect(order).toEqual(["40 vectors", "unloaded"]);

  const stop = new AbortController();
  await embedder.embed(["a"]);
  const stopped = embedder.embed(texts, { signal: stop.signal });
  stop.abort(new Error("enough"));
  await expect(stopped).rejects.toThrow("enough");
  const closed = embedder.embed(texts);
  await Promise.all([expect(closed).rejects.toThrow("was closed"), provider.close()]);
  await expect(embedder.embed(["a"])).rejects.toThrow("was closed");
});

it("closes while it answers: the answer ends, and nothing is begun again", async () => {
  const provider = cpuProvider();
  const running = collect(provider.stream(request(endless, ["Hi"])));
  await collect(provider.stream(request(endless, ["Hi"], { params: { maxTokens: 1 } })));
  await provider.close();
  expect(only(await running, "failure").error.code).toBe("cancelled");
  expect(only(await collect(provider.stream(request(hello, ["Hi"]))), "failure").error.message).toContain("was closed");
  await provider.close();
});
