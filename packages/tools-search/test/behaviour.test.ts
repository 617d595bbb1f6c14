import { spawnSync } from "node:child_process";
import { mkdtemp, readdir, readlink, realpath, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MemoryFileSystem } from "@shedkit/fs/memory";
import { NodeFileSystem } from "@shedkit/fs/node";
import { callTool, type ToolImpl } from "@shedkit/tool";
import { rgPath } from "@vscode/ripgrep";
import { describe, expect, it, onTestFinished } from "vitest";
import { FILE_TYPES, fileTypeOf } from "../src/file-types.js";
import { type FileFinder, globTool, searchFileTool } from "../src/index.js";
import { ripgrep } from "../src/node.js";
import { type Files, memoryFs, realFs, said } from "./helpers.js";

const MKFIFO = "mkfifo"; // POSIX

const failure = async (tool: ToolImpl, args: object): Promise<string> => {
  const result = await callTool(tool, args);
  if (result.errorDetail === undefined) throw new Error(`did not fail: ${result.text}`);
  return result.text;
};

const progressOf = async (tool: ToolImpl, args: object): Promise<{ pieces: string[]; text: string }> => {
  const pieces: string[] = [];
  const { text } = await callTool(tool, args, { onProgress: (progress) => pieces.push(progress.text ?? "") });
  return { pieces, text };
};

