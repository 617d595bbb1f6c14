import fc from "fast-check";
import { expect, it } from "vitest";
import { TakenIds } from "../src/log/taken-ids.js";

it("an id that was added is taken, however many there are", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "binary" }), { maxLength: 200, size: "max" }), (ids) => {
      const taken = new TakenIds();
      for (const id of ids) taken.add(id);
      expect(ids.every((id) => taken.has(id))).toBe(true);
    }),
    { numRuns: 200 },
  );
});

it("an id that was not added is free", () => {
  const taken = new TakenIds();
  for (let i = 0; i < 10_000; i++) taken.add(`call_${i}`);
  const wrong = Array.from({ length: 10_000 }, (_, i) => `toolu_${i}`).filter((id) => taken.has(id));
  expect(wrong).toEqual([]);
  expect(taken.has("call_9999")).toBe(true);
  expect(taken.has("")).toBe(false);
});
