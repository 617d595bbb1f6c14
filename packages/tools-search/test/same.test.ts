import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { searchFileTool } from "../src/index.js";
import { ripgrep } from "../src/node.js";
import { type Files, memoryFs, realFs, said } from "./helpers.js";

const name = fc.constantFrom("a", "b.ts", ".c", "d e", "é", "-f", "node_modules", "x.log", "B");
const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join("/"));
const line = fc.constantFrom("one", "ONE two", "", "é one\r", "one\u2028two", "\ttwo", "x".repeat(1200), "a.c", "abc");
const text = fc.array(line, { maxLength: 6 }).map((lines) => lines.join("\n"));
const rule = fc.constantFrom("*.ts", "!b.ts", "/a", "d e/", "**/x.log", "B", "\\#x", "é", "{B,a}", "[B", "!a");
const rules = fc.array(rule, { maxLength: 3 }).map((lines) => lines.join("\n"));
const bytes = fc.constantFrom(
  new Uint8Array([0x6f, 0x6e, 0x65, 0]),
  new Uint8Array([0xff, 0xfe, 0x6f, 0, 0x6e, 0, 0x65, 0]),
  new Uint8Array([0xe9, 0x0a, 0x6f, 0x6e, 0x65]),
);
const files = fc.dictionary(path, fc.oneof({ weight: 5, arbitrary: text }, { weight: 1, arbitrary: bytes }), {
  maxKeys: 12,
  noNullPrototype: true,
});
const ignores = fc.dictionary(
  fc.constantFrom(".gitignore", ".ignore", ".rgignore", "a/.gitignore", "d e/.ignore", "d e/.gitignore"),
  rules,
  {
    noNullPrototype: true,
  },
);
const question = fc.record(
  {
    query: fc.constantFrom("one", "ONE", "o.e$", "^\\s*two", "a.c", "a\\.c", "(one|two)", "é", "x{3}", "\ufffd"),
    kind: fc.constantFrom("Grep" as const, "MultiGrep" as const, "Find" as const),
    paths: fc.array(fc.constantFrom(".", "a", "d e", "a/a"), { minLength: 1, maxLength: 2 }),
    glob: fc.constantFrom("*.ts", "a/**", "!x"),
    ignore_case: fc.boolean(),
    hidden: fc.boolean(),
    context: fc.constantFrom(0, 1),
    limit: fc.constantFrom(1, 3),
    multiline: fc.boolean(),
    type: fc.constantFrom("ts", "log", "none"),
    output_mode: fc.constantFrom("content" as const, "files_with_matches" as const, "count" as const),
  },
  { requiredKeys: ["query"] },
);

/** Without what cannot lie beside another: a file where a folder is. */
function possible(all: Files): Files {
  const paths = Object.keys(all);
  return Object.fromEntries(
    Object.entries(all).filter(([path]) => !paths.some((other) => other.startsWith(`${path}/`))),
  );
}

describe("a search", () => {
  it("gives the same with ripgrep, without it, and in memory", async () => {
    await fc.assert(
      fc.asyncProperty(
        files,
        ignores,
        fc.array(question, { minLength: 1, maxLength: 6 }),
        async (some, rules, asked) => {
          const all = possible({ ...some, ...rules });
          const [memory, real] = [memoryFs(all), await realFs(all)];
          const tools = [
            searchFileTool(memory),
            searchFileTool(real),
            searchFileTool(real, { finder: await ripgrep(real.root) }),
          ];
          for (const input of asked) {
            const [inMemory, inFolder, byRipgrep] = await Promise.all(
              tools.map((tool) =>
                said(tool, input).catch((error: Error) => error.message.replaceAll(real.root, memory.root)),
              ),
            );
            expect([input, inFolder]).toEqual([input, inMemory]);
            expect([input, byRipgrep]).toEqual([input, inMemory]);
          }
        },
      ),
      { numRuns: 40 },
    );
  }, 120_000);
});

describe("a search with ripgrep leaves out nothing that the other finds", () => {
  const both = async (files: Files, input: object, params: object = {}): Promise<[string, string]> => {
    const fs = await realFs(files);
    const finder = await ripgrep(fs.root);
    expect(finder).toBeDefined();
    return [
      await said(searchFileTool(fs, params), input),
      await said(searchFileTool(fs, { ...params, finder }), input),
    ];
  };
  const word = "needle\n";

  it.each<[string, Files, object, string]>([
    ["that its own ignore files name", { ".rgignore": "a.txt", "a.txt": word }, {}, "a.txt"],
    [
      "that a nearer file takes back",
      { "a/.ignore": "*.log", "a/b/.gitignore": "!x.log", "a/b/x.log": word },
      {},
      "a/b/x.log",
    ],
    ["by braces, which stand for themselves", { ".gitignore": "{x,y}.txt", "x.txt": word }, {}, "x.txt"],
    ["by a set without an end, which fits nothing", { ".gitignore": "q[a-", "q[a-": word }, {}, "q[a-"],
    [
      "by braces in a file that names itself",
      { "a/.gitignore": "*\n!{x,y}.*\n", "a/x.txt": word },
      {},
      "No line matches.",
    ],
    ["that are no UTF-8", { "a.txt": new Uint8Array([0x6e, 0xe9, 0x0a]) }, { query: "\ufffd" }, "a.txt"],
    [
      "beside NULs that come after its start",
      {
        a: `${"x\n".repeat(9000)}\0needle`,
        b: `${"x\n".repeat(9000)}needle\n\0`,
        c: `needle\0${"\0".repeat(100_000)}`,
      },
      {},
      "2 files",
    ],
    ["for a NUL, which no text has", { "a.txt": word }, { query: "needle\0" }, "No line matches."],
  ])("%s", async (_, files, input, shown) => {
    const [without, withIt] = await both(files, { query: "needle", ...input });
    expect(without).toContain(shown);
    expect(withIt).toBe(without);
  });

  it("and tells of the same files that are too large: those that may have a match", async () => {
    const files = {
      "has.txt": `${"x".repeat(300_000)}needle`,
      "not.txt": "x".repeat(300_000),
      "wide.txt": Buffer.from(`\ufeff${"x".repeat(131_069)}needle${"x".repeat(200_000)}`, "utf16le"),
      "binary.bin": new Uint8Array(300_000),
    };
    for (const [query, ignore_case] of [
      ["needle", false],
      ["NEEDLE", true],
    ]) {
      const [without, withIt] = await both(files, { query, ignore_case }, { maxFileBytes: 1000 });
      expect(without).toContain("[2 files larger than 1,000 bytes not searched.]");
      expect(withIt).toBe(without);
    }
    const [without, withIt] = await both(files, { query: "[xyz]" }, { maxFileBytes: 1000 });
    expect(without).toContain("[3 files larger than");
    expect(withIt).toBe(without);
  });
});