describe("search_file", () => {
  it.each<[files: Files, args: object, expected: string]>([
    [{ a: "x" }, { query: "y" }, "No line matches."],
    [{ "d/a": "x\nyes\n" }, { query: "y" }, "1 matching line in 1 file\n\nd/a\n2:yes"],
    [{ a: "x\r\ny\r\n" }, { query: "y$" }, "1 matching line in 1 file\n\na\n2:y"],
    [{ a: "A" }, { query: "a", ignore_case: "true" }, "1 matching line in 1 file\n\na\n1:A"],
    [{ a: "A" }, { query: "a", ignore_case: null }, "No line matches."],
    [{ a: "1\n2\n3\n4\n5" }, { query: "3", context: 1 }, "1 matching line in 1 file\n\na\n2-2\n3:3\n4-4"],
    [{ "a/f": "x", "b/f": "x" }, { query: "x", paths: ['"b"'] }, "1 matching line in 1 file\n\nb/f\n1:x"],
    [{ "a/f": "x" }, { query: "x", paths: ["", " "] }, "1 matching line in 1 file\n\na/f\n1:x"],
    [{ "a\n9:b": "x" }, { query: "x" }, '1 matching line in 1 file\n\n"a\\n9:b"\n1:x'],
    [
      { a: "f(x)" },
      { query: "f(x)" },
      "No line matches. Put a backslash before a ( or ) that stands in the text: it is a sign of the expression.",
    ],
    ...["x\ny", "x\\s*\\ny"].map((query): [Files, object, string] => [
      { a: "x\ny" },
      { query },
      "No line matches. It is looked for line by line. Set multiline to true for a match that goes over several.",
    ]),
    [{ a: "x\ny" }, { query: "x\\\\ny" }, "No line matches."],
    [{ a: "x\ny" }, { query: "z\nq", kind: "MultiGrep" }, "No line matches."],
    [
      { "d/a.ts": "x", "b.ts": "x" },
      { query: "x", glob: "/workspace/d/*" },
      "1 matching line in 1 file\n\nd/a.ts\n1:x",
    ],
    [{ a: "x" }, { query: "x", paths: ["*.ts"] }, '"*.ts" is no file or folder. Give a pattern as glob.'],
    [{ a: "x" }, { query: "a", kind: "Find" }, "a"],
    [{ a: "x" }, { query: "zz", kind: "find" }, "No file was found."],
    [
      { "a/f": "x\nno\nx", b: "x", c: "y" },
      { query: "x", output_mode: "files_with_matches", context: 3 },
      "2 files with matching lines\n\na/f\nb",
    ],
    [
      { "a/f": "x\nno\nxx", b: "x", c: "y" },
      { query: "x", output_mode: "count" },
      "3 matching lines in 2 files\n\na/f:2\nb:1",
    ],
    [{ a: "x\ny\nx\n" }, { query: "x\ny", multiline: true, output_mode: "count" }, "2 matching lines in 1 file\n\na:2"],
    [{ "a\nb": "x" }, { query: "x", output_mode: "count" }, '1 matching line in 1 file\n\n"a\\nb":1'],
    [{ a: "x" }, { query: "y", output_mode: "count" }, "No line matches."],
    [{ a: "x" }, { query: "a", kind: "Find", output_mode: "count" }, "a"],
    [{ "a.ts": "x", "b.js": "x" }, { query: "x", type: "ts" }, "1 matching line in 1 file\n\na.ts\n1:x"],
    [{ "a.ts/b": "x", "b.ts": "x" }, { query: "b", kind: "find", type: "ts" }, "b.ts"],
    [{ "a.ts": "x", "a.js": "x" }, { query: "a", kind: "find", type: "typescript", glob: "*" }, "a.ts"],
    [{ "a.js": "x" }, { query: "x", paths: ["a.js"], type: "ts" }, "1 matching line in 1 file\n\na.js\n1:x"],
  ])("in %j for %j: %j", async (files, args, expected) => {
    expect(await said(searchFileTool(memoryFs(files)), args)).toBe(expected);
  });

  it.each([
    [3, 3, false],
    [3, 4, true],
    [undefined, 200, false],
    [undefined, 201, true],
    [99_999, 2000, false],
    [99_999, 2001, true],
  ])("with the limit %j of %j lines: is truncated: %j", async (limit, n, truncated) => {
    const tool = searchFileTool(memoryFs({ f: "x\n".repeat(n) }));
    const args = { query: "x", ...(limit === undefined ? {} : { limit }) };
    const output = await tool.call(args);
    expect(output.truncated).toBe(truncated);
    expect(output.matches).toHaveLength(Math.min(n, limit === undefined ? 200 : Math.min(limit, 2000)));
    expect((await said(tool, args)).includes("not shown")).toBe(truncated);
  });

  it.each([
    ["files_with_matches", 500, undefined, 500, false],
    ["files_with_matches", 501, undefined, 500, true],
    ["count", 501, undefined, 500, true],
    ["count", 501, 501, 501, false],
    ["files_with_matches", 10_001, 99_999, 10_000, true],
    ["count", 10_001, 99_999, 10_000, true],
  ])(
    "with %j of %j files and the limit %j: shows %j, truncated: %j",
    async (output_mode, n, limit, shown, truncated) => {
      const tool = searchFileTool(memoryFs(Object.fromEntries(Array.from({ length: n }, (_, i) => [`f${i}`, "x\nx"]))));
      const args = { query: "x", output_mode, ...(limit === undefined ? {} : { limit }) };
      const result = await callTool(tool, args);
      const { matches } = result.output as { matches: object[] };
      expect(matches).toHaveLength(shown);
      expect(matches[0]).toEqual(output_mode === "count" ? { path: "f0", count: 2 } : { path: "f0" });
      expect(result.output).toMatchObject({ truncated });
      const raise = (limit ?? 0) < 10_000 ? ", or raise limit" : "";
      expect(result.text.endsWith(`[1 more file not shown. Narrow it with paths or glob${raise}.]`)).toBe(truncated);
    },
  );

  it("says that it did not count all, where it did not", async () => {
    const text = await said(searchFileTool(memoryFs({ f: "x\n".repeat(20_000) })), { query: "x" });
    expect(text).toContain("[at least 10,000 more matching lines in 1 file not shown.");
  });

  it("takes a bad expression for an error that tells it, a missing path for a failure, one outside for neither", async () => {
    const tool = searchFileTool(memoryFs({ f: "" }));
    await expect(callTool(tool, { query: "a(" })).rejects.toMatchObject({
      kind: "invalidArguments",
      message: expect.stringContaining("query is no regular expression"),
    });
    expect(await failure(tool, { query: "a", paths: ["none"] })).toMatch(
      /^There is no file or folder "none" to search/,
    );
    await expect(callTool(tool, { query: "a", paths: ["../x"] })).rejects.toMatchObject({ kind: "permissionDenied" });
  });

  it("knows kinds of files by the names that ripgrep has for them, and refuses others", async () => {
    const list = spawnSync(rgPath, ["--type-list"], { encoding: "utf8" }).stdout.trim().split("\n");
    expect(FILE_TYPES.filter((type) => !list.some((line) => line.startsWith(`${type}: `)))).toEqual(["javascript"]);
    for (const [type, path, fits] of [
      ["ts", "a/b.MTS", true],
      ["ts", "b.ts.txt", false],
      ["make", "lib/Makefile", true],
      ["make", "makefile", true],
      ["sh", ".bashrc", true],
      ["docker", "app.dockerfile", true],
      ["python", "x.pyi", true],
      ["py", "py", false],
    ] as const) {
      expect([type, path, fileTypeOf(type)?.(path)]).toEqual([type, path, fits]);
    }
    const unknown = callTool(searchFileTool(memoryFs({ a: "x" })), { query: "x", type: "tsx" });
    await expect(unknown).rejects.toMatchObject({ kind: "invalidArguments" });
    await expect(unknown).rejects.toThrow(
      /^.*type "tsx" is not known\. Known are: .*\bts, .*give glob, e\.g\. \*\.ext\.$/s,
    );
    for (const type of ["constructor", "__proto__", "*.ts", ".ts"]) {
      await expect(callTool(searchFileTool(memoryFs({ a: "x" })), { query: "x", type })).rejects.toThrow(
        "is not known",
      );
    }
  });

  it("has plain flags in its schema", () => {
    const { definition } = searchFileTool(memoryFs({})).definition() as {
      definition: { arguments: { properties: { ignore_case: object } } };
    };
    expect(JSON.stringify(definition.arguments.properties.ignore_case)).toBe('{"default":false,"type":"boolean"}');
  });

  it("passes on what it finds as progress where it is to: in all what it shows of it; else nothing", async () => {
    const files = Object.fromEntries(
      Array.from({ length: 30 }, (_, i) => [`f${i}`, i === 7 ? "𝒳x".repeat(40_000) : "x\r\nb\nx".repeat(i + 1)]),
    );
    const tallies = [{ output_mode: "files_with_matches" }, { output_mode: "count", limit: 7 }];
    for (const args of [{}, { limit: 40 }, { context: 1 }, { kind: "MultiGrep" }, { multiline: true }, ...tallies]) {
      const tool = searchFileTool(memoryFs(files), { stream: true });
      const { pieces, text } = await progressOf(tool, { query: "x", ...args });
      const body = text.slice(text.indexOf("\n\n") + 2).replace(/\n\n\[[^\n]*\]$/, "");
      expect(pieces.join("")).toBe(body);
      expect(pieces.every((piece) => piece.length <= 16 * 1024)).toBe(true);
    }
    expect((await progressOf(searchFileTool(memoryFs(files)), { query: "x" })).pieces).toEqual([]);
    const quiet = searchFileTool(memoryFs(files), { stream: true });
    expect(await progressOf(quiet, { query: "zzz" })).toEqual({ pieces: [], text: "No line matches." });
  });

  it("stops at its time, also while files are listed for it, with what it has", async () => {
    const never: FileFinder = {
      files: ({ signal }) =>
        new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true })),
    };
    for (const kind of ["Grep", "Find"]) {
      const tool = searchFileTool(memoryFs({ f: "x" }), { finder: never, timeoutMs: 50 });
      expect(await said(tool, { query: "x", kind, paths: ["."] })).toContain("[The search was stopped after 0.05 s");
    }
    expect(await said(globTool(memoryFs({ f: "x" }), { finder: never, timeoutMs: 50 }), { pattern: "*" })).toContain(
      "[It was stopped after 0.05 s",
    );
  });

  it.skipIf(process.platform !== "linux")("ends the program that lists files for it when it is cancelled", async () => {
    const root = await realpath(await mkdtemp(join(tmpdir(), "shedkit-search-")));
    onTestFinished(() => rm(root, { recursive: true, force: true }));
    // A pipe that nobody writes to, named as a file to look into: it waits.
    spawnSync(MKFIFO, [join(root, "pipe")]);
    const finder = await ripgrep(root);
    const controller = new AbortController();
    const call = finder?.files({
      ...{ folder: "pipe", texts: ["x"], ignoreCase: false, hidden: false },
      signal: controller.signal,
    });
    const running = async () => {
      for (const name of await readdir("/proc")) {
        const where = await readlink(`/proc/${name}/cwd`).catch(() => "");
        if (where === root) return true;
      }
      return false;
    };
    while (!(await running())) await new Promise((resolve) => setTimeout(resolve, 5));
    controller.abort(new Error("stop"));
    await expect(call).rejects.toThrow("stop");
    while (await running()) await new Promise((resolve) => setTimeout(resolve, 5));
  });
});

