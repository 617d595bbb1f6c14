import { readFile, readlink } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { fetchModel, hubForTest, model, tempFolder } from "./support/hub.js";

test("fetches a model in parallel ranges into the cache layout that all Hugging Face tools share", async () => {
  const hub = await hubForTest();
  const content = model();
  const repository = hub.addModel("acme/Tiny-GGUF", {
    "Tiny-Q4_K_M.gguf": content,
    "README.md": Buffer.from("# Tiny"),
  });
  const cache = await tempFolder();

  const found = await fetchModel("acme/Tiny-GGUF", hub, cache);

  expect(found).toMatchObject({ source: "download", quantization: "Q4_K_M", commit: repository.head });
  expect(found.path).toBe(join(cache, "models--acme--Tiny-GGUF/snapshots", repository.head, "Tiny-Q4_K_M.gguf"));
  expect(await readFile(found.path)).toEqual(Buffer.from(content));
  expect(await readlink(found.path)).toMatch(/^\.\.\/\.\.\/blobs\/[0-9a-f]{64}$/);
  expect(await readFile(join(cache, "models--acme--Tiny-GGUF/refs/main"), "utf8")).toBe(repository.head);
});
