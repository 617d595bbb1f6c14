import { Secret } from "@shedkit/provider";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { OpenAIProvider } from "../src/index.js";
import { question } from "./open.js";
import { SERVED, STREAM } from "./streams.js";

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

const odd = fc.constantFrom<Json>(null, 0, -1, "", "x", true, [], {}, [null], { type: null }, { type: "x" });

/** A JSON value in which what is at a path, counted by numbers, is replaced. */
function altered(value: Json, path: readonly number[], by: Json): Json {
  const [step, ...rest] = path;
  if (step === undefined || typeof value !== "object" || value === null) return by;
  const keys = Object.keys(value);
  const key = keys[step % Math.max(1, keys.length)];
  if (key === undefined) return by;
  const inner = altered((value as { [key: string]: Json })[key] as Json, rest, by);
  return Array.isArray(value) ? value.map((one, i) => (`${i}` === key ? inner : one)) : { ...value, [key]: inner };
}

const eventsOf = (stream: string): string[] =>
  stream.split("\n").flatMap((line) => (line.startsWith("data: {") ? [line.slice(6)] : []));

describe("a stream with an event of another shape", () => {
  it("ends in one terminal event, and never in a fault of ours", async () => {
    const lines = fc.constantFrom(eventsOf(STREAM), eventsOf(SERVED));
    const change = fc.record({ at: fc.nat(), path: fc.array(fc.nat(20), { maxLength: 6 }), by: odd });
    await fc.assert(
      fc.asyncProperty(lines, fc.array(change, { minLength: 1, maxLength: 3 }), async (lines, changes) => {
        const events = [...lines];
        for (const { at, path, by } of changes) {
          const i = at % events.length;
          events[i] = JSON.stringify(altered(JSON.parse(events[i] ?? "") as Json, path, by));
        }
        const body = events.map((event) => `data: ${event}\n\n`).join("");
        const answer = async () => new Response(body, { headers: { "content-type": "text/event-stream" } });
        const provider = OpenAIProvider.withConfig({ apiKey: new Secret("key"), fetch: answer, maxRetries: 0 });
        const types: string[] = [];
        let code = "";
        for await (const event of provider.stream(question())) {
          types.push(event.type);
          if (event.type === "failure") code = event.error.code;
        }
        expect(types.filter((type) => type === "finish" || type === "failure")).toHaveLength(1);
        expect(["", "generation", "auth"]).toContain(code);
      }),
      { numRuns: 150 },
    );
  });
});
