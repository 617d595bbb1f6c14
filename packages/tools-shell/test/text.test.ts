import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cleanOutput, OutputStream } from "../src/text.js";

describe("output", () => {
  it.each([
    ["\u001b[31mred\u001b[0m", "red"],
    ["\u001b[38;2;1;2;3mx\u001b[?25l\u001b(B", "x"],
    ["a\u001b]0;title\u0007b\u001b]8;;http://x\u001b\\c", "abc"],
    ["a\u001b]never closed\nb", "a\nb"],
    ["1%\r2%\r100%\r\nnext\r\n", "100%\nnext\n"],
    ["N\bNA\bA", "NA"],
    ["a\u0000b\u0007\u202ec\u200bd\te", "abcd\te"],
    ["👩‍👩‍👧 é", "👩‍👩‍👧 é"],
  ])("of %j is %j", (raw, clean) => expect(cleanOutput(raw)).toBe(clean));

  it("that comes in pieces is the same, wherever it was cut", () => {
    const piece = fc.constantFrom("a", "ä", "😀", "\n", "\r\n", "\u001b[1m", "\u001b]0;t\u0007", "\t");
    fc.assert(
      fc.property(fc.array(piece), fc.array(fc.nat({ max: 40 })), (pieces, cuts) => {
        const bytes = new TextEncoder().encode(pieces.join(""));
        const stream = new OutputStream();
        let text = "";
        let at = 0;
        for (const cut of [...cuts, bytes.length]) {
          text += stream.push(bytes.subarray(at, at + cut));
          at += cut;
        }
        expect(text + stream.end()).toBe(cleanOutput(pieces.join("")));
      }),
    );
  });

  it("takes time in proportion to its length", () => {
    const began = performance.now();
    cleanOutput(`\r${"a".repeat(1_000_000)}\u001b[${"1".repeat(1_000_000)}`);
    cleanOutput("\u001b]".repeat(500_000));
    expect(performance.now() - began).toBeLessThan(10_000);
  });
});
