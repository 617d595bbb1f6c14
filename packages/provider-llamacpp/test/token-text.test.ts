import fc from "fast-check";
import { getLlama } from "node-llama-cpp";
import { expect, it } from "vitest";
import { TokenText } from "../src/token-text.js";
import { tinyModel } from "./helpers.js";

it("never shows half a character, and loses none", async () => {
  const llama = await getLlama({ gpu: false, build: "never", logger: () => undefined });
  const model = await llama.loadModel({ modelPath: tinyModel() });
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 20 }), fc.constantFrom([], undefined), (text, before) => {
      const decoder = new TokenText(model, before);
      const pieces = model.tokenize(text).map((token) => decoder.push(token));
      expect(pieces.join("") + decoder.end()).toBe(text);
      for (const piece of pieces) expect(piece).not.toContain("\uFFFD");
    }),
  );
  await llama.dispose();
});
