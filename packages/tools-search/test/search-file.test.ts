import { symlink, utimes } from "node:fs/promises";
import { join } from "node:path";
import { callTool } from "@shedkit/tool";
import { describe, expect, it } from "vitest";
import { globTool, searchFileTool } from "../src/index.js";
import { ripgrep } from "../src/node.js";
import { type Files, memoryFs, realFs, said } from "./helpers.js";

const FILES: Files = {
  "src/a.ts": "import x\nconst one = 1;\nlast",
  "src/b.ts": "const two = 2;\r\nconst ONE = 1;\r\n",
  "src/deep/c.md": "one and one\n",
  ".hidden/d": "one\n",
  "node_modules/p/e.js": "one\n",
  ".git/f": "one\n",
  ".gitignore": "ignored/\n*.log\n!keep.log\n",
  "ignored/g": "one\n",
  "x.log": "one\n",
  "keep.log": "one\n",
  "sub/.ignore": "h\n",
  "sub/h": "one\n",
  "sub/i": "one\n",
  "bin/j": new Uint8Array([0x6f, 0x6e, 0x65, 0, 1]),
  "utf16.txt": new Uint8Array([0xff, 0xfe, ...Buffer.from("one é", "utf16le")]),
};

/** Every way to search gives the same. */
const ways = {
  "in memory": async (files: Files) => searchFileTool(memoryFs(files)),
  "in a real folder": async (files: Files) => searchFileTool(await realFs(files)),
  "with ripgrep": async (files: Files) => {
    const fs = await realFs(files);
    return searchFileTool(fs, { finder: await ripgrep(fs.root) });
  },
};

