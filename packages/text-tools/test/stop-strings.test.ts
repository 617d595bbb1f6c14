import fc from "fast-check";
import { expect, it } from "vitest";
import { StopStrings } from "../src/backend.js";

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
