import type { ModelEvent } from "@shedkit/provider";
import { Secret } from "@shedkit/provider";
import { rechunkFetch } from "@shedkit/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { OpenAIProvider } from "../src/index.js";
import { question } from "./open.js";
import { EVENTS, LAST, SERVED, SERVED_EVENTS, SERVED_LAST, STREAM } from "./streams.js";

async function read(body: string, sizes: number[]): Promise<ModelEvent[]> {
  const answer = async () => new Response(body, { headers: { "content-type": "text/event-stream" } });
  const provider = OpenAIProvider.withConfig({
    apiKey: new Secret("k"),
    baseUrl: "http://model.invalid/v1",
    fetch: rechunkFetch(sizes, answer),
    maxRetries: 0,
  });
  const events: ModelEvent[] = [];
  for await (const event of provider.stream(question())) events.push(event);
  return events;
}

describe.each([
  ["with thinking, text and calls", STREAM, EVENTS, LAST],
  ["with what a server ran, sources and a refusal", SERVED, SERVED_EVENTS, SERVED_LAST],
])("a stream of the wire %s", (_, stream, wanted, last) => {
  it("is these events, one for one", async () => {
    expect(await read(stream, [stream.length * 4])).toEqual(wanted);
  });

  it("is the same events wherever its bytes are cut, and however its lines end", async () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(sizes, fc.constantFrom("\n", "\r\n", "\r"), async (sizes, end) => {
        expect(await read(stream.replaceAll("\n", end), sizes)).toEqual(wanted);
      }),
      { numRuns: 60 },
    );
    expect(await read(stream, [1])).toEqual(wanted);
  });

  it("that ends early ends in a failure, behind what came of the same events", async () => {
    const bytes = new TextEncoder().encode(stream);
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: last }), async (length) => {
        const events = await read(new TextDecoder().decode(bytes.slice(0, length)), [97]);
        expect(events.at(-1)).toMatchObject({ type: "failure", error: { details: { kind: "network" } } });
        const deltas = events.filter(({ type }) => type.endsWith("Delta"));
        expect(wanted.filter(({ type }) => type.endsWith("Delta")).slice(0, deltas.length)).toEqual(deltas);
      }),
      { numRuns: 60 },
    );
  });
});
