import fc from "fast-check";
import { expect, it } from "vitest";
import { newId, newRecordId, newSessionId } from "../src/index.js";

it("is 26 lower-case base-32 characters", () => {
  expect(newId()).toMatch(/^[0-9a-hjkmnp-tv-z]{26}$/);
  expect(newSessionId()).toHaveLength(26);
});

it("is 16 letters and digits for a record", () => {
  expect(newRecordId()).toMatch(/^[0-9A-Za-z]{16}$/);
});

it.each([
  ["an id", newId],
  ["the id of a record", newRecordId],
])("%s sorts in the order of making, within a millisecond and when the clock goes back", (_, make) => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 2 ** 47 }), { minLength: 2, maxLength: 50 }), (times) => {
      const ids = times.map((time) => make({ now: () => time }));
      expect(ids).toEqual([...ids].sort());
      expect(new Set(ids).size).toBe(ids.length);
    }),
  );
});

it("stays unique where the random source gives the highest number each time", () => {
  const now = () => 2 ** 47 + 1;
  const random = (bytes: Uint8Array) => void bytes.fill(255);
  const ids = Array.from({ length: 3 }, () => newId({ now, random }));
  expect(ids[0]).toMatch(/zzzzzzzzzzzzzzzz$/);
  expect(new Set(ids).size).toBe(3);
  expect(ids).toEqual([...ids].sort());
});

it("stays unique and in order where the ids of records of a millisecond run out", () => {
  const now = () => 2 ** 47 + 1;
  const random = (bytes: Uint8Array) => void bytes.fill(61);
  const ids = Array.from({ length: 3 }, () => newRecordId({ now, random }));
  expect(ids[0]).toMatch(/zzzzzzzz$/);
  expect(new Set(ids).size).toBe(3);
  expect(ids).toEqual([...ids].sort());
});

it("sorts the ids of records behind those that newId made for them before", () => {
  expect(newId({ now: () => Date.parse("2200-01-01") }) < newRecordId({ now: () => Date.parse("2026-01-01") })).toBe(
    true,
  );
});

it("begins with the time", () => {
  const time = 2 ** 47 + 12345;
  const id = newId({ now: () => time });
  const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";
  expect([...id.slice(0, 10)].reduce((sum, digit) => sum * 32 + alphabet.indexOf(digit), 0)).toBe(time);
});
