import { link, mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { MemoryFileSystem } from "@shedkit/fs/memory";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BadSkill, readFrontmatter, split } from "../src/frontmatter.js";
import { Skills } from "../src/index.js";
import { folderWith, skill } from "./helpers.js";

const { signal } = new AbortController();
const inMemory = (files: { [path: string]: string }) => {
  const fs = new MemoryFileSystem(files);
  return new Skills([{ name: "project", fs, folder: "skills" }]);
};
const names = async (skills: Skills) => (await skills.list(signal)).skills.map(({ name }) => name);

describe("Skills", () => {
  it("are found in folders below a scope, sorted, the first of a name", async () => {
    const first = new MemoryFileSystem({
      "skills/b/SKILL.md": skill("deploy", "First."),
      "skills/group/a/SKILL.md": skill("a", "A."),
      "skills/b/inner/SKILL.md": skill("inner", "Part of another."),
      "skills/.hidden/SKILL.md": skill("hidden", "No."),
      "skills/1/2/3/4/5/SKILL.md": skill("deep", "Deep."),
      "skills/1/2/3/4/5/6/SKILL.md": skill("deeper", "Too deep."),
    });
    const second = new MemoryFileSystem({
      "SKILL.md": skill("root", "All of it."),
    });
    const third = new MemoryFileSystem({ "x/SKILL.md": skill("deploy", "Second.") });
    const scopes = [
      { name: "project", fs: first, folder: "skills" },
      { name: "none", fs: first, folder: "nothing" },
      { name: "user", fs: third, folder: "." },
      { name: "one", fs: second, folder: "." },
    ];
    const skills = new Skills(scopes);
    expect(await names(skills)).toEqual(["deploy", "a", "deep", "root"]);
    expect((await skills.list(signal)).skills[0]).toMatchObject({ description: "First.", scope: { name: "project" } });
  });

  it("that cannot be used are told apart, and why", async () => {
    const skills = inMemory({
      "skills/good/SKILL.md": skill("good", "Works."),
      "skills/none/SKILL.md": "Just text.",
      "skills/open/SKILL.md": "---\nname: open\n",
      "skills/long/SKILL.md": skill("long", "x", `note: ${"y".repeat(5000)}\n`),
      "skills/name/SKILL.md": skill("../etc", "Bad name."),
      "skills/mute/SKILL.md": "---\nname: mute\n---\n",
      "skills/much/SKILL.md": skill("much", "z".repeat(1025)),
      "skills/wide/SKILL.md": skill("n".repeat(65), "Long name."),
      "skills/bomb/SKILL.md": "---\nname: &a bomb\ndescription: [*a, *a]\n---\n",
    });
    const { skills: found, problems } = await skills.list(signal);
    expect(found.map(({ name }) => name)).toEqual(["bomb", "good"]);
    expect(found[0]?.description).toBe("[*a, *a]"); // nothing is filled in
    const why = Object.fromEntries(problems.map(({ path, message }) => [path.split("/")[1], message]));
    expect(why).toEqual({
      none: "it does not begin with frontmatter",
      open: "its frontmatter does not end within 4096 bytes",
      long: "its frontmatter does not end within 4096 bytes",
      name: 'its name "../etc" is not of letters, digits and hyphens',
      mute: "its frontmatter has no description",
      much: "its description has 1025 characters; 1024 are the most",
      wide: "its name has 65 characters; 64 are the most",
    });
  });

  it("are read anew when they change", async () => {
    const fs = new MemoryFileSystem({ "skills/a/SKILL.md": skill("before", "A.") });
    const skills = new Skills([{ name: "project", fs, folder: "skills" }]);
    expect(await names(skills)).toEqual(["before"]);
    await fs.writeFile("skills/a/SKILL.md", skill("after", "A."));
    expect(await names(skills)).toEqual(["after"]);
  });

  it("give their body and their other files", async () => {
    const skills = inMemory({
      "skills/a/SKILL.md": skill("a", "A.", "", "# How\r\n\r\nSo."),
      "skills/a/scripts/run.sh": "echo",
      "skills/a/data.bin": "a\0b",
      "skills/a/.env": "secret",
    });
    const [a] = (await skills.list(signal)).skills;
    if (!a) throw new Error("not found");
    expect(await skills.body(a, signal)).toBe("# How\r\n\r\nSo.");
    expect(await skills.files(a, signal)).toEqual(["data.bin", "scripts/run.sh"]);
    expect(await skills.file(a, "scripts/run.sh", signal)).toBe("echo");
    await expect(skills.file(a, "data.bin", signal)).rejects.toThrow("is no text");
  });

  it("lead nowhere else: no path, link or linked folder does", async () => {
    const { fs, root } = await folderWith({
      "skills/good/SKILL.md": skill("good", "Works."),
      "skills/good/own.md": "mine",
      "skills/good-too/secret.md": "of another",
      "secret/SKILL.md": skill("stolen", "From elsewhere."),
      "secret/key.md": "key",
      "linked.md": skill("linked", "A file elsewhere."),
    });
    await symlink("../../secret/key.md", join(root, "skills/good/key.md"));
    await symlink("../../secret", join(root, "skills/good/folder"));
    await symlink("own.md", join(root, "skills/good/alias.md"));
    await symlink("/etc", join(root, "skills/good/etc"));
    await symlink("../secret", join(root, "skills/stolen"));
    await mkdir(join(root, "skills/linked"));
    await symlink("../../linked.md", join(root, "skills/linked/SKILL.md"));
    await symlink(".", join(root, "skills/round"));
    const skills = new Skills([{ name: "project", fs, folder: "skills" }]);
    const { skills: found, problems } = await skills.list(signal);
    expect(found.map(({ name }) => name)).toEqual(["good"]);
    expect(problems.map(({ path, message }) => `${path}: ${message}`).sort()).toEqual([
      "skills/linked/SKILL.md: it leads out of its folder",
      "skills/stolen/SKILL.md: it leads out of its folder",
    ]);
    const [good] = found;
    if (!good) throw new Error("not found");
    expect(await skills.file(good, "own.md", signal)).toBe("mine");
    expect(await skills.file(good, "alias.md", signal)).toBe("mine");
    const outside = [
      "key.md",
      "folder/key.md",
      "etc/passwd",
      "../good-too/secret.md",
      "../../secret/key.md",
      "/etc/passwd",
    ];
    for (const path of [...outside, "..", ".", "", "own.md\0", "x".repeat(300), `${root}/secret/key.md`]) {
      await expect(skills.file(good, path, signal), path).rejects.toBeInstanceOf(BadSkill);
    }
    expect(await skills.files(good, signal)).toEqual(["own.md"]);
  });

  it("too large to be read are refused", async () => {
    const { fs, root } = await folderWith({ "a/SKILL.md": skill("a", "A.", "", "x".repeat(300_000)) });
    await writeFile(join(root, "a/big.txt"), "y".repeat(2_000_000));
    await link(join(root, "a/big.txt"), join(root, "a/same.txt"));
    const skills = new Skills([{ name: "project", fs, folder: "." }]);
    const [a] = (await skills.list(signal)).skills;
    if (!a) throw new Error("not found");
    await expect(skills.body(a, signal)).rejects.toThrow("262144 are the most");
    await expect(skills.file(a, "big.txt", signal)).rejects.toThrow("1048576 are the most");
  });

  it("are not looked for when nobody waits", async () => {
    const { fs } = await folderWith({ "a/SKILL.md": skill("a", "A.") });
    await expect(new Skills([{ name: "x", fs, folder: "." }]).list(AbortSignal.abort())).rejects.toThrow();
  });
});

