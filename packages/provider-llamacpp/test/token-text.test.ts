import fc from "fast-check";
import { getLlama } from "node-llama-cpp";
import { expect, it } from "vitest";
import { StopStrings } from "../src/stop-strings.js";
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

it("lets through what comes before a stop string, however it is cut", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 20 });
  fc.assert(
    fc.property(
      text,
      fc.array(fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 4 }), { maxLength: 3 }),
      (answer, stops) => {
        const met = Array.from(answer, (_, i) => answer.slice(0, i + 1)).find((begun) =>
          stops.some((stop) => stop !== "" && begun.endsWith(stop)),
        );
        const longest = Math.max(0, ...stops.filter((stop) => met?.endsWith(stop)).map((stop) => stop.length));
        const wanted = met === undefined ? answer : met.slice(0, met.length - longest);
        const filter = new StopStrings(stops);
        expect([...answer].map((char) => filter.push(char)).join("") + filter.end()).toBe(wanted);
        expect(filter.met).toBe(met !== undefined);
      },
    ),
  );
});
