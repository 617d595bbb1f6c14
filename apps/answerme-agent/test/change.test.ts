import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { changeLines, difference } from "../src/change.js";

const shown = (lines: readonly { sign: string; text: string }[]) => lines.map(({ sign, text }) => `${sign}${text}`);

describe("a change shown before it is made", () => {
  it("of an edit shows what goes, what comes, and a little around it", () => {
    const args = { path: "config.ini", old_string: "a\nb\nport=1\nz", new_string: "a\nb\nport=2\nz" };
    expect(shown(changeLines("edit", args))).toEqual(["@edit config.ini", " a", " b", "-port=1", "+port=2", " z"]);
  });

  it("of a write shows the text, and counts what is too long to show", () => {
    const content = Array.from({ length: 50 }, (_, i) => `line ${i}\n`).join("");
    const lines = shown(changeLines("write", { path: "a.txt", content }));
    expect(lines.slice(0, 3)).toEqual(["@write a.txt", "+line 0", "+line 1"]);
    expect(lines.at(-1)).toBe("@... and 10 lines more");
  });

  it("of a write over a file shows what differs", () => {
    const args = { path: "a.txt", content: "a\nb\nC\n" };
    expect(shown(changeLines("write", args, "a\nb\nc\n"))).toEqual(["@write a.txt", " a", " b", "-c", "+C"]);
  });

  it("of several edits shows each under its file", () => {
    const edits = [
      { path: "a.txt", old_string: "1", new_string: "2" },
      { path: "b.txt", old_string: "3", new_string: "" },
    ];
    expect(shown(changeLines("multi_edit", { edits }))).toEqual([
      "@multi_edit a.txt",
      "-1",
      "+2",
      "@multi_edit b.txt",
      "-3",
    ]);
  });

  it("of a patch, a command, a move and a removal shows what is asked for", () => {
    const patch = "*** Update File: a\n@@\n-x\n+y\n z";
    expect(shown(changeLines("apply_patch", { patch }))).toEqual([
      "@apply_patch",
      "@*** Update File: a",
      "@@@",
      "-x",
      "+y",
      " z",
    ]);
    expect(shown(changeLines("bash", { command: "cd a &&\nmake" }))).toEqual(["@bash", " cd a &&", " make"]);
    expect(shown(changeLines("move", { from: "a", to: "b" }))).toEqual(["@move a to b"]);
    expect(shown(changeLines("delete", { path: "a" }))).toEqual(["@delete a"]);
  });

  it("of another tool shows the arguments", () => {
    expect(shown(changeLines("clock__set", { hour: 3, note: "one\ntwo" }))).toEqual([
      "@clock__set",
      " hour: 3",
      " note: one",
      "   two",
    ]);
  });

  it("holds all the lines that differ", () => {
    const text = fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 8 });
    fc.assert(
      fc.property(text, text, (a, b) => {
        const lines = difference(a.join("\n"), b.join("\n"));
        const removed = lines.filter((line) => line.sign === "-").length;
        const added = lines.filter((line) => line.sign === "+").length;
        expect(added - removed).toBe(b.length - a.length);
        if (a.join("\n") === b.join("\n")) expect(removed).toBe(0);
      }),
    );
  });
});
