import { OverlayFileSystem } from "@shedkit/fs/overlay";
import { expect, it, vi } from "vitest";
import { findLookalikes } from "../src/edit/confusables.js";
import { applyPatchTool, editTool, multiEditTool, readTool } from "../src/index.js";
import { content, failed, memoryFs, said } from "./helpers.js";

it("an edit of very many places says how many they are", async () => {
  const edit = editTool(memoryFs({ f: "a\n".repeat(1500) }));
  const text = await said(edit, { path: "f", old_string: "a", new_string: "b", replace_all: true });
  expect(text).toBe('Edited "f": 1,500 replacements, lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 1,490 more.');
});

it("a dry run shows the start of very many changes", async () => {
  const multi = multiEditTool(memoryFs({ f: "a\n".repeat(300_000) }));
  const edits = [{ path: "f", old_string: "a", new_string: "b", replace_all: true }];
  const text = await said(multi, { edits, dry_run: true });
  expect(text).toContain("\n--- f\n+++ f\n@@ -1,300000 +1,300000 @@\n-a\n-a\n");
  expect(text).toContain("[The rest of the changes is not shown.]");
});

it("many edits of one file write it once, also where it is moved meanwhile", async () => {
  const write = vi.spyOn(OverlayFileSystem.prototype, "writeFile");
  try {
    const fs = memoryFs({ f: Array.from({ length: 50 }, (_, i) => `<${i}>\n`).join("") });
    const edits = Array.from({ length: 50 }, (_, i) => ({ path: "f", old_string: `<${i}>`, new_string: `${i}` }));
    await multiEditTool(fs).call({ edits });
    expect(write).toHaveBeenCalledTimes(1);
    expect(await content(fs, "f")).toBe(Array.from({ length: 50 }, (_, i) => `${i}\n`).join(""));
    const moved = "*** Update File: f\n*** Move to: g\n@@\n-0\n+x\n*** Update File: g\n@@\n-1\n+y\n";
    await applyPatchTool(fs).call({ patch: `*** Begin Patch\n${moved}*** End Patch` });
    expect((await content(fs, "g")).slice(0, 6)).toBe("x\ny\n2\n");
    const gone =
      "*** Update File: g\n@@\n-x\n+z\n*** Delete File: g\n*** Add File: g\n+new\n*** Update File: g\n@@\n-new\n+newer\n";
    await applyPatchTool(fs).call({ patch: `*** Begin Patch\n${gone}*** End Patch` });
    expect(await content(fs, "g")).toBe("newer\n");
  } finally {
    write.mockRestore();
  }
});

it("no more places that look alike are looked for than are told of", () => {
  expect(findLookalikes("\u2014 ".repeat(100), "-- ")).toHaveLength(11);
});

it("a link to nothing is told as such", async () => {
  const fs = memoryFs();
  await fs.symlink("nowhere", "link");
  expect(await failed(readTool(fs), { path: "link" })).toBe(
    '"link" is a symbolic link to something that does not exist.',
  );
});
