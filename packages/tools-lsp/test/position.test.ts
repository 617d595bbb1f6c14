import fc from "fast-check";
import { expect, test } from "vitest";
import { findSymbol, linesOf } from "../src/position.js";

test.each([
  ["let cat = concat(cat)", "cat", undefined, [0, 4]],
  ["concat()\ncat()", "cat", 1, [1, 0]], // a whole word near is better than a part of one here
  ["concat()", "cat", 1, [0, 3]],
  ["x\na.b.c()\nb", "a.b", 2, [1, 2]],
  ["std::move(x)", "std::move", 1, [0, 5]],
  ["'😀é' + é", "é", undefined, [0, 3]],
  ["日本語 = 1", "本", undefined, [0, 1]],
  ["a\r\nb\rneedle\nc", "needle", 1, [2, 0]],
  ["x", "y", 1, undefined],
  ["f()\nf()\nf()", "f", 3, [2, 0]],
  ["f()", "f", 900, [0, 0]],
])("in %j, %j near line %s is at %j", (text, symbol, line, place) => {
  const found = findSymbol(linesOf(text), symbol, line);
  expect(found && [found.line, found.character]).toEqual(place);
});

test("what is found is there", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "grapheme" }),
      fc.string({ minLength: 1 }),
      fc.string({ unit: "grapheme" }),
      (a, b, c) => {
        fc.pre(!/[\r\n]/.test(b));
        const lines = linesOf(a + b + c);
        const found = findSymbol(lines, b, 1);
        const line = lines[found?.line ?? -1] ?? "";
        const tails = [b, ...[".", "::", "->", "#"].map((mark) => b.slice(b.lastIndexOf(mark) + mark.length))];
        expect(tails.some((tail) => tail !== "" && line.startsWith(tail, found?.character))).toBe(true);
      },
    ),
  );
});
