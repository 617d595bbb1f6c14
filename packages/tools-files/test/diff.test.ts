import { execFileSync } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { unifiedDiff } from "../src/text/diff.js";
import { tempFolder } from "./helpers.js";

describe("unifiedDiff", () => {
  it("shows what changed, with the lines around it", () => {
    const lines = Array.from({ length: 20 }, (_, i) => `l${i + 1}`);
    const before = `${lines.join("\n")}\n`;
    const after = before.replace("l3\n", "").replace("l15", "fifteen");
    expect(unifiedDiff([{ path: "f", before, after }])).toBe(
      [
        "--- f",
        "+++ f",
        "@@ -1,6 +1,5 @@",
        " l1",
        " l2",
        "-l3",
        " l4",
        " l5",
        " l6",
        "@@ -12,7 +11,7 @@",
        " l12",
        " l13",
        " l14",
        "-l15",
        "+fifteen",
        " l16",
        " l17",
        " l18",
      ].join("\n"),
    );
    expect(unifiedDiff([{ path: "n", before: undefined, after: "a" }])).toBe(
      "--- /dev/null\n+++ n\n@@ -0,0 +1 @@\n+a\n\\ No newline at end of file",
    );
    expect(unifiedDiff([{ path: "g", before: "a\n", after: undefined }])).toBe(
      "--- g\n+++ /dev/null\n@@ -1 +0,0 @@\n-a",
    );
  });

  it("is taken by git, and leads from the one text to the other", async () => {
    const folder = await tempFolder();
    const text = fc
      .array(fc.constantFrom("a", "b", "c", "d e"), { maxLength: 25 })
      .chain((lines) => fc.boolean().map((end) => lines.join("\n") + (end && lines.length > 0 ? "\n" : "")));
    let n = 0;
    await fc.assert(
      fc.asyncProperty(text, text, async (before, after) => {
        fc.pre(before !== after && before !== "" && after !== "");
        const where = join(folder, String(n++));
        await mkdir(where);
        await writeFile(join(where, "f"), before);
        const diff = `${unifiedDiff([{ path: "f", before, after }])}\n`;
        execFileSync("git", ["apply", "-p0", "--unidiff-zero", "-"], {
          cwd: where,
          input: diff,
          stdio: ["pipe", "pipe", "pipe"],
        });
        expect(execFileSync("cat", ["f"], { cwd: where, encoding: "utf8" })).toBe(after);
      }),
      { numRuns: 60 },
    );
  });
});
