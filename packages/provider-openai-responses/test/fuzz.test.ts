import { Secret } from "@shedkit/provider";
import { alteredStream } from "@shedkit/testing";
import type { JsonValue } from "@shedkit/types";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ResponsesProvider } from "../src/index.js";
import { question } from "./open.js";
import { SERVED, STREAM } from "./streams.js";

const odd = fc.constantFrom<JsonValue>(null, 0, -1, "", "x", true, [], {}, [null], { type: null }, { type: "x" });
const change = fc.record({ at: fc.nat(), path: fc.array(fc.nat(20), { maxLength: 6 }), by: odd });
const changes = fc.array(change, { minLength: 1, maxLength: 3 });

describe("a stream with an event of another shape", () => {
  it("ends in one terminal event, and never in a fault of ours", async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(STREAM, SERVED), changes, async (stream, altered) => {
        const body = alteredStream(stream, altered);
        const answer = async () => new Response(body, { headers: { "content-type": "text/event-stream" } });
        const provider = ResponsesProvider.withConfig({ apiKey: new Secret("key"), fetch: answer, maxRetries: 0 });
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
