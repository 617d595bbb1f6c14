import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { EventSplitter, responseEvents } from "../src/adapter.js";

const context = { provider: "p", model: "m" };

/** Reads a response whose body comes in the pieces given. */
async function read(pieces: readonly (string | Uint8Array)[], type = "text/event-stream") {
  const signal = new AbortController().signal;
  const bytes = pieces.map((piece) => (typeof piece === "string" ? new TextEncoder().encode(piece) : piece));
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of bytes) controller.enqueue(piece);
      controller.close();
    },
  });
  const response = new Response(body, { headers: { "content-type": type } });
  const events: unknown[] = [];
  let thrown: unknown;
  try {
    const reading = { context, signal, eventsOf: (whole: never) => [whole] };
    for await (const batch of await responseEvents<unknown>(response, reading)) events.push(...batch);
  } catch (error) {
    thrown = error;
  }
  return { events, thrown };
}

describe("EventSplitter", () => {
  it("finds the same events wherever the text is cut, and however its lines end", () => {
    const line = fc.string({ unit: "grapheme" }).filter((text) => !/[\r\n\ufeff]/.test(text));
    const event = fc.record({ name: fc.constantFrom("", "ping", "delta"), data: fc.array(line, { minLength: 1 }) });
    const newline = fc.constantFrom("\n", "\r\n", "\r");
    fc.assert(
      fc.property(
        fc.array(event),
        newline,
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }),
        (events, end, sizes) => {
          const text = events
            .map(({ name, data }) =>
              [": a comment", ...(name ? [`event: ${name}`] : []), ...data.map((one) => `data: ${one}`), "id: 1", ""]
                .map((one) => one + end)
                .join(""),
            )
            .join("");
          const splitter = new EventSplitter();
          const got = [];
          for (let at = 0, turn = 0; at < text.length; turn++) {
            const size = sizes[turn % sizes.length] ?? 1;
            got.push(...splitter.push(text.slice(at, at + size)), ...splitter.push(""));
            at += size;
          }
          expect(got).toEqual(events.map(({ name, data }) => ({ event: name, data: data.join("\n") })));
        },
      ),
    );
  });

  it("takes a line in many pieces in time that grows with its length alone", () => {
    const splitter = new EventSplitter();
    splitter.push("data: ");
    for (let i = 0; i < 200_000; i++) splitter.push("0123456789");
    expect(splitter.push("\n\n")[0]?.data.length).toBe(2_000_000);
  });
});

describe("the events of a response", () => {
  it("come in the batches of the stream, characters put together over them", async () => {
    const bytes = new TextEncoder().encode('data: {"t":"é"}\n\ndata: {"t":2}\n\ndata: [DONE]\n\ndata: {"t":3}\n\n');
    const { events, thrown } = await read([bytes.slice(0, 13), bytes.slice(13)]);
    expect([events, thrown]).toEqual([[{ t: "é" }, { t: 2 }], undefined]);
  });

  it("are the same for a cut at any byte, and for any two", async () => {
    const text = 'event: a\r\ndata: {"t":"é😀"}\r\n\r\n: ping\ndata: {"a":\ndata: 1}\n\ndata: {"t":"漢"}\n\n';
    const bytes = new TextEncoder().encode(text);
    const wanted = [{ t: "é😀" }, { a: 1 }, { t: "漢" }];
    for (let i = 0; i <= bytes.length; i++) {
      const { events, thrown } = await read([bytes.slice(0, i), bytes.slice(i)]);
      expect([i, events, thrown]).toEqual([i, wanted, undefined]);
      for (let j = i; j <= Math.min(i + 9, bytes.length); j++) {
        expect((await read([bytes.slice(0, i), bytes.slice(i, j), bytes.slice(j)])).events).toEqual(wanted);
      }
    }
  });

  it("leave out what is no object", async () => {
    expect((await read(['data: null\n\ndata: 1\n\ndata: "x"\n\ndata: {"a":1}\n\n'])).events).toEqual([{ a: 1 }]);
  });

  it("leave pings and comments out, with a name or without", async () => {
    const { events } = await read(['event: ping\ndata: {"a":1}\n\n: hi\n\ndata: {"type":"ping"}\n\ndata: {"b":2}\n\n']);
    expect(events).toEqual([{ b: 2 }]);
  });

  it.each([
    ['event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Busy"}}\n\n', "overloaded"],
    ['data: {"error":{"code":"context_length_exceeded","message":"long"}}\n\n', "contextOverflow"],
    ['data: {"object":"error","message":"rate_limit","code":"rate_limit_exceeded"}\n\n', "rateLimit"],
    ["event: error\ndata: it broke\n\n", "other"],
  ])("end in the error that stands among them: %j", async (error, kind) => {
    const { events, thrown } = await read([`data: {"a":1}\n\n${error}data: {"b":2}\n\n`]);
    expect(events).toEqual([{ a: 1 }]);
    expect(thrown).toMatchObject({ code: "generation", details: { kind } });
  });

  it("end where an event is no JSON, behind those before it", async () => {
    const { events, thrown } = await read(['data: {"a":1}\n\ndata: {"b":\n\n']);
    expect(events).toEqual([{ a: 1 }]);
    expect(thrown).toBeInstanceOf(SyntaxError);
  });

  it("have the last one also where its blank line never came, if it is whole", async () => {
    expect((await read(['data: {"a":1}\n\ndata: {"b":2}'])).events).toEqual([{ a: 1 }, { b: 2 }]);
    const cut = await read(['data: {"a":1}\n\ndata: {"b":']);
    expect([cut.events, cut.thrown]).toEqual([[{ a: 1 }], undefined]);
    expect(await read(['data: {"a":1}\n\ndata: [DONE]'])).toEqual({ events: [{ a: 1 }], thrown: undefined });
  });

  it("are those of a whole answer, or its error, whatever type it says it has", async () => {
    for (const type of ["text/event-stream", "text/plain", ""]) {
      expect((await read(['{"a"', ":1}\n"], type)).events).toEqual([{ a: 1 }]);
      const { thrown } = await read(['  {"error":{"code":"rate_limit_exceeded",', '"message":"slow"}}'], type);
      expect(thrown).toMatchObject({ status: 200, details: { kind: "rateLimit" } });
      expect((await read(['{"error":{"mess'], type)).thrown).toBeInstanceOf(SyntaxError);
    }
  });

  it("are none where a page of HTML came, which the failure says", async () => {
    const { events, thrown } = await read(["<!doctype html><title>My wiki</title>", "<p>data: x</p>"], "text/html");
    expect(events).toEqual([]);
    expect(thrown).toMatchObject({ code: "generation", retryable: false });
    expect(String(thrown)).toContain('p answered with a page of HTML, "My wiki". Check the base URL.');
  });

  it("end where the request was aborted before they were looked at, also over a stream that does not heed it", async () => {
    const response = new Response(new ReadableStream<Uint8Array>(), {
      headers: { "content-type": "text/event-stream" },
    });
    const reading = { context, signal: AbortSignal.abort(), eventsOf: (whole: never) => [whole] };
    const events = [];
    for await (const batch of await responseEvents<unknown>(response, reading)) events.push(...batch);
    expect(events).toEqual([]);
  });

  it("are those of a whole answer where it is JSON, or its error", async () => {
    expect((await read(['{"a":1}'], "application/json")).events).toEqual([{ a: 1 }]);
    const { thrown } = await read(['{"error":{"message":"late"}}'], "application/json");
    expect(thrown).toMatchObject({ status: 200 });
  });
});
