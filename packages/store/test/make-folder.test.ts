import { existsSync } from "node:fs";
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { makeFolder } from "../src/node.js";

async function tempFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "shedkit-store-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

it("makes a folder with all above it, once or twice, or two at the same time", async () => {
  const path = join(await tempFolder(), "a", "b", "c");
  await Promise.all([makeFolder(path), makeFolder(path), makeFolder(join(path, "d"))]);
  await makeFolder(path);
  expect((await stat(join(path, "d"))).isDirectory()).toBe(true);
});

it("says so where a file is in the way", async () => {
  const file = join(await tempFolder(), "file");
  await writeFile(file, "");
  await expect(makeFolder(file)).rejects.toMatchObject({ code: "EEXIST" });
  await expect(makeFolder(join(file, "a", "b"))).rejects.toMatchObject({ code: "ENOTDIR" });
});

it.skipIf(!existsSync("/proc/self"))("ends where there can be no folder", async () => {
  await expect(makeFolder("/proc/shedkit/a/b")).rejects.toMatchObject({ code: "ENOENT" });
});