describe("the head of a skill", () => {
  const head = (text: string) => readFrontmatter(text);

  it("says whether the model finds it, and whether people are offered it", () => {
    const of = (more: string) => readFrontmatter(`name: a\ndescription: A.\n${more}`);
    expect(of("")).toMatchObject({ forModel: true, forUser: true });
    expect(of("disable-model-invocation: true")).toMatchObject({ forModel: false, forUser: true });
    expect(of("user-invocable: false")).toMatchObject({ forModel: true, forUser: false });
    for (const yes of ['"true"', "yes", "on", "True", "'YES'", "1"])
      expect(of(`disable-model-invocation: ${yes}`).forModel).toBe(false);
    for (const no of ['"false"', "no", "off", "0"]) expect(of(`user-invocable: ${no}`).forUser).toBe(false);
    expect(of("disable-model-invocation: perhaps")).toMatchObject({ forModel: true });
  });

  it("is YAML, also as people write it", () => {
    expect(head("name: a\ndescription: Use when: a file is broken\npaths: '*.ts, docs/**'\n")).toMatchObject({
      description: "Use when: a file is broken",
      paths: ["*.ts", "docs/**"],
    });
    expect(head("name: a\ndescription: >\n  Over\n  lines.\nallowed-tools:\n  - read\n  - 3\n")).toMatchObject({
      description: "Over lines.",
      allowedTools: ["read"],
      forModel: true,
    });
    expect(head("name: a\ndescription: b: c\ndisable-model-invocation: true").forModel).toBe(false);
    expect(() => head("- a\n- b")).toThrow("no YAML");
  });

  it.each([
    ["'it's for tests'", "it's for tests"],
    ['"unclosed', '"unclosed'],
    ["[WIP] do a thing", "[WIP] do a thing"],
    ["{draft} and more", "{draft} and more"],
    ["*bold* words", "*bold* words"],
    ["@team: does it", "@team: does it"],
    ["`npm test` runs", "`npm test` runs"],
    ["% of it", "% of it"],
    ["one: and\n  two: more\n\n  three", "one: and two: more three"],
    ["first\ndescription: second", "first"],
    ["fine\nmetadata: {a: [}", "fine"],
    ["fine\r\nlicense: MIT: or not\r\n", "fine"],
  ])("is read where one of its entries is no YAML: %j", (description, expected) => {
    const found = head(`# by hand\nname: a\ndescription: ${description}\npaths: '*.ts'\nallowed-tools:\n- read\n`);
    expect(found).toMatchObject({ name: "a", description: expected, paths: ["*.ts"], allowedTools: ["read"] });
  });

  it("is what stands between its lines, whatever these end with", () => {
    expect(split("\ufeff---\r\nname: a\r\n---\r\nBody")).toEqual({ head: "name: a", body: "Body" });
    expect(split("---\n---\n")).toEqual({ head: "", body: "" });
    expect(split("---\nname: a\n---")).toEqual({ head: "name: a", body: "" });
    expect(split(" ---\n---")).toBeUndefined();
  });

  it("that is anything is read or refused, and never fails otherwise", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: "binary" }),
          fc.string().map((s) => `name: a\ndescription: ${s}`),
        ),
        (text) => {
          try {
            const { name, description } = readFrontmatter(text);
            expect(name.length).toBeLessThanOrEqual(64);
            expect(description.length).toBeLessThanOrEqual(1024);
          } catch (error) {
            expect(error).toBeInstanceOf(BadSkill);
          }
        },
      ),
    );
  });
});
