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

  it("of another tool shows the arguments", () => {
    expect(shown(changeLines("move", { from: "a", to: "b" }))).toEqual(['@move {"from":"a","to":"b"}']);
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
