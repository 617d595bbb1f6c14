import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type EditParams, editTool } from "../src/index.js";
import { content, failed, memoryFs, said } from "./helpers.js";

async function edited(before: string, old_string: string, new_string: string, params?: Partial<EditParams>) {
  const fs = memoryFs({ f: before });
  const output = await editTool(fs, params).call({ path: "f", old_string, new_string });
  return { text: await content(fs, "f"), matched: output.matched };
}

describe("edit of lines that are indented otherwise", () => {
  it("finds them where there is one such place, and indents the new text as the file is", async () => {
    const file = "class A {\n    run() {\n        go();\n    }\n}\n";
    expect(await edited(file, "run() {\n    go();\n}", "run() {\n    if (x) {\n        go();\n    }\n}")).toEqual({
      text: "class A {\n    run() {\n        if (x) {\n            go();\n        }\n    }\n}\n",
      matched: "indentation",
    });
  });

  it("turns spaces into the file's tabs", async () => {
    const { text } = await edited(
      "f() {\n\ta();\n\tif (b) {\n\t\tc();\n\t}\n}\n",
      "    a();\n    if (b) {\n        c();",
      "    a();\n    if (b) {\n        if (d) {\n            c();\n        }",
    );
    expect(text).toBe("f() {\n\ta();\n\tif (b) {\n\t\tif (d) {\n\t\t\tc();\n\t\t}\n\t}\n}\n");
  });

  it("takes less indentation away, and keeps CRLFs", async () => {
    const { text } = await edited("a:\r\n  b:\r\n    c: 1\r\n", "    b:\n      c: 1", "    b:\n      c: 2\n    d: 3");
    expect(text).toBe("a:\r\n  b:\r\n    c: 2\r\n  d: 3\r\n");
  });

  it("does not mind spaces at the ends of lines", async () => {
    const { text } = await edited("a  \nb\t\nc\n", "a\nb\n", "x\n");
    expect(text).toBe("x\nc\n");
  });

  it("says so in its answer", async () => {
    const tool = editTool(memoryFs({ f: "\tone\n\ttwo\n" }));
    expect(await said(tool, { path: "f", old_string: "  one\n  two", new_string: "  1\n  2" })).toBe(
      'Edited "f": 1 replacement, line 1. White space at the ends of lines differed; the new text was indented as the file is.\n' +
        "What is there now:\n1→\t1\n\t2",
    );
  });

  it("finds those that begin with an empty line at the start of a file", async () => {
    expect((await edited("\n  a\nb\n", "\n    a\n", "\n    c\n")).text).toBe("\n  c\nb\n");
  });

  it("changes nothing where there are more such places, or it is not clear how to indent", async () => {
    const two = editTool(memoryFs({ f: "\ta\n\tb\n\n  a\n  b\n" }));
    expect(await failed(two, { path: "f", old_string: "    a\n    b", new_string: "x" })).toContain(
      "With other white space at the ends of lines it stands at lines 1 and 4.",
    );
    const unclear = editTool(memoryFs({ f: "a\n  b\nc\n" }));
    expect(await failed(unclear, { path: "f", old_string: "  a\n  b\n  c", new_string: "x" })).toContain(
      "At line 1 it stands with other white space at the ends of lines.",
    );
  });

  it("only explains where the setting is off", async () => {
    const tool = editTool(memoryFs({ f: "x\n\ta\n\tb\n" }), { matchIndentation: false });
    expect(await failed(tool, { path: "f", old_string: "  a\n  b", new_string: "y" })).toContain("At line 2 it stands");
  });

  it("prefers the place that is exact", async () => {
    expect(await edited("  a\n  b\n    a\n    b\n", "    a\n    b", "    x")).toEqual({
      text: "  a\n  b\n    x\n",
      matched: "exactly",
    });
  });

  it("gives back any block that is indented by as much more", async () => {
    const line = fc
      .tuple(fc.integer({ min: 0, max: 3 }), fc.constantFrom("alpha", "beta(x)", "}", ""))
      .map(([n, word]) => "  ".repeat(n) + word);
    const block = fc.array(line, { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(block, block, fc.constantFrom("  ", "\t", "      "), async (old, next, more) => {
        const shown = [...old, "unique"].join("\n");
        const wanted = [...next, "unique too"].join("\n");
        const deeper = (text: string) => text.replace(/^(?=.*\S)/gm, more);
        fc.pre(!deeper(shown).includes(shown) && shown.split("\n")[0]?.trim() !== "");
        // Deeper lines than any known one have no indentation to go by but the spaces they have.
        const { text } = await edited(`head\n${deeper(shown)}\ntail\n`, shown, wanted);
        expect(text).toBe(`head\n${deeper(wanted)}\ntail\n`);
      }),
    );
  });
});

describe("edit of characters that look alike", () => {
  const file = "She said: “don’t — wait…”\n";

  it("explains the difference, with the text to copy", async () => {
    const text = await failed(editTool(memoryFs({ f: file })), {
      path: "f",
      old_string: `"don't -- wait..."`,
      new_string: "x",
    });
    expect(text).toContain('At line 1 it stands with characters that look the same: ’ (U+2019) for "\'"');
    expect(text).toContain('Copy it from there: "“don’t — wait…”".');
  });

  it("takes them where told to, and keeps the file's characters where nothing changes", async () => {
    const on = { matchLookalikes: true };
    expect(await edited(file, `"don't -- wait..."`, `"don't -- go..."`, on)).toEqual({
      text: "She said: “don’t — go…”\n",
      matched: "lookalikes",
    });
    expect((await edited("a\u00a0b", "a b", "a c", on)).text).toBe("a\u00a0c");
    expect((await edited("a b", "a\u00a0b", "c", on)).text).toBe("c");
    expect((await edited("don’t don't", "don't", "x", on)).matched).toBe("exactly");
  });

  it.each(["00AD", "061C", "200B", "200E", "200F", "202A", "202E", "2060", "2066", "2069"])(
    "knows U+%s, which is not seen",
    async (code) => {
      const sign = String.fromCodePoint(Number.parseInt(code, 16));
      const args = { path: "f", old_string: "if (admin) {", new_string: "x" };
      const text = await failed(editTool(memoryFs({ f: `if (${sign}admin) {\n` })), args);
      expect(text).toContain(`(U+${code}) for ""`);
      expect(text).toContain(`Copy it from there: ${JSON.stringify(`if (${sign}admin) {`)}.`);
      const on = { matchLookalikes: true };
      expect((await edited(`if (${sign}admin) {\n`, "if (admin) {", "if (user) {", on)).matched).toBe("lookalikes");
    },
  );

  it("never takes half of a character's plain form, nor one of several places", async () => {
    const on = editTool(memoryFs({ f: "a—b", g: "x’ x’" }), { matchLookalikes: true });
    expect(await failed(on, { path: "f", old_string: "a-", new_string: "y" })).toContain("does not stand");
    expect(await failed(on, { path: "g", old_string: "x'", new_string: "y" })).toContain("it stands at lines 1 and 1");
  });
});

describe("an edit of a text that is not found is told", () => {
  it.each([
    ["one\r\ntwo\r\n", "one\\ntwo", "with real line ends"],
    ["one\r\ntwo\r\n", "1→one\ntwo", "without the line numbers"],
    ["un cre\u0300me\n", "cr\u00e8me", "with accents that are composed otherwise"],
  ])("of %j for %j: %s", async (file, old_string, hint) => {
    const text = await failed(editTool(memoryFs({ f: file })), { path: "f", old_string, new_string: "x" });
    expect(text).toContain(hint);
  });
});
