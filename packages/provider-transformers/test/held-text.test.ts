import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cutText } from "../src/cut-character.js";
import { tokenSampler } from "../src/sampling.js";
import { TokenBytes } from "../src/token-bytes.js";

describe("bytes that end inside a character", () => {
  it("are the text before it, and a range that holds what it becomes", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary" }),
        fc.integer({ min: 0x80, max: 0x10ffff }),
        fc.nat(2),
        (before, code, cut) => {
          if (code >= 0xd800 && code <= 0xdfff) return;
          const char = new TextEncoder().encode(String.fromCodePoint(code));
          const length = 1 + (cut % (char.length - 1));
          const found = cutText(Uint8Array.from([...new TextEncoder().encode(before), ...char.subarray(0, length)]));
          expect(found?.text).toBe(before);
          const [low, high] = found?.becomes ?? [1, 0];
          expect(low <= code && code <= high).toBe(true);
          // All that the range holds begins with these bytes.
          for (const end of [low, high].filter((one) => one < 0xd800 || one > 0xdfff)) {
            expect([...new TextEncoder().encode(String.fromCodePoint(end))].slice(0, length)).toEqual([
              ...char.subarray(0, length),
            ]);
          }
        },
      ),
    );
  });

  it.each([
    ["nothing", []],
    ["a whole text", [0x61, 0xc3, 0xa9]],
    ["a byte that continues nothing", [0x61, 0x80]],
    ["two beginnings", [0xe4, 0xe4]],
    ["a character that is too long for itself", [0xe0, 0x80]],
    ["half a pair", [0xed, 0xa0]],
    ["beyond the last character", [0xf4, 0x90]],
    ["what no text has", [0xff]],
  ])("are none: %s", (_, bytes) => {
    expect(cutText(Uint8Array.from(bytes))).toBeUndefined();
  });
});

describe("the bytes of tokens", () => {
  it("of byte-level vocabularies are those that their characters stand for", () => {
    const vocab = { a: 0, Ġ: 1, Ã: 2, "©": 3, Ċ: 4 };
    const tokens = new TokenBytes({ model: { vocab }, decoder: { type: "ByteLevel" } });
    expect([tokens.exact, tokens.of([0, 1, 2, 3, 4])]).toEqual([true, Uint8Array.of(0x61, 0x20, 0xc3, 0xa9, 0x0a)]);
    expect(tokens.of([9])).toBeUndefined();
  });

  it("of others are their text, or the byte that they name", () => {
    const vocab = [
      ["<0xE4>", 0],
      ["é", -1],
    ] as const;
    const tokens = new TokenBytes({ model: { vocab }, decoder: { type: "Sequence" } });
    expect([tokens.exact, tokens.of([0, 1])]).toEqual([false, Uint8Array.of(0xe4, 0xc3, 0xa9)]);
  });
});

describe("the sampler", () => {
  const scores = () => Float32Array.from({ length: 500 }, (_, i) => -i);

  it("takes the likeliest of those that are allowed, however unlikely, or none", () => {
    const greedy = tokenSampler({}, 1);
    expect(greedy(scores(), [])).toBe(0);
    expect(greedy(scores(), [], (token) => token > 5)).toBe(6);
    expect(greedy(scores(), [], (token) => token === 400)).toBe(400);
    expect(greedy(scores(), [], () => false)).toBeUndefined();
  });

  it("asks about few", () => {
    let asked = 0;
    tokenSampler({ temperature: 1 }, 1)(scores(), [], (token) => {
      asked++;
      return token % 2 === 0;
    });
    expect(asked).toBeLessThanOrEqual(64);
  });

  it("never takes what is not allowed, at any heat", () => {
    const sample = tokenSampler({ temperature: 50, topK: 0, topP: 1 }, 7);
    for (let i = 0; i < 50; i++) expect((sample(scores(), [], (token) => token % 7 === 3) ?? 0) % 7).toBe(3);
  });
});