describe.each(Object.entries(ways))("search_file %s", (_way, make) => {
  it("shows matching lines by file, in the order of names, without what is ignored or hidden", async () => {
    const tool = await make(FILES);
    expect(await said(tool, { query: "one" })).toBe(
      "5 matching lines in 5 files\n\nkeep.log\n1:one\n\nsrc/a.ts\n2:const one = 1;\n\nsrc/deep/c.md\n1:one and one\n\n" +
        "sub/i\n1:one\n\nutf16.txt\n1:one é",
    );
  });

  it("looks at hidden names when asked, never into .git", async () => {
    const text = await said(await make(FILES), { query: "^one$", hidden: true });
    expect(text).toMatch(/^3 matching lines in 3 files\n\n\.hidden\/d\n/);
  });

  it("takes what is named, though it would be passed over", async () => {
    const tool = await make(FILES);
    expect(await said(tool, { query: "one", paths: ["ignored", "x.log", "node_modules/p"] })).toBe(
      "3 matching lines in 3 files\n\nx.log\n1:one\n\nignored/g\n1:one\n\nnode_modules/p/e.js\n1:one",
    );
    expect(await said(tool, { query: "one", paths: ["src", "src/deep", "src/a.ts"] })).toMatch(
      /^2 matching lines in 2/,
    );
  });

  it("finds without regard to case", async () => {
    const text = await said(await make(FILES), { query: "const one", ignore_case: true, glob: "*.ts" });
    expect(text).toBe("2 matching lines in 2 files\n\nsrc/a.ts\n2:const one = 1;\n\nsrc/b.ts\n2:const ONE = 1;");
  });

  it("finds lines with one of several expressions", async () => {
    const tool = await make(FILES);
    for (const kind of ["MultiGrep", "multi_grep"]) {
      expect(await said(tool, { query: "two\nla[s]t\n", kind })).toBe(
        "2 matching lines in 2 files\n\nsrc/a.ts\n3:last\n\nsrc/b.ts\n1:const two = 2;",
      );
    }
  });

  it("finds what goes over several lines", async () => {
    const tool = await make(FILES);
    expect(await said(tool, { query: "x.const.*last$", multiline: true })).toBe(
      "3 matching lines in 1 file\n\nsrc/a.ts\n1:import x\n2:const one = 1;\n3:last",
    );
    expect(await said(tool, { query: "2;\\n^const", multiline: true })).toBe(
      "2 matching lines in 1 file\n\nsrc/b.ts\n1:const two = 2;\n2:const ONE = 1;",
    );
    expect(await said(tool, { query: "IMPORT X\n", multiline: true, ignore_case: true })).toBe(
      "1 matching line in 1 file\n\nsrc/a.ts\n1:import x",
    );
    expect(await said(tool, { query: "x.const" })).toBe("No line matches.");
  });

  it("leaves out what a glob with ! before it names, folders too", async () => {
    const tool = await make(FILES);
    const files = async (glob: string) =>
      (await said(tool, { query: "one", glob, output_mode: "files_with_matches" })).split("\n").slice(2);
    expect(await files("!*.{ts,txt}")).toEqual(["keep.log", "src/deep/c.md", "sub/i"]);
    for (const glob of ["!src", "!src/", "!src/**", "!/src"])
      expect(await files(glob)).toEqual(["keep.log", "sub/i", "utf16.txt"]);
    expect(await files("!deep")).toEqual(["keep.log", "src/a.ts", "sub/i", "utf16.txt"]);
  });

  it("says that no file fits what it is narrowed to, and only then", async () => {
    const tool = await make(FILES);
    expect(await said(tool, { query: "one", glob: "*.zzz" })).toBe(
      'No line matches: no file that is searched fits glob "*.zzz".',
    );
    expect(await said(tool, { query: "one", glob: "src/**", type: "py", multiline: true })).toBe(
      'No line matches: no file that is searched fits glob "src/**" and type "py".',
    );
    for (const query of ["nowhere to be found", "[n]owhere"])
      expect(await said(tool, { query, glob: "*.ts" })).toBe("No line matches.");
    expect(await said(tool, { query: "two", glob: "*.md" })).toBe("No line matches.");
    expect(await said(await make({}), { query: "one" })).toBe("No line matches.");
  });

  it("takes a glob for a name, too", async () => {
    const tool = await make({ "app/[id].ts": "one\n", "app/i.ts": "one\n", "app/x.ts": "one\n" });
    for (const glob of ["app/[id].ts", "./app/[id].ts", "[id].ts"]) {
      expect(await said(tool, { query: "one", glob })).toBe(
        "2 matching lines in 2 files\n\napp/[id].ts\n1:one\n\napp/i.ts\n1:one",
      );
      expect((await said(tool, { query: glob, kind: "Find" })).split("\n").sort()).toEqual(["app/[id].ts", "app/i.ts"]);
    }
    const inMemory = globTool(memoryFs({ "app/[id].ts": "", "app/x.ts": "" }));
    expect(await said(inMemory, { pattern: "app/[id].ts" })).toBe("app/[id].ts");
  });

  it("finds files by words and by globs", async () => {
    const tool = await make(FILES);
    expect(await said(tool, { query: "src C", kind: "find" })).toBe("No file was found.");
    expect(await said(tool, { query: "src c", kind: "Find" })).toBe("src/deep/c.md\nsrc/a.ts\nsrc/b.ts");
    const globbed = async (query: string) => (await said(tool, { query, kind: "find" })).split("\n").sort();
    expect(await globbed("*.ts")).toEqual(["src/a.ts", "src/b.ts"]);
    expect(await globbed("src/**/*.{md,ts}")).toEqual(["src/a.ts", "src/b.ts", "src/deep/c.md"]);
    expect(await globbed("nothing/*")).toEqual(["No file was found."]);
  });

  it("says that nothing was found", async () => {
    const result = await callTool(await make(FILES), { query: "zebra" });
    expect(result.text).toBe("No line matches.");
    expect(result.output).toEqual({ matches: [], truncated: false });
  });

  it("is not led out of its folders by names", async () => {
    const tool = await make({ "-e": "one\n", "a b/\n": "one\n", "--files": "one" });
    const { matches } = await tool.call({ query: "on.", paths: [".", "-e"] });
    expect(matches.map(({ path }) => path).sort()).toEqual(["--files", "-e", "a b/\n"]);
  });
});

