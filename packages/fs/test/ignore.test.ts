import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { IgnoreRules } from "../src/index.js";

const PATHS = [
  "a",
  "b.ts",
  "ab",
  "build/",
  "build/x",
  "src/",
  "src/a",
  "src/b.ts",
  "src/build/",
  "src/build/a",
  "src/deep/",
  "src/deep/er/",
  "src/deep/er/a",
  "src/deep/er/b.ts",
  "#c",
  "!d",
  "e f",
  "g ",
  "[x]",
  "a-b",
  "é.md",
  "🌍.md",
  "A",
  "z9",
  "a\\b",
];

const FILES = PATHS.filter((path) => !path.endsWith("/"));

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "shedkit-ignore-"));
  execFileSync("git", ["init", "-q", folder]);
  for (const path of PATHS) {
    if (path.endsWith("/")) await mkdir(join(folder, path), { recursive: true });
    else {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), "");
    }
  }
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** The files that git ignores, those in ignored folders too. */
async function byGit(text: string): Promise<string[]> {
  await writeFile(join(folder, ".gitignore"), text);
  try {
    const input = FILES.join("\0");
    const args = [
      "-c",
      "core.excludesFile=",
      "-c",
      "core.ignoreCase=false",
      "check-ignore",
      "--no-index",
      "-z",
      "--stdin",
    ];
    const out = execFileSync("git", args, { cwd: folder, input, encoding: "utf8", stdio: ["pipe", "pipe", "pipe"] });
    return out
      .split("\0")
      .filter((path) => path !== "")
      .sort();
  } catch (error) {
    if ((error as { status?: number }).status === 1) return []; // nothing is ignored
    throw error;
  }
}

function byRules(text: string): string[] {
  const rules = new IgnoreRules(text);
  return FILES.filter((path) => {
    const parts = path.split("/");
    return parts.some((_, i) => rules.test(parts.slice(0, i + 1).join("/"), i < parts.length - 1) === true);
  }).sort();
}

describe("IgnoreRules", () => {
  it("ignores what git ignores", async () => {
    for (const text of [
      "build/",
      "/build",
      "build",
      "src/**",
      "**/build",
      "*a*",
      "*b*t*",
      "s*c/*e*p/*",
      "*.*",
      "*a*b*",
      "*[a-c]*",
      "*a*",
      "*b*t*",
      "s*c/*e*p/*",
      "*.*",
      "*a*b*",
      "*[a-c]*",
      "src/**/a",
      "*.ts",
      "!src/b.ts\n*.ts",
      "*.ts\n!src/b.ts",
      "/*\n!/src",
      "#c",
      "\\#c",
      "\\!d",
      "e f",
      "g \n",
      "g\\ ",
      "\\[x\\]",
      "[[]x]",
      "a[!a-b]b",
      "?",
      "??",
      "[a-c]",
      "[^a-c]",
      "[[:upper:]]",
      "[z-a]",
      "[a",
      "src/*",
      "src/*/a",
      "deep",
      "er/a",
      "/src/deep/er",
      "é*",
      "🌍*",
      "a\\\\b",
      "",
      "*",
      "**",
      "/",
      "//",
      "***",
      "a**",
      "src/",
      "build/\r\nsrc/\r",
      "**/",
      "src/**/",
      "a/**",
      "*/a",
      "z[[:digit:]]",
      "[]x]*",
      "a\\",
      "src//a",
    ]) {
      expect([text, byRules(text)]).toEqual([text, await byGit(text)]);
    }
  });

  it("ignores what git ignores, for any rules", async () => {
    const token = fc.constantFrom(
      "a",
      "b",
      "*",
      "**",
      "/",
      "?",
      "[a-b]",
      "[!a]",
      "src",
      "build",
      "deep",
      ".ts",
      "!",
      "\\",
      " ",
      "\n",
      "-",
    );
    const text = fc.array(token, { minLength: 1, maxLength: 9 }).map((tokens) => tokens.join(""));
    await fc.assert(
      fc.asyncProperty(text, async (rules) => {
        expect(byRules(rules)).toEqual(await byGit(rules));
      }),
      { numRuns: 250 },
    );
  });

  it("is not held up by a pattern of many stars", () => {
    const rules = new IgnoreRules(`${"*a".repeat(40)}*b`);
    expect(rules.test("a".repeat(255), false)).toBeUndefined();
    expect(rules.test(`${"a".repeat(250)}b`, false)).toBe(true);
  });

  it("says nothing of what no rule is about", () => {
    const rules = new IgnoreRules("a\n!b");
    expect([rules.test("a", false), rules.test("b", false), rules.test("c", false)]).toEqual([true, false, undefined]);
  });
});