describe("glob", () => {
  it.each<[files: Files, args: object, expected: string]>([
    [{ "a.ts": "", "d/b.ts": "", c: "" }, { pattern: "*.ts" }, "a.ts\nd/b.ts"],
    [{ "a.ts": "", "d/b.ts": "" }, { pattern: "d/*.ts" }, "d/b.ts"],
    [{ "a.ts": "", "d/e/b.js": "" }, { pattern: "**/*.{ts,js}" }, "a.ts\nd/e/b.js"],
    [{ "a.ts": "", "d/b.ts": "" }, { pattern: "*.ts", path: "d" }, "d/b.ts"],
    [{ "d/b.ts": "", "d/e/b.ts": "" }, { pattern: "e/*.ts", path: "d/" }, "d/e/b.ts"],
    [{ "a.ts": "" }, { pattern: "/workspace/*.ts" }, "a.ts"],
    [{ ".hidden": "", ".git/x": "", ".gitignore": "out\n", out: "" }, { pattern: "*" }, ".gitignore\n.hidden"],
    [{ "node_modules/a.ts": "", "b.ts": "" }, { pattern: "*.ts" }, "b.ts"],
    [{ a: "" }, { pattern: "*.ts" }, 'No file fits "*.ts".'],
    [{ "[a].ts": "", "a.ts": "" }, { pattern: "\\[a].ts" }, "[a].ts"],
  ])("of %j with %j: %j", async (files, args, expected) => {
    expect(await said(globTool(new MemoryFileSystem(files, { now: () => 0 })), args)).toBe(expected);
    const fs = await realFs(files);
    for (const path of Object.keys(files)) await utimes(join(fs.root, path), 1, 1);
    const finder = await ripgrep(fs.root);
    const own = JSON.parse(JSON.stringify(args).replace("/workspace", fs.root)) as object;
    expect(await said(globTool(fs), own)).toBe(expected);
    expect(await said(globTool(fs, finder ? { finder } : {}), own)).toBe(expected);
  });

  it("has the newest first, wherever a walk comes to it, and says how many it leaves out", async () => {
    let now = 0;
    const files = Object.fromEntries(Array.from({ length: 250 }, (_, i) => [`f${String(i).padStart(3, "0")}.ts`, ""]));
    const fs = new MemoryFileSystem(files, { now: () => now });
    now = 1;
    await fs.writeFile("f249.ts", "new");
    const output = await globTool(fs).call({ pattern: "*.ts" });
    expect(output.paths).toHaveLength(100);
    expect(output.paths[0]).toBe("f249.ts");
    expect(output.truncated).toBe(true);
    expect(await said(globTool(fs), { pattern: "*.ts" })).toMatch(/\n\n\[150 more files not shown\. /);
    expect((await globTool(fs, { limit: 250 }).call({ pattern: "*.ts" })).truncated).toBe(false);
  });

  it.each([
    [{ pattern: " " }, /pattern is empty/],
    [{ pattern: "*", path: "none" }, /There is no file or folder "none" to search/],
    [{ pattern: "*", path: "f" }, /"f" is a file\. Give the folder to look in as path\./],
  ])("refuses %j", async (args, says) => expect(await failure(globTool(memoryFs({ f: "" })), args)).toMatch(says));

  it("looks at nothing outside, and follows no links", async () => {
    const fs = await realFs({ "d/f": "" });
    await symlink("/etc", join(fs.root, "etc"));
    await symlink("..", join(fs.root, "d/up"));
    expect(await globTool(fs).call({ pattern: "**" })).toEqual({ paths: ["d/f"], truncated: false });
    await expect(callTool(globTool(fs), { pattern: "*", path: "etc" })).rejects.toMatchObject({
      kind: "permissionDenied",
    });
    await expect(callTool(globTool(fs), { pattern: "*", path: "../.." })).rejects.toMatchObject({
      kind: "permissionDenied",
    });
    expect(await said(globTool(fs), { pattern: "../../etc/*" })).toBe('No file fits "../../etc/*".');
  });

  it("is not lost to folders that cannot be read", async () => {
    const fs = memoryFs({ "a/f": "", "b/f": "" });
    const { readdir: list } = fs;
    fs.readdir = async (path, options) => (path === "a" ? fs.readdir("none", options) : list.call(fs, path, options));
    expect(await said(globTool(fs), { pattern: "f" })).toBe("b/f");
  });
});

describe("paths that the file system denies", () => {
  const files: Files = {
    ".env": "needle",
    "a/.env": "needle",
    "a/.envrc": "needle",
    "keys/k": "needle",
    "akeys/k": "needle",
  };
  it.each([
    ["in memory", async () => ({ fs: new MemoryFileSystem(files, { deny: [".env", "keys/"] }), finder: undefined })],
    [
      "on the disk, with ripgrep",
      async () => {
        const { root } = await realFs(files);
        await writeFile(join(root, "a/.ENV"), "needle");
        return { fs: new NodeFileSystem(root, { deny: [".env", "keys/"] }), finder: await ripgrep(root) };
      },
    ],
  ])("are not found %s, by their lines, their names or a glob, from a folder below either", async (_, make) => {
    const { fs, finder } = await make();
    const options = finder ? { finder } : {};
    const expected = ["a/.envrc", "akeys/k"];
    const search = searchFileTool(fs, options);
    const paths = ({ matches }: { matches: { path: string }[] }) => matches.map(({ path }) => path).sort();
    expect(paths(await search.call({ query: "needle", hidden: true }))).toEqual(expected);
    expect(paths(await search.call({ query: "needle", hidden: true, glob: "**" }))).toEqual(expected);
    expect(paths(await search.call({ query: "*", kind: "Find", hidden: true }))).toEqual(expected);
    expect(paths(await search.call({ query: "needle", hidden: true, paths: ["a"] }))).toEqual(["a/.envrc"]);
    expect((await globTool(fs, options).call({ pattern: "**" })).paths.sort()).toEqual(expected);
    await expect(callTool(search, { query: "needle", paths: ["keys"] })).rejects.toMatchObject({
      kind: "permissionDenied",
    });
  });
});
