import { chmod, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { MemoryFileSystem } from "@shedkit/fs/memory";
import { NodeFileSystem } from "@shedkit/fs/node";
import { ToolCallManager } from "@shedkit/shed";
import { callTool } from "@shedkit/tool";
import { newSessionId } from "@shedkit/types";
import { describe, expect, test } from "vitest";
import { hashlineEditTool, hashlineReadTool } from "../src/index.js";
import { anchors, content, failed, said, tempFolder } from "./helpers.js";

const POEM = "one\ntwo\nthree\nfour\nfive\n";

function poem() {
  const fs = new MemoryFileSystem({ "a.txt": POEM });
  const edit = hashlineEditTool(fs);
  const run = async (...edits: object[]) => edit.call({ path: "a.txt", edits: edits as never });
  return { fs, edit, run, now: () => content(fs, "a.txt") };
}

describe("hashline_edit", () => {
  test("replaces a line, and says what it is called now", async () => {
    const { fs, edit, now } = poem();
    const [, two] = await anchors(fs, "a.txt");
    const text = await said(edit, { path: "a.txt", edits: [{ op: "replace", anchor: two, content: "zwei" }] });
    expect(await now()).toBe("one\nzwei\nthree\nfour\nfive\n");
    const [, zwei] = await anchors(fs, "a.txt");
    expect(text).toContain(`${zwei}→zwei`);
    expect(text).toContain("line 2: 1 replaced by 1");
  });

  test("replaces a range by more lines, or by fewer", async () => {
    const { fs, run, now } = poem();
    const [, two, three] = await anchors(fs, "a.txt");
    const more = await run({ op: "replace", anchor: two, end_anchor: three, content: "a\nb\nc\n" });
    expect(await now()).toBe("one\na\nb\nc\nfour\nfive\n");
    expect(more).toMatchObject({ edits: [{ line: 2, removed: 2, added: 3 }], totalLines: 6, created: false });
    const [, a, , c] = await anchors(fs, "a.txt");
    await run({ op: "replace", anchor: a, end_anchor: c, content: "x" });
    expect(await now()).toBe("one\nx\nfour\nfive\n");
  });

  test("deletes with an empty content, also all there is", async () => {
    const { fs, run, now } = poem();
    const [one, , three, , five] = await anchors(fs, "a.txt");
    await run({ op: "replace", anchor: three, content: "" });
    expect(await now()).toBe("one\ntwo\nfour\nfive\n");
    const [, , , last] = await anchors(fs, "a.txt");
    await run({ op: "replace", anchor: one, end_anchor: last, content: "" });
    expect(await now()).toBe("");
    expect(five).toBeDefined();
    await run({ op: "insert_after", anchor: "EOF", content: "again" });
    expect(await now()).toBe("again\n");
  });

  test("a content of one line end is an empty line", async () => {
    const { fs, run, now } = poem();
    const [, two] = await anchors(fs, "a.txt");
    await run({ op: "replace", anchor: two, content: "\n" });
    expect(await now()).toBe("one\n\nthree\nfour\nfive\n");
  });

  test.each(["0:", "0", " 0: "])("inserts at the start: %j", async (anchor) => {
    const { run, now } = poem();
    await run({ op: "insert_after", anchor, content: "zero" });
    expect(await now()).toBe(`zero\n${POEM}`);
  });

  test.each(["EOF", "eof"])("inserts at the end: %j", async (anchor) => {
    const { run, now } = poem();
    await run({ op: "insert_after", anchor, content: "six\nseven\n" });
    expect(await now()).toBe(`${POEM}six\nseven\n`);
  });

  test("makes several edits by the anchors of the file as it was, in whatever order they come", async () => {
    const { fs, run, now } = poem();
    const [one, two, three, four] = await anchors(fs, "a.txt");
    const output = await run(
      { op: "replace", anchor: four, content: "4" },
      { op: "insert_after", anchor: one, content: "1.5" },
      { op: "insert_after", anchor: one, content: "1.7" },
      { op: "replace", anchor: two, end_anchor: three, content: "" },
      { op: "insert_after", anchor: three, content: "3.5" },
    );
    expect(await now()).toBe("one\n1.5\n1.7\n3.5\n4\nfive\n");
    expect(output.edits.map(({ line }) => line)).toEqual([5, 2, 3, 4, 4]);
  });

  test("takes an anchor as it is shown, with the line, or in capitals", async () => {
    const { fs, run, now } = poem();
    const [one, two] = await anchors(fs, "a.txt");
    await run(
      { op: "replace", anchor: ` ${one}→one`, content: "1" },
      { op: "replace", anchor: two?.toUpperCase(), content: "2" },
    );
    expect(await now()).toBe("1\n2\nthree\nfour\nfive\n");
  });

  test("write makes a file with its folders, or replaces all of one", async () => {
    const { fs, edit, now } = poem();
    expect(await edit.call({ path: "x/y.txt", edits: [{ op: "write", content: "a\nb" }] })).toMatchObject({
      path: "x/y.txt",
      created: true,
      totalLines: 2,
    });
    expect(await content(fs, "x/y.txt")).toBe("a\nb");
    await edit.call({ path: "a.txt", edits: [{ op: "write", content: "new\n" }] });
    expect(await now()).toBe("new\n");
  });

  test("warns of large ranges", async () => {
    const fs = new MemoryFileSystem({ "a.txt": Array.from({ length: 40 }, (_, i) => `line ${i}\n`).join("") });
    const edit = hashlineEditTool(fs);
    const replaced = async (first: number, last: number) => {
      const all = await anchors(fs, "a.txt");
      const one = { op: "replace" as const, anchor: all[first - 1], end_anchor: all[last - 1], content: "x\ny" };
      return edit.call({ path: "a.txt", edits: [one] });
    };
    expect((await replaced(1, 5)).warnings).toEqual([]);
    expect((await replaced(1, 6)).warnings).toEqual([
      "Edit 1 replaced 6 lines (1 to 6). Make sure that all of them were to go.",
    ]);
    expect((await replaced(1, 20)).warnings[0]).toContain("were to go");
    expect((await replaced(1, 13)).warnings).toHaveLength(1);
    const rest = new MemoryFileSystem({ "a.txt": "x\n".repeat(30) });
    const all = await anchors(rest, "a.txt");
    const text = await said(hashlineEditTool(rest), {
      path: "a.txt",
      edits: [{ op: "replace", anchor: all[0], end_anchor: all[20], content: "" }],
    });
    expect(text).toContain("Edit 1 replaced 21 lines (1 to 21). That is a large part");
  });
});

describe("what hashline_edit refuses, changing nothing", () => {
  test("AnchorStale: the line says something else now", async () => {
    const { fs, edit, now } = poem();
    const [, two] = await anchors(fs, "a.txt");
    await fs.writeFile("a.txt", POEM.replace("two", "2"));
    const { detail, text } = await failed(edit, {
      path: "a.txt",
      edits: [{ op: "replace", anchor: two, content: "x" }],
    });
    expect(detail).toBe(`AnchorStale: ${two} in "a.txt"`);
    const [one, fresh] = await anchors(fs, "a.txt");
    expect(text).toContain("AnchorStale: Line 2 of");
    expect(text).toContain(`${one}→one\n${fresh}→2\n`);
    expect(await now()).toBe(POEM.replace("two", "2"));
  });

  test("AnchorStale: the line has moved, and where to", async () => {
    const { fs, edit } = poem();
    const [, two] = await anchors(fs, "a.txt");
    await fs.writeFile("a.txt", `a\nb\nc\n${POEM}`);
    const { detail, text } = await failed(edit, {
      path: "a.txt",
      edits: [{ op: "insert_after", anchor: two, content: "x" }],
    });
    expect(detail).toMatch(/^AnchorStale/);
    const moved = (await anchors(fs, "a.txt"))[4];
    expect(moved?.split(":")[1]).toBe(two?.split(":")[1]);
    expect(text).toContain(`The line has moved: it is ${moved} now.`);
    expect(text).toContain(`${moved}→two`);
  });

  test("AnchorNotFound: there is no such line", async () => {
    const { fs, edit } = poem();
    const [last] = (await anchors(fs, "a.txt")).slice(-1);
    await fs.writeFile("a.txt", "one\n");
    const { detail, text } = await failed(edit, {
      path: "a.txt",
      edits: [{ op: "replace", anchor: last, content: "x" }],
    });
    expect(detail).toMatch(/^AnchorNotFound/);
    expect(text).toContain("has no line 5: it has 1 line.");
    expect(text).toContain("→one");
  });

  test("AmbiguousAnchor: several lines could be meant", async () => {
    const fs = new MemoryFileSystem({ "a.txt": Array.from({ length: 4000 }, (_, i) => `line ${i}\n`).join("") });
    const all = (await anchors(fs, "a.txt")).map((anchor) => anchor.slice(0, -1)); // two letters are shared by many
    const counts = new Map<string, number>();
    for (const anchor of all) {
      const hash = anchor.split(":")[1] ?? "";
      counts.set(hash, (counts.get(hash) ?? 0) + 1);
    }
    const wrong = [...counts].find(([hash, n]) => n > 2 && !all[0]?.endsWith(hash))?.[0];
    const { detail, text } = await failed(hashlineEditTool(fs), {
      path: "a.txt",
      edits: [{ op: "replace", anchor: `1:${wrong}`, content: "x" }],
    });
    expect(detail).toMatch(/^AmbiguousAnchor/);
    expect(text).toContain(`${counts.get(wrong ?? "")} lines have that hash. The nearest:`);
  });

  test("OverlappingEdits: of ranges, of an insert within one, of write beside others", async () => {
    const { fs, edit, now } = poem();
    const [one, two, three, four] = await anchors(fs, "a.txt");
    for (const edits of [
      [
        { op: "replace", anchor: two, end_anchor: three, content: "x" },
        { op: "replace", anchor: three, end_anchor: four, content: "y" },
      ],
      [
        { op: "insert_after", anchor: two, content: "y" },
        { op: "replace", anchor: two, end_anchor: three, content: "x" },
      ],
      [
        { op: "replace", anchor: one, content: "x" },
        { op: "write", content: "y" },
      ],
    ]) {
      expect((await failed(edit, { path: "a.txt", edits })).detail).toMatch(/^OverlappingEdits/);
      expect(await now()).toBe(POEM);
    }
  });

  test.each([
    [{ op: "replace", content: "x" }, "no anchor"],
    [{ op: "replace", anchor: "", content: "x" }, "no anchor"],
    [{ op: "replace", anchor: "two", content: "x" }, "is no anchor"],
    [{ op: "replace", anchor: "2:a", content: "x" }, "is no anchor"],
    [{ op: "replace", anchor: "EOF", content: "x" }, "is no anchor"],
    [{ op: "replace", anchor: "0:", content: "x" }, "is no anchor"],
    [{ op: "insert_after", anchor: "EOF", content: "" }, "nothing to insert"],
  ])("InvalidInput: %j", async (one, why) => {
    const { edit, now } = poem();
    const { detail, text } = await failed(edit, { path: "a.txt", edits: [one] });
    expect(detail).toMatch(/^InvalidInput/);
    expect(text).toContain(why);
    expect(await now()).toBe(POEM);
  });

  test("InvalidInput: a range that ends before it begins, and what is there already", async () => {
    const { fs, edit } = poem();
    const [one, two] = await anchors(fs, "a.txt");
    const back = { op: "replace", anchor: two, end_anchor: one, content: "x" };
    expect((await failed(edit, { path: "a.txt", edits: [back] })).text).toContain("before it begins");
    const same = { op: "replace", anchor: two, content: "two" };
    expect((await failed(edit, { path: "a.txt", edits: [same] })).text).toContain("says that already");
  });

  test("InvalidInput: lines with the anchors copied into them, but not lines that only look so", async () => {
    const { fs, edit, now } = poem();
    const [one, two] = await anchors(fs, "a.txt");
    const copied = { op: "replace", anchor: one, end_anchor: two, content: `${one}→ONE\n${two}→TWO\n` };
    expect((await failed(edit, { path: "a.txt", edits: [copied] })).text).toContain("anchors of lines in it");
    const alike = { op: "replace", anchor: one, end_anchor: two, content: "1:zzz→ONE" };
    await said(edit, { path: "a.txt", edits: [alike] });
    expect(await now()).toBe("1:zzz→ONE\nthree\nfour\nfive\n");
  });

  test("all edits where one is wrong, telling of each that is", async () => {
    const { fs, edit, now } = poem();
    const [one] = await anchors(fs, "a.txt");
    const { text } = await failed(edit, {
      path: "a.txt",
      edits: [
        { op: "replace", anchor: one, content: "x" },
        { op: "replace", anchor: "2:zzzzzzzz", content: "x" },
        { op: "replace", anchor: "99:zzzzzzzz", content: "x" },
      ],
    });
    expect(text).toContain("AnchorStale: Line 2");
    expect(text).toContain('AnchorNotFound: "a.txt" has no line 99');
    expect(text).toContain("Nothing was changed.");
    expect(await now()).toBe(POEM);
  });

  test("FileNotFound, with what may be meant", async () => {
    const { edit } = poem();
    const { detail, text } = await failed(edit, {
      path: "A.txt",
      edits: [{ op: "insert_after", anchor: "EOF", content: "x" }],
    });
    expect(detail).toBe('FileNotFound: "A.txt"');
    expect(text).toContain('Did you mean "a.txt"?');
  });

  test("write on a file that something else changed since it was read, also after an edit of other lines", async () => {
    const { fs, edit, now } = poem();
    await hashlineReadTool(fs).call({ path: "a.txt" });
    const [one] = await anchors(fs, "a.txt");
    const theirs = POEM.replace("five", "5");
    await fs.writeFile("a.txt", theirs);
    // The line is as it was seen: this may go on, and keeps what the others did.
    await said(edit, { path: "a.txt", edits: [{ op: "replace", anchor: one, content: "1" }] });
    expect(await now()).toBe(theirs.replace("one", "1"));
    const { text } = await failed(edit, { path: "a.txt", edits: [{ op: "write", content: "mine" }] });
    expect(text).toContain("was changed by something else");
    await hashlineReadTool(fs).call({ path: "a.txt" });
    await said(edit, { path: "a.txt", edits: [{ op: "write", content: "mine" }] });
    expect(await now()).toBe("mine");
  });

  test("files that a .gitignore names, where it is to keep to these, and files that were not read", async () => {
    const fs = new MemoryFileSystem({ ".gitignore": "*.log\n", "a.log": "x\n", "b.txt": "x\n" });
    const edit = hashlineEditTool(fs, { gitignore: true, readFirst: true });
    const insert = { op: "insert_after", anchor: "EOF", content: "y" };
    expect((await failed(edit, { path: "a.log", edits: [insert] })).text).toContain(".gitignore");
    expect((await failed(edit, { path: "b.txt", edits: [{ op: "write", content: "y" }] })).text).toContain("read");
  });
});

describe("the bytes of a file", () => {
  const cases: [string, string, string][] = [
    ["CRLF", "a\r\nb\r\n", "a\r\nX\r\nY\r\n"],
    ["mixed ends", "a\n\r\nb\r\nc\n", "a\n\r\nX\r\nY\r\nc\n"],
    ["no end at the end", "a\nb", "a\nX\nY"],
    ["CRLF without an end at the end", "a\r\nb", "a\r\nX\r\nY"],
    ["a byte order mark", "\ufeffa\nb\n", "\ufeffa\nX\nY\n"],
  ];
  test.each(cases)("keep their form: %s", async (_, before, after) => {
    const fs = new MemoryFileSystem({ "a.txt": before });
    const all = await anchors(fs, "a.txt");
    const b = all[before.includes("\n\r\n") ? 2 : 1];
    await said(hashlineEditTool(fs), { path: "a.txt", edits: [{ op: "replace", anchor: b, content: "X\nY\n" }] });
    expect(await content(fs, "a.txt")).toBe(after);
  });

  test("keep UTF-16, and what is not UTF-8", async () => {
    const utf16 = new Uint8Array([0xff, 0xfe, 0x61, 0, 0x0a, 0, 0xe9, 0, 0x0a, 0]);
    const latin = new Uint8Array([0x61, 0x0a, 0xe9, 0x0a]);
    const fs = new MemoryFileSystem({ "u.txt": utf16, "l.txt": latin });
    const edit = hashlineEditTool(fs);
    for (const path of ["u.txt", "l.txt"]) {
      const [a] = await anchors(fs, path);
      await said(edit, { path, edits: [{ op: "replace", anchor: a, content: "b" }] });
    }
    expect([...(await fs.readFile("u.txt"))]).toEqual([0xff, 0xfe, 0x62, 0, 0x0a, 0, 0xe9, 0, 0x0a, 0]);
    expect([...(await fs.readFile("l.txt"))]).toEqual([0x62, 0x0a, 0xe9, 0x0a]);
    const euro = { op: "insert_after", anchor: "EOF", content: "→" };
    expect((await failed(edit, { path: "l.txt", edits: [euro] })).text).toContain("which has no");
  });

  test("are not lost where they are no text", async () => {
    const fs = new MemoryFileSystem({ "u.txt": new Uint8Array([0xff, 0xfe, 0x00, 0xd8, 0x0a, 0, 0x61, 0, 0x0a, 0]) });
    const edit = hashlineEditTool(fs);
    const read = await said(hashlineReadTool(fs), { path: "u.txt" });
    expect(read).toContain("→\ufffd\n");
    expect(read).toContain("are no text and are shown as \ufffd");
    const [half, a] = await anchors(fs, "u.txt");
    const lost = { op: "replace", anchor: half, content: "\ufffd!" };
    expect((await failed(edit, { path: "u.txt", edits: [lost] })).detail).toMatch(/^InvalidInput/);
    await said(edit, { path: "u.txt", edits: [{ op: "replace", anchor: a, content: "b" }] });
    expect([...(await fs.readFile("u.txt"))]).toEqual([0xff, 0xfe, 0x00, 0xd8, 0x0a, 0, 0x62, 0, 0x0a, 0]);
  });

  test("a line is added after one without an end, and takes that of the others", async () => {
    const fs = new MemoryFileSystem({ "a.txt": "a\r\nb", "b.txt": "a" });
    const edit = hashlineEditTool(fs);
    const insert = (text: string) => [{ op: "insert_after", anchor: "EOF", content: text }];
    await said(edit, { path: "a.txt", edits: insert("c") });
    expect(await content(fs, "a.txt")).toBe("a\r\nb\r\nc");
    await said(edit, { path: "b.txt", edits: insert("\n") });
    expect(await content(fs, "b.txt")).toBe("a\n\n");
  });

  test("keep the file's mode and links", async () => {
    const folder = await tempFolder();
    await writeFile(join(folder, "run.sh"), "a\nb\n");
    await chmod(join(folder, "run.sh"), 0o750);
    await symlink("run.sh", join(folder, "link.sh"));
    const fs = new NodeFileSystem(folder);
    const [a] = await anchors(fs, "link.sh");
    await said(hashlineEditTool(fs), { path: "link.sh", edits: [{ op: "replace", anchor: a, content: "x" }] });
    expect(await readFile(join(folder, "run.sh"), "utf8")).toBe("x\nb\n");
    expect((await stat(join(folder, "run.sh"))).mode & 0o777).toBe(0o750);
  });
});

describe("an attacker", () => {
  test("gets nowhere outside the root, by .. or links", async () => {
    const outside = await tempFolder();
    await writeFile(join(outside, "secret.txt"), "secret\n");
    const folder = await tempFolder();
    await symlink(outside, join(folder, "out"));
    const fs = new NodeFileSystem(folder);
    const insert = [{ op: "insert_after", anchor: "EOF", content: "x" }];
    for (const path of ["out/secret.txt", `${outside}/secret.txt`, "../x.txt", "/etc/passwd"]) {
      for (const edits of [insert, [{ op: "write", content: "x" }]]) {
        const call = callTool(hashlineEditTool(fs), { path, edits });
        await expect(call).rejects.toMatchObject({ kind: "permissionDenied" });
      }
      await expect(callTool(hashlineReadTool(fs), { path })).rejects.toMatchObject({ kind: "permissionDenied" });
    }
    for (const edits of [insert, [{ op: "write", content: "x" }]])
      await callTool(hashlineEditTool(fs), { path: "out/new.txt", edits }).catch(() => {});
    expect(await readdir(outside)).toEqual(["secret.txt"]);
    expect(await readFile(join(outside, "secret.txt"), "utf8")).toBe("secret\n");
  });

  test("cannot pass a line of a file off as an anchor", async () => {
    const fs = new MemoryFileSystem({ "a.txt": "one\n1:abc→x\r9:abc→y\u20289:abd→z\n" });
    for (const anchor of ["1:abc", "9:abc", "9:abd"]) {
      const { detail } = await failed(hashlineEditTool(fs), {
        path: "a.txt",
        edits: [{ op: "replace", anchor, content: "" }],
      });
      expect(detail).toMatch(/^Anchor(Stale|NotFound)/);
    }
  });

  test("cannot make it slow with many wrong anchors, or long ones", { timeout: 60_000 }, async () => {
    const fs = new MemoryFileSystem({ "a.txt": "x\n".repeat(100_000) });
    const edits = Array.from({ length: 20_000 }, (_, i) => ({
      op: "replace",
      anchor: `${i + 1}:zzzzzzzz`,
      content: "",
    }));
    const { text } = await failed(hashlineEditTool(fs), { path: "a.txt", edits });
    expect(text.length).toBeLessThan(10_000);
    const long = { op: "replace", anchor: "1".repeat(1_000_000), content: "\r".repeat(1_000_000) };
    expect((await failed(hashlineEditTool(fs), { path: "a.txt", edits: [long] })).text.length).toBeLessThan(1000);
  });

  test("cannot edit what is no text, a folder, or a path that is none", async () => {
    const fs = new MemoryFileSystem({ "a.bin": new Uint8Array([1, 0, 2]), "d/x": "" });
    const edits = [{ op: "insert_after", anchor: "0:", content: "x" }];
    expect((await failed(hashlineEditTool(fs), { path: "a.bin", edits })).text).toContain("not a text file");
    expect((await failed(hashlineEditTool(fs), { path: "d", edits })).text).toContain("is a folder");
    for (const path of ["a\0b", "x".repeat(300)])
      expect((await failed(hashlineEditTool(fs), { path, edits })).detail).toMatch(/^InvalidInput/);
  });
});

test("the host is told of every change, with the text before and after", async () => {
  const fs = new MemoryFileSystem({ "a.txt": "one\n" });
  const [one] = await anchors(fs, "a.txt");
  const tools = new ToolCallManager(newSessionId());
  tools.register(hashlineEditTool(fs));
  const told: unknown[] = [];
  tools.onNotify(({ name, data }) => told.push([name, data]));
  const run = (edits: object[]) =>
    tools.executeOne({ id: "1", name: "hashline_edit", arguments: { path: "a.txt", edits } as never });
  await run([{ op: "replace", anchor: one, content: "1" }]);
  await run([{ op: "replace", anchor: one, content: "2" }]); // refused
  await run([{ op: "write", content: "x\n" }]);
  expect(told).toEqual([
    ["fileChanged", { path: "a.txt", change: "changed", before: "one\n", after: "1\n" }],
    ["fileChanged", { path: "a.txt", change: "changed", before: "1\n", after: "x\n" }],
  ]);
});

describe("at the same time", () => {
  test("edits of one file come one after the other, and none is lost", async () => {
    const fs = new NodeFileSystem(await tempFolder());
    await fs.writeFile("a.txt", Array.from({ length: 20 }, (_, i) => `line ${i}\n`).join(""));
    const all = await anchors(fs, "a.txt");
    const edit = hashlineEditTool(fs);
    await Promise.all(
      all.map((anchor, i) => edit.call({ path: "a.txt", edits: [{ op: "replace", anchor, content: `new ${i}` }] })),
    );
    expect(await content(fs, "a.txt")).toBe(Array.from({ length: 20 }, (_, i) => `new ${i}\n`).join(""));
  });

  test("a call that is aborted changes nothing", async () => {
    const { fs, edit, now } = poem();
    const [one] = await anchors(fs, "a.txt");
    const args = { path: "a.txt", edits: [{ op: "replace" as const, anchor: one, content: "x" }] };
    const call = callTool(edit, args, { signal: AbortSignal.abort() });
    await expect(call).rejects.toMatchObject({ kind: "cancelled" });
    expect(await now()).toBe(POEM);
  });
});
