import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gguf } from "@huggingface/gguf";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type GgufHeader, readGgufHeader } from "../src/index.js";
import { ggufBytes, modelKeys } from "./support/gguf-bytes.js";
import { failureOf, hubForTest, model, tempFolder } from "./support/hub.js";

async function written(bytes: Uint8Array): Promise<string> {
  const path = join(await tempFolder(), "model.gguf");
  await writeFile(path, bytes);
  return path;
}

/** What Hugging Face's own parser reads, in our words. */
async function asTheyReadIt(path: string) {
  const { metadata, tensorInfos, tensorDataOffset } = await gguf(path, { allowLocalFile: true });
  const { version, tensor_count: _t, kv_count: _k, ...keys } = { ...metadata } as Record<string, unknown>;
  return {
    version,
    dataOffset: Number(tensorDataOffset),
    tensors: tensorInfos.map(({ name, shape, offset }) => ({
      name,
      shape: shape.map(Number),
      offset: Number(offset) + Number(tensorDataOffset),
    })),
    keys,
  };
}

function asWeReadIt({ version, dataOffset, tensors, metadata, longArrays }: GgufHeader) {
  const lengths = Object.fromEntries(Object.entries(longArrays).map(([key, length]) => [key, { length }]));
  return {
    version,
    dataOffset,
    tensors: tensors.map(({ name, shape, offset }) => ({ name, shape, offset })),
    keys: { ...metadata, ...lengths },
  };
}

test("a real model is read as Hugging Face's own parser reads it", async () => {
  const path = await written(model());
  const theirs = await asTheyReadIt(path);
  const header = await readGgufHeader(path);
  expect(asWeReadIt(header)).toEqual(theirs);
  expect(header).toMatchObject({ architecture: "llama", name: "tiny", kind: "model", layers: 1, contextLength: 2048 });
  expect(header.chatTemplate).toContain("<|im_start|>");
});

test("so is any header", async () => {
  const value = fc.oneof(
    fc.string({ unit: "grapheme" }),
    fc.nat(),
    fc.boolean(),
    fc.array(fc.string(), { minLength: 1 }),
    fc.array(fc.nat(), { minLength: 1 }),
  );
  const keys = fc.dictionary(
    fc.string({ minLength: 1 }).filter((key) => !key.startsWith("__")),
    value,
  );
  const shape = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 4 });
  const tensors = fc.array(fc.record({ name: fc.string(), shape }), { maxLength: 5 });
  const folder = await tempFolder();
  const path = join(folder, "any.gguf");
  await fc.assert(
    fc.asyncProperty(keys, tensors, fc.constantFrom(2, 3), async (metadata, list, version) => {
      await writeFile(path, ggufBytes({ metadata, tensors: list, version }));
      expect(asWeReadIt(await readGgufHeader(path))).toEqual(await asTheyReadIt(path));
    }),
    { numRuns: 50 },
  );
});

test("a long vocabulary is counted, not kept", async () => {
  const tokens = Array.from({ length: 300_000 }, (_, i) => `token ${i}`);
  const scores = tokens.map((_, i) => i);
  const metadata = modelKeys("gemma3", { "tokenizer.ggml.tokens": tokens, "tokenizer.ggml.scores": scores, last: "x" });
  const header = await readGgufHeader(await written(ggufBytes({ metadata })));
  expect(header.longArrays).toEqual({ "tokenizer.ggml.tokens": 300_000, "tokenizer.ggml.scores": 300_000 });
  expect(header.metadata.last).toBe("x");
});

test("whole numbers that a double cannot hold stay exact", async () => {
  const metadata = { big: 2n ** 63n, small: 7n };
  const header = await readGgufHeader(await written(ggufBytes({ metadata })));
  expect(header.metadata).toEqual({ big: 2n ** 63n, small: 7 });
});