describe("search_file", () => {
  const lines = (n: number) => Array.from({ length: n }, (_, i) => `line ${i + 1}`).join("\n");

  it("shows lines around a match once, and says where lines are left out between", async () => {
    const tool = searchFileTool(memoryFs({ f: lines(30) }));
    expect(await said(tool, { query: "line (5|7|20)$", context: 1 })).toBe(
      [
        "3 matching lines in 1 file",
        "",
        ..."f|4-line 4|5:line 5|6-line 6|7:line 7|8-line 8|--|19-line 19|20:line 20|21-line 21".split("|"),
      ].join("\n"),
    );
    expect(await said(tool, { query: "line (1|2|30)$", context: 20 })).not.toContain("--");
  });

  it("says how many lines it does not show", async () => {
    const tool = searchFileTool(memoryFs({ a: lines(150), b: lines(150), c: lines(2) }));
    const text = await said(tool, { query: "line" });
    expect(text).toMatch(/^200 matching lines in 2 files/);
    expect(text).toMatch(
      /\[102 more matching lines in 2 files not shown\. Narrow it with paths or glob, or raise limit\.\]$/,
    );
    expect(await said(tool, { query: "line", limit: 302 })).not.toContain("[");
    expect((await callTool(tool, { query: "line", limit: 302 })).output).toMatchObject({ truncated: false });
    const much = searchFileTool(memoryFs({ a: lines(20_000), b: lines(1) }));
    expect(await said(much, { query: "line", limit: 100_000 })).toMatch(
      /^2,000 matching lines [\s\S]*\[at least 10,000 more matching lines in 1 file not shown\. Narrow it with paths or glob\.\]$/,
    );
  });

  it("finds the newest files of a glob first, however many there are", async () => {
    const fs = await realFs(
      Object.fromEntries(Array.from({ length: 150 }, (_, i) => [`${String(i).padStart(3, "0")}.ts`, ""])),
    );
    for (const [name, time] of [
      ["140.ts", 3e9],
      ["007.ts", 2.9e9],
    ] as const)
      await utimes(join(fs.root, name), time, time);
    const text = await said(searchFileTool(fs), { query: "*.ts", kind: "find" });
    expect(text).toMatch(/^140\.ts\n007\.ts\n/);
    expect(text).toContain("[50 more files not shown.");
  });

  it("shows the part of a long line in which the match is", async () => {
    const tool = searchFileTool(memoryFs({ f: `${"x".repeat(50_000)}needle${"y".repeat(50_000)}` }));
    const text = await said(tool, { query: "needle" });
    expect(text).toContain("needle");
    expect(text.length).toBeLessThan(1200);
    expect(text).toMatch(/1:\[\d+ characters\] x+needley+ \[\d+ more characters\]$/);
  });

  it("does not follow links, and is not led outside", async () => {
    const fs = await realFs({ "in/a": "one", "out/b": "one" });
    await symlink(join(fs.root, "out"), join(fs.root, "in/link"));
    expect(await said(searchFileTool(fs), { query: "one", paths: ["in"] })).toBe(
      "1 matching line in 1 file\n\nin/a\n1:one",
    );
    for (const path of ["../x", "/etc"]) {
      await expect(callTool(searchFileTool(fs), { query: "one", paths: [path] })).rejects.toMatchObject({
        kind: "permissionDenied",
      });
    }
  });

  it("finds names that look the same as what was asked for", async () => {
    const fs = memoryFs({ "cafe\u0301/a\u00a0b.txt": "needle" });
    const shown = "1 matching line in 1 file\n\ncafe\u0301/a\u00a0b.txt\n1:needle";
    const tool = searchFileTool(fs);
    for (const more of [{ paths: ["caf\u00e9"] }, { glob: "a b.*" }, { glob: "caf\u00e9/*" }])
      expect(await said(tool, { query: "needle", ...more })).toBe(shown);
    for (const query of ["caf\u00e9", "caf\u00e9/*"])
      expect(await said(tool, { query, kind: "Find" })).toBe("cafe\u0301/a\u00a0b.txt");
    expect(await said(globTool(fs), { pattern: "*\u00e9/a b*" })).toBe("cafe\u0301/a\u00a0b.txt");
  });

  it("says what is wrong with a path that leads nowhere", async () => {
    const fs = await realFs({ f: "x" });
    await symlink("loop", join(fs.root, "loop"));
    const tool = searchFileTool(fs);
    expect((await callTool(tool, { query: "x", paths: ["loop"] })).errorDetail).toBeDefined();
    expect((await callTool(tool, { query: "x", paths: ["f/g"] })).errorDetail).toBeDefined();
  });

  it("leaves files that are too large, and says so", async () => {
    const tool = searchFileTool(memoryFs({ a: "one", b: `one${" ".repeat(100)}` }), { maxFileBytes: 50 });
    expect(await said(tool, { query: "one" })).toBe(
      "1 matching line in 1 file\n\na\n1:one\n\n[1 file larger than 50 bytes not searched.]",
    );
  });

  it("refuses what is no expression, and says what to do", async () => {
    const tool = searchFileTool(memoryFs({ a: "x" }));
    for (const query of ["(", "a(?=b)", "(a)\\1", "  "]) {
      await expect(callTool(tool, { query })).rejects.toMatchObject({ kind: "invalidArguments" });
    }
    await expect(callTool(tool, { query: "foo(" })).rejects.toThrow(/Put a backslash before signs/);
    const result = await callTool(tool, { query: "x", paths: ["nope"] });
    expect(result.errorDetail).toBe('no such file: "nope"');
  });

  it("is not held up by a hostile expression", async () => {
    const tool = searchFileTool(memoryFs({ a: `${"a".repeat(30_000)}\n`.repeat(3) }));
    const began = performance.now();
    for (const query of [
      "(a*)*b",
      "(a|a)*b",
      "a*a*a*a*b",
      `${"a?".repeat(30)}${"a".repeat(30)}b`,
      `${"(a|a)".repeat(30)}b`,
    ]) {
      expect(await said(tool, { query })).toBe("No line matches.");
    }
    expect(performance.now() - began).toBeLessThan(30_000);
  });

  it("stops when its time is up, with what it has", async () => {
    const files = Object.fromEntries(Array.from({ length: 2000 }, (_, i) => [`f${i}`, lines(100)]));
    const tool = searchFileTool(memoryFs(files), { timeoutMs: 1 });
    expect(await said(tool, { query: "line 1$" })).toMatch(
      /\[.*The search was stopped after 0\.001 s: .*Search fewer paths\.\]$/,
    );
  });

  it("stops when the call is cancelled", async () => {
    const fs = await realFs(FILES);
    const finder = await ripgrep(fs.root);
    const files = finder?.files({
      folder: ".",
      texts: [],
      ignoreCase: false,
      hidden: false,
      signal: AbortSignal.abort(),
    });
    await expect(files).rejects.toThrow();
    const call = callTool(searchFileTool(fs), { query: "one" }, { signal: AbortSignal.abort() });
    await expect(call).rejects.toMatchObject({ kind: "cancelled" });
  });

  it("only reads, and says where", () => {
    const { metadata } = searchFileTool(memoryFs({}));
    expect(metadata.capabilities.readOnly).toBe(true);
    expect(metadata.access?.({ query: "x", paths: ["a/../b"] })).toEqual([{ action: "read", target: "/workspace/b" }]);
    expect(metadata.access?.({ query: "x" })).toEqual([{ action: "read", target: "/workspace" }]);
  });
});
