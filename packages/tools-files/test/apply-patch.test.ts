import { describe, expect, it } from "vitest";
import { applyPatchTool } from "../src/index.js";
import { content, failed, memoryFs, realFs, said } from "./helpers.js";

const patch = (...lines: string[]) => ["*** Begin Patch", ...lines, "*** End Patch"].join("\n");

async function patched(before: string, ...hunk: string[]): Promise<string> {
  const fs = memoryFs({ f: before });
  await applyPatchTool(fs).call({ patch: patch("*** Update File: f", ...hunk) });
  return content(fs, "f");
}

describe("apply_patch", () => {
  it("adds, updates, moves and deletes files, all of them", async () => {
    for (const fs of [memoryFs(), await realFs()]) {
      await fs.writeFile("old.txt", "x\n");
      await fs.mkdir("src");
      await fs.writeFile("src/a.ts", "one\ntwo\nthree\n");
      await fs.writeFile("src/b.ts", "b\n");
      const output = await applyPatchTool(fs).call({
        patch: patch(
          "*** Add File: new/deep.txt",
          "+hello",
          "+",
          "*** Delete File: old.txt",
          "*** Update File: src/a.ts",
          "@@",
          " one",
          "-two",
          "+2",
          " three",
          "*** Update File: src/b.ts",
          "*** Move to: lib/c.ts",
          "@@",
          "-b",
          "+c",
        ),
      });
      expect(output).toEqual({
        files: [
          { path: "new/deep.txt", change: "added" },
          { path: "old.txt", change: "deleted" },
          { path: "src/a.ts", change: "updated" },
          { path: "lib/c.ts", change: "moved" },
        ],
        written: true,
      });
      expect(await content(fs, "new/deep.txt")).toBe("hello\n\n");
      expect(await content(fs, "src/a.ts")).toBe("one\n2\nthree\n");
      expect(await content(fs, "lib/c.ts")).toBe("c\n");
      expect((await fs.readdir("src")).map(({ name }) => name)).toEqual(["a.ts"]);
    }
  });

  it("applies hunks one behind the other, behind the lines that their headers name", async () => {
    const file = "class A\n  x\nclass B\n  x\nend\n";
    expect(await patched(file, "@@ class B", "-  x", "+  y")).toBe("class A\n  x\nclass B\n  y\nend\n");
    expect(await patched(file, "@@ B", "-  x", "+  y")).toBe("class A\n  x\nclass B\n  y\nend\n");
    expect(await patched(file, "@@", "-  x", "+  1", "@@", "-  x", "+  2")).toBe("class A\n  1\nclass B\n  2\nend\n");
    expect(await patched(file, "@@ -1,2 +1,2 @@ class B", "-  x", "+  y")).toBe("class A\n  x\nclass B\n  y\nend\n");
    expect(await patched(file, "@@ class A", "+  new")).toBe("class A\n  new\n  x\nclass B\n  x\nend\n");
    expect(await patched(file, "@@", "+last")).toBe(`${file}last\n`);
  });

  it("takes one of several places only where a header or other hunks leave no other", async () => {
    const file = "a {\n  x\n}\nb {\n  x\n}\nc {\n  x\n}\n";
    const fs = memoryFs({ f: file });
    const says = await failed(applyPatchTool(fs), { patch: patch("*** Update File: f", "@@", "-  x", "+  y") });
    expect(says).toBe(
      '"f": Line 3 of the patch: the hunk fits at lines 2, 5 and 8. Put a line that comes before the place you mean after ' +
        "@@, or give more of the lines around it. Nothing was changed.",
    );
    const two = ["@@", "-  x", "+  y", "@@", "-  x", "+  z"];
    expect(await failed(applyPatchTool(fs), { patch: patch("*** Update File: f", ...two) })).toContain(
      "at lines 2, 5 and 8",
    );
    const behind = ["@@", "-b {", "+d {", "@@", "-  x", "+  y"];
    expect(await failed(applyPatchTool(fs), { patch: patch("*** Update File: f", ...behind) })).toContain(
      "Line 6 of the patch: the hunk fits at lines 5 and 8.",
    );
    expect(await content(fs, "f")).toBe(file);
    expect(await patched(file, "@@", "-c {", "+d {", "@@", "-  x", "+  y")).toBe(
      "a {\n  x\n}\nb {\n  x\n}\nd {\n  y\n}\n",
    );
    expect(await patched(file, "@@ b {", "-  x", "+  y")).toBe("a {\n  x\n}\nb {\n  y\n}\nc {\n  x\n}\n");
    expect(await patched(file, ...two, "@@", "-  x", "+  w")).toBe("a {\n  y\n}\nb {\n  z\n}\nc {\n  w\n}\n");
  });

  it("finds lines that only nearly fit, and keeps those of the file", async () => {
    expect(await patched("a  \nb\n", "@@", " a", "-b", "+c")).toBe("a  \nc\n");
    expect(await patched("\tif x:\n\t\ta()\n", "@@", " if x:", "-    a()", "+    b()")).toBe("\tif x:\n\t\tb()\n");
    expect(await patched("a – b\nc\n", "@@", " a - b", "-c", "+d")).toBe("a – b\nd\n");
  });

  it("takes the last place for a hunk at the end of the file", async () => {
    expect(await patched("x\ny\nx\n", "@@", "-x", "+z", "*** End of File")).toBe("x\ny\nz\n");
  });

  it("keeps CRLFs, and a last line without an end", async () => {
    expect(await patched("a\r\nb\r\nc", "@@", " a", "-b", "+B", "+B2", " c")).toBe("a\r\nB\r\nB2\r\nc");
    expect(await patched("a\nb", "@@", " b", "+c")).toBe("a\nb\nc");
    expect(await patched("a\nb", "@@", "-b")).toBe("a");
  });

  it("takes a patch in a here-document or code fence, with lost spaces and a lost end", async () => {
    const fs = memoryFs({ f: "a\n\nb\n" });
    const lines = [
      "apply_patch <<'EOF'",
      "*** Begin Patch",
      "*** Update File: f",
      "@@",
      " a",
      "",
      "-b",
      "+c",
      "",
      "EOF",
    ];
    expect(await failed(applyPatchTool(fs), { patch: lines.join("\n") })).toContain('found "EOF"');
    await applyPatchTool(fs).call({ patch: [...lines.slice(0, -1), "*** End Patch", "EOF"].join("\r\n") });
    expect(await content(fs, "f")).toBe("a\n\nc\n");
    await applyPatchTool(fs).call({ patch: "```\n*** Begin Patch\n*** Update File: f\n-c\n+d\n" });
    expect(await content(fs, "f")).toBe("a\n\nd\n");
  });

  it("says with the line what is wrong with a patch, and changes nothing", async () => {
    const fs = memoryFs({ f: "a\nb\na\nb\n", g: "g\n" });
    const tool = applyPatchTool(fs);
    const cases: [patch: string, says: string][] = [
      ["nothing", 'must begin with the line "*** Begin Patch"'],
      [patch(), "The patch is empty"],
      [patch("*** Change File: f"), 'Line 2 of the patch: expected "*** Add File: path"'],
      [patch("*** Update File: "), "Line 2 of the patch: the path is missing"],
      [patch("*** Update File: f"), 'Line 2 of the patch: the update of "f" has no hunk'],
      [patch("*** Update File: f", "@@", " a"), "Line 3 of the patch: the hunk changes nothing"],
      [patch("*** Update File: f", "@@", "?"), "Line 4 of the patch: a line of a hunk begins with"],
      [patch("*** Add File: n", "x"), 'Line 3 of the patch: every line of a new file begins with "+"'],
      [patch("*** Update File: f", "@@", "-zzz", "+y"), 'does not have these lines, the first of which is "zzz"'],
      [patch("*** Update File: f", "@@ nowhere", "-a", "+y"), 'has no line "nowhere" there'],
      [patch("*** Update File: f", "@@", "- a", "+y"), "fits exactly nowhere, and nearly at lines 1 and 3"],
      [patch("*** Update File: f", "@@", "-b", "+c", "@@", "-b", "+c", "@@", "-a", "+c"), "in the order of the file"],
      [patch("*** Add File: g", "+x"), '"g" exists already'],
      [patch("*** Delete File: nope"), 'no file or folder "nope"'],
      [patch("*** Update File: f", "*** Move to: g", "@@ b", "-a", "+c"), '"g" exists already'],
    ];
    for (const [text, says] of cases) {
      const first = text.replace("*** Begin Patch", "*** Begin Patch\n*** Add File: first\n+1");
      expect(await failed(tool, { patch: text })).toContain(says);
      if (text !== patch()) expect(await failed(tool, { patch: first })).not.toBe("");
    }
    expect((await fs.readdir(".")).map(({ name }) => name)).toEqual(["f", "g"]);
    expect(await content(fs, "f")).toBe("a\nb\na\nb\n");
  });

  it("shows what it would do in a dry run", async () => {
    const fs = memoryFs({ f: "a\n" });
    const text = await said(applyPatchTool(fs), {
      patch: patch("*** Update File: f", "@@", "-a", "+b", "*** Add File: n", "+x"),
      dry_run: true,
    });
    expect(text).toBe(
      'This would be done: updated "f", added "n". Nothing was written.\n\n' +
        "--- f\n+++ f\n@@ -1 +1 @@\n-a\n+b\n--- /dev/null\n+++ n\n@@ -0,0 +1 @@\n+x",
    );
    expect((await fs.readdir(".")).map(({ name }) => name)).toEqual(["f"]);
  });

  it("keeps lines of a file that look like a patch's own", async () => {
    const lines = ["*** Begin Patch", "*** Update File: x", "*** End of File", "*** End Patch"];
    for (const line of lines) {
      expect(await patched(`a\n${line}\nb\nc\n`, " a", ` ${line}`, "-b", "+B", " c")).toBe(`a\n${line}\nB\nc\n`);
      expect(await patched(`a\n${line}\nb\n`, `-${line}`, " b")).toBe("a\nb\n");
    }
  });

  it("moves and deletes what is no text, and does not change it", async () => {
    const bytes = new Uint8Array([0x89, 0x50, 0, 1, 2]);
    for (const fs of [memoryFs(), await realFs()]) {
      for (const name of ["a.png", "b.png", "c.png"]) await fs.writeFile(name, bytes);
      const tool = applyPatchTool(fs, { readFirst: true });
      expect(await failed(tool, { patch: patch("*** Update File: a.png", "@@", "-x", "+y") })).toMatch(
        /"a.png" (?:is not a text file|has not been read)/,
      );
      expect(
        await failed(applyPatchTool(fs), {
          patch: patch("*** Update File: a.png", "*** Move to: d.png", "*** Update File: d.png", "@@", "-x", "+y"),
        }),
      ).toBe('"d.png" is not a text file. Nothing was changed.');
      const moves = patch("*** Update File: a.png", "*** Move to: img/a.png", "*** Delete File: b.png");
      await tool.call({ patch: moves });
      expect(await fs.readFile("img/a.png")).toEqual(bytes);
      expect((await fs.readdir(".")).map(({ name }) => name)).toEqual(["c.png", "img"]);
    }
  });

  it("says which file a hunk does not fit, and that nothing was changed", async () => {
    const fs = memoryFs({ f: "a\n", g: "g\n" });
    const both = patch("*** Update File: f", "@@", "-a", "+b", "*** Update File: g", "@@", "-x", "+y");
    expect(await failed(applyPatchTool(fs), { patch: both })).toBe(
      '"g": Line 7 of the patch: the file does not have these lines, the first of which is "x". Read the file and copy its ' +
        "lines exactly. Nothing was changed.",
    );
    const onto = patch("*** Update File: f", "*** Move to: g");
    expect(await failed(applyPatchTool(fs), { patch: onto })).toBe('"g" exists already. Nothing was changed.');
  });

  it("says what it will change", () => {
    const tool = applyPatchTool(memoryFs());
    const args = { patch: patch("*** Update File: a", "*** Move to: b", "*** Delete File: c") };
    expect(tool.metadata.capabilities.touches(args)).toEqual([
      "file:/workspace/a",
      "file:/workspace/b",
      "file:/workspace/c",
    ]);
    expect(tool.metadata.access?.(args).map(({ target }) => target)).toEqual([
      "/workspace/a",
      "/workspace/b",
      "/workspace/c",
    ]);
    expect(tool.metadata.access?.({ patch: "no patch" })).toEqual([]);
  });
});

describe("apply_patch in large files", () => {
  it("changes one of very many lines", async () => {
    const lines = Array.from({ length: 250_000 }, (_, i) => `l${i}`);
    const text = await patched(`${lines.join("\n")}\n`, "@@", " l249998", "-l249999", "+end");
    expect(text.endsWith("\nl249998\nend\n")).toBe(true);
    expect(text.length).toBe(lines.join("\n").length - "l249999".length + "end\n".length);
  });

  it("looks for a long hunk of like lines in time in proportion to both", async () => {
    const fs = memoryFs({ f: " same\n".repeat(100_000) });
    const hunk = Array.from({ length: 50_000 }, () => "-same");
    const text = await failed(applyPatchTool(fs), {
      patch: patch("*** Update File: f", "@@", ...hunk, "-other", "+x"),
    });
    expect(text).toContain("the file does not have these lines");
    expect(await patched("a\na\na\nb\na\na\nb\n", "@@", "-a", "-a", "-b", "+c", "@@", " a", "-a", "-b")).toBe(
      "a\nc\na\n",
    );
  }, 60_000);
});
