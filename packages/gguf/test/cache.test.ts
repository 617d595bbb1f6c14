import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { linkIntoSnapshot, repositoryFolder, writeRef } from "../src/hub/cache.js";
import { tempFolder } from "./support/hub.js";

const REPOSITORY = { repo: "acme/Tiny-GGUF", commit: "a".repeat(40) } as Parameters<typeof writeRef>[1];

test("many of one process may note the same commit and link the same file at once", async () => {
  const cache = await tempFolder();
  const root = repositoryFolder(cache, REPOSITORY.repo);
  const blob = join(root, "blobs", "b");
  await mkdir(join(root, "blobs"), { recursive: true });
  await writeFile(blob, "GGUF");
  const once = async () => {
    await writeRef(cache, REPOSITORY, "main");
    return linkIntoSnapshot(cache, REPOSITORY, "model.gguf", blob);
  };
  const [location = ""] = await Promise.all(Array.from({ length: 40 }, once));
  expect(await readFile(location, "utf8")).toBe("GGUF");
  expect(await readFile(join(root, "refs", "main"), "utf8")).toBe(REPOSITORY.commit);
  expect(await readdir(join(root, "refs"))).toEqual(["main"]);
  expect(await readdir(join(root, "snapshots", REPOSITORY.commit))).toEqual(["model.gguf"]);
});
