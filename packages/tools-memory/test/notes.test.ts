import { mkdir, mkdtemp, realpath, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MemoryFileSystem } from "@shedkit/fs/memory";
import { NodeFileSystem } from "@shedkit/fs/node";
import { callTool } from "@shedkit/tool";
import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { fileNotes, memoryGetTool, memorySearchTool, noteTools } from "../src/index.js";
import { chunksOf, scores } from "../src/rank.js";

const FILES = {
  "notes/deploy.md": "# Deploying\n\nAlways from the release branch.\n\n# Rolling back\r\n\r\nAsk Ada first.\r\n",
  "notes/taste.txt": "Likes tea, no coffee.",
  "notes/.hidden.md": "release secret",
  "notes/picture.png": "release",
  "other/secret.md": "release password",
};

const memoryNotes = () => fileNotes(new MemoryFileSystem(FILES), { folder: "notes" });
const search = async (args: object, notes = memoryNotes()) => callTool(memorySearchTool(notes), args);
const get = async (args: object, notes = memoryNotes()) => callTool(memoryGetTool(notes), args);

describe("memory_search", () => {
  it("finds parts of notes, best first, with their lines", async () => {
    const { text, output } = await search({ query: "release branches" });
    expect(text).toMatch(/^deploy\.md:1-4 \(0\.\d\d\)\n# Deploying/);
    expect(output).toMatchObject({ hits: [{ path: "deploy.md", from: 1, to: 4 }] });
    expect((await search({ query: "rolling back" })).text).toMatch(/^deploy\.md:5-8 [\s\S]*Ask Ada first\.$/);
  });

  it("leaves out what fits too little, is too much, hidden, no text, or elsewhere", async () => {
    expect((await search({ query: "secret password" })).text).toContain("Nothing was noted about that");
    expect((await search({ query: "tea and rolling", min_score: 0.9 })).text).toContain("Nothing was noted");
    expect((await search({ query: "tea ask", max_results: 1 })).output).toMatchObject({ hits: [{}] });
  });

  it("finds words in scripts that write no spaces, and words with marks", async () => {
    const notes = fileNotes(
      new MemoryFileSystem({ "zh.md": "我们的部署流程：先测试再发布", "ja.md": "猫が好き", "hi.md": "नमस्ते दुनिया" }),
    );
    const paths = async (query: string) =>
      ((await search({ query }, notes)).output as { hits: { path: string }[] }).hits.map(({ path }) => path);
    expect(await paths("部署")).toEqual(["zh.md"]);
    expect(await paths("怎么部署")).toEqual(["zh.md"]);
    expect(await paths("猫")).toEqual(["ja.md"]);
    expect(await paths("नमस्ते")).toEqual(["hi.md"]);
    expect(await paths("犬")).toEqual([]);
  });

  it("shows the beginning of a part whose line is too long, and finds what a long note begins with", async () => {
    const long = `release ${"x".repeat(300_000)}`;
    const huge = `start\n${"noise ä\n".repeat(200_000)}`;
    const notes = fileNotes(new MemoryFileSystem({ "long.md": long, "huge.md": huge }));
    const { text } = await search({ query: "release" }, notes);
    expect(text.length).toBeLessThan(4100);
    expect(text).toMatch(/x \[\.\.\. cut\]$/);
    expect((await search({ query: "start" }, notes)).text).toContain("huge.md:1-");
    const got = await get({ path: "huge.md", lines: 1 }, notes);
    expect(got.text).toMatch(/^start\n\[Lines 1 to 1 of \d+\./);
    expect(JSON.stringify((await get({ path: "huge.md", from: 116_000, lines: 1000 }, notes)).output)).not.toContain(
      "\ufffd",
    );
  });

  it("says how old an old note is", async () => {
    const { fs, root } = await realNotes();
    const old = new Date("2030-01-01T00:00:00Z");
    await utimes(join(root, "notes/deploy.md"), old, old);
    const now = () => Date.parse("2030-03-02T12:00:00Z");
    const tool = memorySearchTool(fileNotes(fs, { folder: "notes" }), {}, now);
    expect((await callTool(tool, { query: "release" })).text).toContain(
      "written 60 days ago: check that it still holds",
    );
  });

  it("says so where there is no memory, or nothing is asked", async () => {
    const [searching, getting] = noteTools(undefined);
    for (const [tool, args] of [
      [searching, { query: "x" }],
      [getting, { path: "y" }],
    ] as const) {
      expect(tool && (await callTool(tool, args)).text).toContain("not enabled");
    }
    expect((await search({ query: " " })).text).toBe("query is empty.");
    expect((await search({ query: "x" }, fileNotes(new MemoryFileSystem(), { folder: "none" }))).text).toContain(
      "Nothing",
    );
    expect((await search({ query: "?!" })).text).toContain("Nothing");
  });
});

describe("memory_get", () => {
  it("reads a note, or lines of it, and says how to go on", async () => {
    expect((await get({ path: "deploy.md", from: 0, lines: 3 })).text).toBe(
      "# Deploying\n\nAlways from the release branch.\n[Lines 1 to 3 of 7. Go on with from 4.]",
    );
    expect((await get({ path: " deploy.md ", from: 5 })).text).toBe("# Rolling back\n\nAsk Ada first.");
    expect((await get({ path: "deploy.md", from: 8 })).text).toContain("has 7 lines; from 8 is behind its end");
  });

  it.each([
    ...["none.md", "../other/secret.md", "/etc/passwd", "a\0b.md", "picture.png", `${"x".repeat(300)}.md`, "."],
    ...[".hidden.md", "./.hidden.md", "x/../.hidden.md"],
  ])("has no note %j", async (path) => {
    expect((await get({ path })).errorDetail).toContain("no note");
  });

  it("follows no link out of its folder, to files or folders", async () => {
    const { fs, root } = await realNotes();
    await symlink("../other/secret.md", join(root, "notes/link.md"));
    await symlink("../other", join(root, "notes/folder"));
    await symlink("/etc", join(root, "notes/etc"));
    const notes = fileNotes(fs, { folder: "notes" });
    for (const path of ["link.md", "folder/secret.md", "etc/passwd"]) {
      expect((await get({ path }, notes)).errorDetail).toContain("no note");
    }
    expect((await search({ query: "password" }, notes)).text).toContain("Nothing");
  });

  it("gives up when the call is cancelled", async () => {
    const cancel = new AbortController();
    cancel.abort();
    const { fs } = await realNotes();
    const tool = memorySearchTool(fileNotes(fs, { folder: "notes" }));
    await expect(callTool(tool, { query: "x" }, { signal: cancel.signal })).rejects.toMatchObject({
      kind: "cancelled",
    });
  });
});

describe("ranking", () => {
  it("keeps every line of a note that is not blank in one part", () => {
    const line = fc.oneof(fc.constantFrom("", "# a", "## b", "text"), fc.string({ maxLength: 3000 }));
    fc.assert(
      fc.property(fc.array(line, { maxLength: 120 }), (lines) => {
        const note = lines.map((one) => one.replace(/[\r\n]/g, " ")).join("\n");
        const chunks = chunksOf(note);
        const all = note.split("\n");
        const covered = chunks.flatMap(({ from, to }) => all.slice(from - 1, to));
        expect(covered.filter((one) => one.trim() !== "")).toEqual(all.filter((one) => one.trim() !== ""));
      }),
    );
  });

  it("stays between 0 and 1", () => {
    fc.assert(
      fc.property(fc.string(), fc.array(fc.string()), (query, texts) => {
        const fits = scores(query, texts);
        expect(fits).toHaveLength(texts.length);
        expect(fits.every((fit) => fit >= 0 && fit <= 1)).toBe(true);
      }),
    );
  });
});

async function realNotes(): Promise<{ fs: NodeFileSystem; root: string }> {
  const root = await realpath(await mkdtemp(join(tmpdir(), "shedkit-notes-")));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  for (const [path, text] of Object.entries(FILES)) {
    await mkdir(join(root, path, ".."), { recursive: true });
    await writeFile(join(root, path), text);
  }
  return { fs: new NodeFileSystem(root), root };
}
