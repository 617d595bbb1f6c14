import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { callTool } from "@shedkit/tool";
import { expect, test } from "vitest";
import { lspTool } from "../src/index.js";
import { folder, serversOf, TYPESCRIPT } from "./helpers.js";

const PROJECT = {
  "tsconfig.json": '{ "compilerOptions": { "strict": true, "noEmit": true }, "include": ["src"] }',
  "src/greet.ts":
    "/** Says hello. */\nexport function greet(name: string): string {\n  return name;\n}\n\n" +
    "export interface Speaker {\n  speak(): void;\n}\n\nexport class Dog implements Speaker {\n  speak(): void {}\n}\n",
  "src/main.ts":
    'import { greet } from "./greet.js";\n\nconst smile = 1;\n' +
    'const line = "😀😀 é"; console.log(greet("you"), line);\nexport const broken: number = greet("x");\n',
};

test("a real server says where things are, what they are and what is wrong; what is asked wrongly is told", async () => {
  const fs = await folder({ ...PROJECT, "notes.md": "# Notes" });
  const servers = serversOf(fs, { typescript: TYPESCRIPT });
  const tool = lspTool(servers, { diagnosticsMs: 50_000 });
  const ask = async (args: object): Promise<string> => (await callTool(tool, args)).text;
  expect(await ask({ operation: "symbols", path: "notes.md" })).toBe(
    'There is no language server for "notes.md"; there is one for .ts, .tsx. Search the text instead.',
  );
  expect(await ask({ operation: "symbols", path: "src/none.ts" })).toContain("src/none.ts");
  expect(servers.pidOf("typescript")).toBeUndefined(); // nothing was started for these
  await expect(callTool(tool, { operation: "symbols", path: "../up.ts" })).rejects.toThrow("outside");

  // The symbol stands after characters that are two UTF-16 units each.
  expect(await ask({ operation: "definition", path: "src/main.ts", line: 4, symbol: "greet" })).toBe(
    '1 definition of "greet":\nsrc/greet.ts:2: export function greet(name: string): string {',
  );
  const uses = await ask({ operation: "references", path: "src/greet.ts", symbol: "greet" });
  expect(uses).toContain('references of "greet"');
  expect(uses).toContain("src/greet.ts:2: export function greet");
  expect(uses).toContain('src/main.ts:4: const line = "😀😀 é"; console.log(greet("you"), line);');
  expect(uses).toContain("src/main.ts:5: ");

  const said = await ask({ operation: "hover", path: "src/main.ts", line: 4, symbol: "greet" });
  expect(said).toContain("greet(name: string): string");
  expect(said).toContain("Says hello.");

  expect(await ask({ operation: "implementation", path: "src/greet.ts", symbol: "Speaker" })).toBe(
    '1 implementation of "Speaker":\nsrc/greet.ts:10: export class Dog implements Speaker {',
  );
  expect(await ask({ operation: "symbols", path: "src/greet.ts" })).toBe(
    '5 symbols in "src/greet.ts":\n2: function greet\n6: interface Speaker\n7:   method speak\n10: class Dog\n11:   method speak',
  );
  expect(await ask({ operation: "symbols", path: "src/greet.ts", query: "Speaker" })).toContain(
    "src/greet.ts:6: interface Speaker",
  );

  expect(await ask({ operation: "diagnostics", path: "src/main.ts" })).toBe(
    "1 error or warning in \"src/main.ts\":\n5:14 error 2322: Type 'string' is not assignable to type 'number'.",
  );
  expect(await ask({ operation: "definition", path: "src/main.ts", line: 4 })).toBe(
    'definition needs symbol: the name to look up, as it stands in "src/main.ts".',
  );
  expect(await ask({ operation: "hover", path: "src/main.ts", line: 1, symbol: "nowhere" })).toBe(
    '"src/main.ts" has no "nowhere". Line 1 is: import { greet } from "./greet.js";',
  );
  expect(await ask({ operation: "definition", path: "src/main.ts", line: 3, symbol: "greet" })).toContain(
    "(in line 4; line 3 does not have it)",
  );
  await writeFile(join(fs.root, "src/main.ts"), "export const broken: number = 1;\n");
  expect(await ask({ operation: "diagnostics", path: "src/main.ts" })).toBe('No errors and warnings in "src/main.ts".');
}, 180_000);
