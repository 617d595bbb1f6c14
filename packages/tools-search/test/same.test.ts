import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { searchFileTool } from "../src/index.js";
import { ripgrep } from "../src/node.js";
import { type Files, memoryFs, realFs, said } from "./helpers.js";

const name = fc.constantFrom("a", "b.ts", ".c", "d e", "é", "-f", "node_modules", "x.log", "B");
const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join("/"));
const line = fc.constantFrom("one", "ONE two", "", "é one\r", "one\u2028two", "\ttwo", "x".repeat(1200), "a.c", "abc");
const text = fc.array(line, { maxLength: 6 }).map((lines) => lines.join("\n"));
const rule = fc.constantFrom("*.ts", "!b.ts", "/a", "d e/", "**/x.log", "B", "\\#x", "é");
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
const ignores = fc.dictionary(fc.constantFrom(".gitignore", "a/.gitignore", "d e/.ignore"), rules, {
  noNullPrototype: true,
});
const question = fc.record(
  {
    query: fc.constantFrom("one", "ONE", "o.e$", "^\\s*two", "a.c", "a\\.c", "(one|two)", "é", "x{3}"),
    kind: fc.constantFrom("Grep" as const, "MultiGrep" as const, "Find" as const),
    paths: fc.array(fc.constantFrom(".", "a", "d e", "a/a"), { minLength: 1, maxLength: 2 }),
    glob: fc.constantFrom("*.ts", "a/**", "!x"),
    ignore_case: fc.boolean(),
    hidden: fc.boolean(),
    context: fc.constantFrom(0, 1),
    limit: fc.constantFrom(1, 3),
    multiline: fc.boolean(),
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
