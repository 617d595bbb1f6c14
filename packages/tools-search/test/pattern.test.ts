import fc from "fast-check";
import { RE2JS } from "re2js";
import { describe, expect, it } from "vitest";
import { globOf } from "../src/glob.js";
import { matcherOf } from "../src/pattern.js";

describe("matchers", () => {
  it("agree with RE2, whichever engine they use", () => {
    const piece = fc.constantFrom(
      ..."a b A ä . * + ? | ( ) (?: ^ $ \\b \\w \\d [ab] [^a] \\. \\s \\W {2} {1,2} ab é".split(" "),
      " ",
    );
    const text = fc.array(fc.constantFrom(..."aabbAÄäé.19_ \r\u2028".split("")), { maxLength: 12 });
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 7 }), text, fc.boolean(), (pieces, letters, ignoreCase) => {
        const source = pieces.join("");
        const line = letters.join("");
        let expected: RE2JS;
        try {
          expected = RE2JS.compile(source, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
        } catch {
          expect(() => matcherOf(source, ignoreCase)).toThrow();
          return;
        }
        const matcher = expected.matcher(line);
        const at = matcher.find() ? matcher.start() : -1;
        const own = matcherOf(source, ignoreCase);
        expect(own.at(line)).toBe(at);
        if (at >= 0 && own.required !== undefined) expect(line.toLowerCase()).toContain(own.required.toLowerCase());
      }),
      { numRuns: 3000 },
    );
  });

  it.each([
    ["foo", "foo"],
    ["foo\\.bar\\(", "foo.bar("],
    ["^\\w+ = fo*barss$", "barss"],
    ["a|b", undefined],
    ["(foo)", undefined],
    ["(?i)foo", undefined],
    ["\\s+", undefined],
    ["x?", undefined],
  ])("know what %j needs", (source, required) => expect(matcherOf(source, false).required).toBe(required));
});

describe("globs", () => {
  it.each([
    ["*.ts", ["a.ts", "b/c.ts"], ["a.tsx", "ts"]],
    ["src/*.ts", ["src/a.ts"], ["src/b/a.ts", "x/src/a.ts"]],
    ["./src/**", ["src/a", "src/b/c"], ["a"]],
    ["**/test/**/*.{js,mjs}", ["test/a.js", "x/test/y/b.mjs"], ["test/a.ts"]],
    ["!a", ["!a"], ["a", "b"]],
    ["#a", ["#a"], ["a"]],
    ["{a,b}{c,d}", ["ac", "bd"], ["ab"]],
    ["[ab].c", ["a.c"], ["c.c"]],
  ])("%s", (glob, fits, doesNot) => {
    const test = globOf(glob);
    expect(fits.filter((path) => !test(path))).toEqual([]);
    expect(doesNot.filter((path) => test(path))).toEqual([]);
  });
});
