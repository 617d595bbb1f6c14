import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { realPathOf } from "../src/node.js";

let folder = "";

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "shedkit-real-path-")));
  await mkdir(join(folder, "a/hooks"), { recursive: true });
  await mkdir(join(folder, "b"));
  await writeFile(join(folder, "b/file"), "");
  await symlink("../a/hooks", join(folder, "b/link"));
  await symlink("../a/hooks/new", join(folder, "b/to-nothing"));
  await symlink("link/../other/../x", join(folder, "b/past-nothing"));
  await symlink("circle", join(folder, "b/circle"));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

describe("realPathOf", () => {
  it.each([
    ["b/file", "b/file"],
    ["b/new/deep", "b/new/deep"],
    ["b/link", "a/hooks"],
    ["b/link/new", "a/hooks/new"],
    ["b/link/../new", "a/new"],
    ["b/to-nothing", "a/hooks/new"],
    ["b/to-nothing/deep", "a/hooks/new/deep"],
    ["b/file/**", "b/file/**"],
  ])("follows the links of %s", async (path, expected) => {
    expect(await realPathOf(`${folder}/${path}`)).toBe(join(folder, expected));
  });

  it.each(["b/circle", "b/circle/new", "b/past-nothing", "b/none/../x"])("cannot tell where %s leads", async (path) => {
    await expect(realPathOf(`${folder}/${path}`)).rejects.toMatchObject({ code: expect.stringMatching(/^E/) });
  });

  it("knows the root of the disk", async () => expect(await realPathOf("/")).toBe("/"));
});