test("a file cut at any place is called cut short, damaged or no GGUF, and nothing else happens", async () => {
  const bytes = ggufBytes({
    metadata: modelKeys("llama", { list: ["a", "b"], numbers: [1, 2] }),
    tensors: [{ name: "t", shape: [4] }],
  });
  const whole = (await readGgufHeader(await written(bytes))).dataOffset;
  const path = join(await tempFolder(), "cut.gguf");
  for (let end = 0; end < whole - 32; end++) {
    await writeFile(path, bytes.subarray(0, end));
    const { code, problem } = await failureOf(readGgufHeader(path));
    expect([code, problem]).toEqual(["provider", end < 4 ? "notGguf" : "truncated"]);
  }
});

test("whatever bytes come after the magic, the outcome is a header or a clear error", async () => {
  const good = ggufBytes({ metadata: modelKeys("llama", { list: ["a", "b"] }), tensors: [{ name: "t", shape: [4] }] });
  const path = join(await tempFolder(), "broken.gguf");
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 4, max: good.length - 1 }),
      fc.uint8Array({ minLength: 1, maxLength: 8 }),
      async (at, noise) => {
        const bytes = Uint8Array.from(good);
        bytes.set(noise.subarray(0, bytes.length - at), at);
        await writeFile(path, bytes);
        await readGgufHeader(path).catch((error) => {
          expect(error.code).toBe("provider");
          expect(error.message).not.toContain("\n");
        });
      },
    ),
    { numRuns: 300 },
  );
});

test("big-endian files and versions that nobody reads are named", async () => {
  expect((await failureOf(readGgufHeader(await written(ggufBytes({ version: 3 << 24 }))))).message).toMatch(
    /big-endian/,
  );
  expect((await failureOf(readGgufHeader(await written(ggufBytes({ version: 1 }))))).message).toMatch(/version 1/);
});

test("over HTTP only the beginning is fetched", async () => {
  const hub = await hubForTest();
  const content = ggufBytes({ metadata: modelKeys("llama"), tensors: [{ name: "t", shape: [1024, 1024] }] });
  const { head } = hub.addModel("acme/tiny", { "m.gguf": content });
  const header = await readGgufHeader(`${hub.url}/acme/tiny/resolve/${head}/m.gguf`);
  expect(header.architecture).toBe("llama");
  expect(hub.bytesSent).toBeLessThan(content.length / 2);
});

test("a vocabulary of several megabytes is read in few requests", async () => {
  const hub = await hubForTest();
  const tokens = Array.from({ length: 200_000 }, (_, i) => `a long token with the number ${i}`);
  const content = ggufBytes({ metadata: modelKeys("llama", { "tokenizer.ggml.tokens": tokens, last: "x" }) });
  const { head } = hub.addModel("acme/tiny", { "m.gguf": content });
  const header = await readGgufHeader(`${hub.url}/acme/tiny/resolve/${head}/m.gguf`);
  expect(header.metadata.last).toBe("x");
  expect(content.length).toBeGreaterThan(8_000_000);
  expect(hub.requests.filter(({ kind }) => kind === "cdn").length).toBeLessThan(8);
});

test("a web page instead of the file, and a server that is not there, are told apart", async () => {
  const hub = await hubForTest({ fault: () => ({ type: "html" }) });
  const url = `${hub.url}/acme/tiny/resolve/main/m.gguf`;
  expect((await failureOf(readGgufHeader(url))).problem).toBe("hubError");
  await hub.close();
  expect((await failureOf(readGgufHeader(url))).problem).toBe("unreachable");
});

test("an abort ends a request that never answers", async () => {
  const hub = await hubForTest({ fault: () => ({ type: "stall" }) });
  const stop = new AbortController();
  const reading = failureOf(readGgufHeader(`${hub.url}/acme/tiny/resolve/main/m.gguf`, { signal: stop.signal }));
  stop.abort("enough");
  expect(await reading).toMatchObject({ code: "cancelled" });
});
