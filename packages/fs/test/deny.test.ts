import { link, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { type FileSystem, isFsError } from "../src/index.js";
import { MemoryFileSystem } from "../src/memory.js";
import { NodeFileSystem } from "../src/node.js";
import { OverlayFileSystem } from "../src/overlay.js";

const FILES = {
  ".env": "secret",
  ".envrc": "plain",
  "a/.env": "secret",
  "a/b/key": "secret",
  "a/c": "plain",
  d: "plain",
};
const DENY = [".env", "a/b/"];

async function real(): Promise<FileSystem> {
  const root = await realpath(await mkdtemp(join(tmpdir(), "shedkit-deny-")));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  await mkdir(join(root, "a/b"), { recursive: true });
  for (const [path, text] of Object.entries(FILES)) await writeFile(join(root, path), text);
  await symlink("a/b", join(root, "way"));
  await symlink("../.env", join(root, "a/env"));
  await symlink("a", join(root, "folder"));
  return new NodeFileSystem(root, { deny: DENY });
}

async function memory(): Promise<FileSystem> {
  // Links are made before anything is denied, as on a disk.
  const fs = new MemoryFileSystem(FILES, { deny: DENY });
  await fs.symlink("a", "folder");
  await fs.symlink("a/b", "way");
  await fs.symlink("../.env", "a/env");
  return fs;
}

const reasonOf = async (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "done",
    (error: unknown) => (isFsError(error) ? error.details.reason : String(error)),
  );

describe.each([
  ["on the disk", real],
  ["in memory", memory],
  ["in an overlay", async () => new OverlayFileSystem(await real())],
])("a file system %s with paths that are denied", (_, make) => {
  it.each([
    ".env",
    ".ENV",
    "a/.env",
    "a/../.env",
    "./a//.env",
    "a/b",
    "A/B",
    "a/b/key",
    "way",
    "way/key",
    "a/env",
    "folder/.env",
    "folder/b/key",
  ])("does not reach %j", async (path) => {
    const fs = await make();
    const tries = [
      () => fs.readFile(path),
      () => fs.stat(path),
      () => fs.realpath(path),
      () => fs.readChunks(path)[Symbol.asyncIterator]().next(),
      () => fs.writeFile(path, "x"),
    ];
    for (const one of tries) expect(["permission", "notFound"]).toContain(await reasonOf(one()));
    expect(["permission", "notFound"]).toContain(await reasonOf(fs.readdir(path)));
  });

  it("does not list them, nor take them for what only looks alike", async () => {
    const fs = await make();
    expect((await fs.readdir(".")).map(({ name }) => name).sort()).toEqual([".envrc", "a", "d", "folder", "way"]);
    expect((await fs.readdir("folder")).map(({ name }) => name).sort()).toEqual(["c", "env"]);
    expect(new TextDecoder().decode(await fs.readFile(".envrc"))).toBe("plain");
    expect(await reasonOf(fs.writeFile("b", "x"))).toBe("done");
  });

  it("neither moves nor removes them, with their folders either", async () => {
    const fs = await make();
    for (const work of [
      () => fs.rename(".env", "x"),
      () => fs.rename("d", ".env", { overwrite: true }),
      () => fs.rename("d", "folder/.env", { overwrite: true }),
      () => fs.remove(".env"),
      () => fs.mkdir("a/b/c"),
      () => fs.mkdir("folder/b"),
    ]) {
      expect(await reasonOf(work())).toBe("permission");
    }
    if (fs instanceof OverlayFileSystem) {
      await fs.remove("a", { recursive: true });
      expect(await reasonOf(fs.commit())).toBe("permission");
      fs.drop();
    } else {
      expect(await reasonOf(fs.rename("a", "z"))).toBe("permission");
      expect(await reasonOf(fs.remove("a", { recursive: true }))).toBe("permission");
    }
    expect(new TextDecoder().decode(await fs.readFile("a/c"))).toBe("plain");
  });
});

describe("a file system without such paths", () => {
  it("hides nothing", async () => {
    const fs = new MemoryFileSystem(FILES);
    expect((await fs.readdir(".")).map(({ name }) => name)).toContain(".env");
    expect(await reasonOf(fs.readFile("a/b/key"))).toBe("done");
  });

  it("knows files by their paths alone: another name of one is another file", async () => {
    const fs = await real();
    await link(join(fs.root, "d"), join(fs.root, ".env2"));
    expect(new TextDecoder().decode(await fs.readFile(".env2"))).toBe("plain");
  });
});
