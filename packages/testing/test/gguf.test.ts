import { expect, it } from "vitest";
import { tinyGguf } from "../src/index.js";

const text = (bytes: Uint8Array) => new TextDecoder("latin1").decode(bytes);

it("writes a GGUF file of version 3 whose tensor data begins and ends on a multiple of 32 bytes", () => {
  const bytes = tinyGguf();
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  expect(text(bytes.subarray(0, 4))).toBe("GGUF");
  expect(view.getUint32(4, true)).toBe(3);
  expect(view.getBigUint64(8, true)).toBe(12n);
  expect(bytes.length % 32).toBe(0);
});

it("is the same for the same options and another for another seed", () => {
  expect(tinyGguf({ seed: 7 })).toEqual(tinyGguf({ seed: 7 }));
  expect(tinyGguf({ seed: 7 })).not.toEqual(tinyGguf({ seed: 8 }));
});

it("holds the chat template and the pieces it is to say", () => {
  const file = text(tinyGguf({ chatTemplate: "{{ messages }}", says: ["Hello", " there"] }));
  expect(file).toContain("{{ messages }}");
  expect(file).toContain(" there");
});

it("refuses pieces that cannot be a token of their own", () => {
  expect(() => tinyGguf({ says: ["Hello", "."] })).toThrow('says[1] must have two characters or more; got "."');
  expect(() => tinyGguf({ says: ["ab", "cd", "ab"] })).toThrow('says[2] repeats "ab"');
});
