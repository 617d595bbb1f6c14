import { callTool } from "@shedkit/tool";
import { describe, expect, it } from "vitest";
import { listTool } from "../src/index.js";
import { failed, memoryFs, realFs, said } from "./helpers.js";

const many = (folder: string, n: number, name: (i: number) => string) =>
  Object.fromEntries(Array.from({ length: n }, (_, i) => [`${folder}/${name(i)}`, ""]));

describe("list", () => {
  it("shows a small tree whole, folders marked, sorted without regard to case", async () => {
    const fs = memoryFs({ "b.txt": "", "A/z.ts": "", "A/deep/er/x": "", "c.md": "" });
    for (const path of [undefined, "", ".", "./", " ", fs.root]) {
      expect(await said(listTool(fs), { path })).toBe(
        ["./", "  A/", "    deep/", "      er/", "        x", "    z.ts", "  b.txt", "  c.md"].join("\n"),
      );
    }
    expect(await said(listTool(fs), { path: "./A/deep" })).toBe("A/deep/\n  er/\n    x");
    expect(await listTool(fs).call({ path: "A" })).toEqual({
      path: "A",
      entries: [
        { name: "deep", type: "directory" },
        { name: "z.ts", type: "file" },
      ],
    });
  });

  it("leaves out hidden names, and says so, unless they are asked for", async () => {
    const fs = memoryFs({ ".env": "", ".git/config": "", a: "" });
    expect(await said(listTool(fs), {})).toBe(
      "./\n  a\n\n[2 names that begin with a dot not shown; set hidden to true to see.]",
    );
    expect(await said(listTool(fs), { hidden: true })).toBe("./\n  .env\n  .git/\n    config\n  a");
  });

  it("says when a folder is empty", async () => {
    const fs = memoryFs();
    await fs.mkdir("e");
    expect(await said(listTool(fs), { path: "e" })).toBe("e/\n\n[The folder is empty.]");
  });

  it("goes only as deep as asked", async () => {
    const fs = memoryFs({ "a/b/c": "", d: "" });
    expect(await said(listTool(fs), { depth: 1 })).toBe("./\n  a/\n  d");
    expect(await said(listTool(fs), { depth: 2 })).toBe("./\n  a/\n    b/\n  d");
  });

  it("sums up folders that are too big, and still opens small ones after them", async () => {
    const fs = memoryFs({
      ...many("big", 600, (i) => `file-with-a-long-name-${i}.${["ts", "ts", "ts", "js", "js", "md", "css"][i % 7]}`),
      "big/noextension": "",
      "zsmall/one.ts": "",
    });
    expect(await said(listTool(fs), {})).toBe(
      "./\n  big/ (601 files: 258 .ts, 172 .js, 85 .css, ...)\n  zsmall/\n    one.ts",
    );
  });

  it("shows what fits of a folder that is itself too big", async () => {
    const fs = memoryFs(many("big", 2000, (i) => `name-${String(i).padStart(4, "0")}`));
    const text = await said(listTool(fs), { path: "big" });
    expect(text).toContain("  name-0000\n  name-0001\n");
    expect(text).toContain("[Not all of its 2,000 entries fit.");
    expect(text.length).toBeLessThan(10_200);
  });

  it("names dependencies without looking into them", async () => {
    const fs = memoryFs({ "node_modules/x/index.js": "", a: "" });
    expect(await said(listTool(fs), {})).toBe("./\n  a\n  node_modules/ (dependencies, not looked into)");
    expect(await said(listTool(fs), { path: "node_modules" })).toBe("node_modules/\n  x/\n    index.js");
  });

  it("leaves out what .gitignore files name, and says so", async () => {
    const fs = memoryFs({
      ".gitignore": "dist/\n*.log\n/only-here\n",
      "dist/x.js": "",
      "a.log": "",
      "only-here": "",
      "src/only-here": "",
      "src/b.log": "",
      "src/keep/.gitignore": "!*.log\nsecret\n",
      "src/keep/c.log": "",
      "src/keep/secret": "",
    });
    expect(await said(listTool(fs), {})).toBe(
      "./\n  src/\n    keep/\n      c.log\n    only-here\n\n[1 name that begins with a dot not shown; set hidden to true to " +
        "see. 3 names not shown that .gitignore names.]",
    );
    expect(await said(listTool(fs), { path: "src/keep" })).toContain("src/keep/\n  c.log\n");
    expect(await said(listTool(fs), { path: "src", depth: 1 })).not.toContain("b.log");
    const all = await said(listTool(fs, { gitignore: false }), {});
    expect(all).toContain("  dist/\n    x.js\n");
    expect(all).not.toContain(".gitignore");
  });

  it("marks links and does not follow them", async () => {
    const fs = memoryFs({ "a/f": "" });
    await fs.symlink("..", "a/up");
    expect(await said(listTool(fs), {})).toBe("./\n  a/\n    f\n    up (link)");
  });

  it("shows names that have line ends or unseen characters in them for what they are", async () => {
    const fs = memoryFs({ "a\n  b": "", "x\u202etxt.exe": "" });
    expect(await said(listTool(fs), {})).toBe('./\n  "a\\n  b"\n  "x\\u{202e}txt.exe"');
  });

  it("gives a program as many entries as are shown, at least a thousand", async () => {
    const fs = memoryFs({ ...many("d", 3000, (i) => String(10_000 + i)), ...many("e", 900, (i) => `${i}`) });
    const given = async (path: string, maxChars: number) =>
      (await listTool(fs, { maxChars }).call({ path })).entries.length;
    expect(await given("d", 10_000)).toBe(1110);
    expect(await given("d", 100)).toBe(1000);
    expect(await given("d", 1_000_000)).toBe(3000);
    expect(await given("e", 100)).toBe(900);
  });

  it("says what is wrong with a path", async () => {
    const tool = listTool(memoryFs({ "src/f": "" }));
    expect(await failed(tool, { path: "scr" })).toContain('Did you mean "src"?');
    expect(await failed(tool, { path: "src/f" })).toBe('"src/f" is a file, not a folder. Read it instead.');
    await expect(callTool(tool, { path: ".." })).rejects.toMatchObject({ kind: "permissionDenied" });
  });

  it("lists a real folder of many folders", async () => {
    const fs = await realFs();
    for (let i = 0; i < 40; i++) {
      await fs.mkdir(`d${i}/e`, { recursive: true });
      await fs.writeFile(`d${i}/e/f`, "");
    }
    expect((await said(listTool(fs), {})).split("\n")).toHaveLength(121);
  });

  it("stops when the call is cancelled", async () => {
    await expect(listTool(memoryFs()).call({}, { signal: AbortSignal.abort() })).rejects.toMatchObject({
      kind: "cancelled",
    });
  });

  it("does not look deeper than a hundred levels", async () => {
    const deep = Array.from({ length: 150 }, (_, i) => `d${i}`);
    const tool = listTool(memoryFs({ [`${deep.join("/")}/leaf`]: "" }), { maxChars: 1_000_000 });
    const lines = (await said(tool, {})).split("\n");
    expect(lines.at(-1)?.trim()).toBe("d99/ (not looked into)");
    expect(await said(tool, { path: deep.slice(0, 100).join("/") })).toContain("leaf");
  });
});
