import { Gate, ScriptedProvider } from "@shedkit/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { echoTool, isTurnEnd, recordsOf, type SseEvent, serve, TOKEN, until } from "./helpers.js";

/** What a reader knows in the end: the records, and the text shown of a step before its records came. */
function known(events: readonly SseEvent[]) {
  const records: string[] = [];
  const texts: string[] = [];
  let running = "";
  for (const { event, data } of events) {
    if (event === "delta") running += data.text;
    if (event !== "record") continue;
    records.push(data.id);
    if (data.type !== "step") continue;
    texts.push(running);
    running = "";
  }
  return { records, texts };
}

describe("events of a session", () => {
  it("reach two readers alike, and one that comes in the middle", async () => {
    const gate = new Gate();
    const server = await serve(new ScriptedProvider([["The answer ", { wait: gate }, "is 42."]], { chunkSize: 4 }));
    const id = await server.session();
    const first = until(server.events(id));
    const second = until(server.events(id));
    await server.json("POST", `/api/sessions/${id}/ask`, { text: "Hi" });
    await gate.reached;
    const third = server.events(id);
    const seen: SseEvent[] = [];
    for (let text = ""; !text.includes("answer "); ) {
      const { value } = await third.next();
      if (value?.event === "delta") text += value.data.text;
      if (value) seen.push(value);
    }
    gate.open();
    seen.push(...(await until(third)));
    const all = [known(await first), known(await second), known(seen)];
    expect(all[0]?.texts).toEqual(["The answer is 42."]);
    expect(all[1]).toEqual(all[0]);
    expect(all[2]).toEqual(all[0]);
  });

  it("are gone on with wherever a reader was cut off: nothing lost, nothing doubled", async () => {
    const gates = [new Gate(), new Gate()];
    const provider = new ScriptedProvider(
      [
        [{ thinking: "I need a tool." }, { call: "echo", arguments: { text: "one two three" } }],
        ["Well: it ", { wait: gates[0] as Gate }, "said one two three."],
        ["And ", { wait: gates[1] as Gate }, "again."],
      ],
      { chunkSize: 3 },
    );
    const server = await serve(provider, { tools: [echoTool()] });
    const id = await server.session();
    const reference = until(server.events(id), (event) => isTurnEnd(event) && ++ends === 2);
    let ends = 0;

    // Cut after every event of a running turn, at random, and reconnected at once.
    const seen: SseEvent[] = [];
    let last: string | undefined;
    let asked = false;
    const next = fc.sample(fc.integer({ min: 1, max: 4 }), 400);
    for (let turnEnds = 0; turnEnds < 2; ) {
      const events = server.events(id, last);
      if (!asked) await server.json("POST", `/api/sessions/${id}/ask`, { text: "1" });
      asked = true;
      let left = next.pop() ?? 1;
      for await (const event of events) {
        if (event.event !== "record" && event.event !== "delta") continue;
        seen.push(event);
        last = event.id;
        const text = seen
          .filter((e) => e.event === "delta")
          .map((e) => e.data.text)
          .join("");
        if (text.endsWith("Well: it ")) gates[0]?.open();
        if (text.endsWith("And ")) gates[1]?.open();
        if (isTurnEnd(event) && ++turnEnds === 1) await server.json("POST", `/api/sessions/${id}/ask`, { text: "2" });
        if (turnEnds === 2 || --left === 0) break;
      }
    }
    const whole = known(await reference);
    const pieces = known(seen);
    expect(pieces.records).toEqual(whole.records);
    expect(new Set(pieces.records).size).toBe(pieces.records.length);
    // A step that ended while nobody read is told by its records; else its deltas are all there, each once.
    for (const [i, text] of pieces.texts.entries()) expect(whole.texts[i]?.startsWith(text)).toBe(true);
  });

  it("are refused behind an event that there never was", async () => {
    const server = await serve(new ScriptedProvider(["Hello."]));
    const id = await server.session();
    for (const after of ["nobody", "01abc~x"]) {
      const response = await server.call("GET", `/api/sessions/${id}/events`, undefined, { "last-event-id": after });
      expect(response.status).toBe(404);
      expect(await response.json()).toMatchObject({ error: { code: "unknownEvent" } });
    }
  });

  it("wait for a reader who is slow without keeping them in memory, and lose none", async () => {
    const long = "word ".repeat(20_000);
    const turns = 12; // the memory model takes answers too
    const server = await serve(
      new ScriptedProvider(
        Array.from({ length: 4 * turns }, () => long),
        { chunkSize: 5000 },
      ),
      {
        limits: { readerBytes: 4096 },
      },
    );
    const id = await server.session();
    const response = await fetch(`${server.url}/api/sessions/${id}/events`, {
      headers: { authorization: `Bearer ${TOKEN}` },
    });
    const reader = response.body?.getReader();
    let after: string | undefined;
    for (let i = 0; i < turns; i++) {
      const seen = until(server.events(id, after));
      await server.json("POST", `/api/sessions/${id}/ask`, { text: `${i}` });
      after = (await seen).at(-1)?.id;
    }
    // Only now does the slow one begin to read.
    let text = "";
    const decoder = new TextDecoder();
    while (text.split('"type":"summary"').length - 1 < turns) {
      const { value, done } = (await reader?.read()) ?? { done: true, value: undefined };
      if (done) break;
      text += decoder.decode(value, { stream: true });
    }
    await reader?.cancel();
    const ids = [...text.matchAll(/^event: record\ndata: \{"id":"([^"]+)"/gm)].map((match) => match[1]);
    const stored: string[] = [];
    for await (const { record } of server.docStore.read(id as never)) stored.push(record.id);
    expect(ids).toEqual(stored.slice(0, ids.length)); // observations may come behind the last turn
  });

  it("come from the log alone where another program has the session", async () => {
    const server = await serve(new ScriptedProvider([]), { limits: { pollMs: 5 } });
    const id = await server.session();
    const events = server.events(id);
    const lease = await server.docStore.acquire(id as never);
    const record = { id: "01a", v: 1, at: 1, type: "deactivated", tools: ["x"] } as const;
    await server.docStore.append(lease, [record]);
    const seen = await until(events, ({ event }) => event === "record");
    expect(recordsOf(seen)).toEqual([record]);
    await server.docStore.append(lease, [{ ...record, id: "01b" }]);
    await lease.release();
    expect(recordsOf(await until(server.events(id, "01a"), ({ event }) => event === "record"))).toMatchObject([
      { id: "01b" },
    ]);
  });

  it("show that they are there while nothing happens", async () => {
    const server = await serve(new ScriptedProvider([]), { limits: { heartbeatMs: 5 } });
    const id = await server.session();
    const response = await server.call("GET", `/api/sessions/${id}/events`);
    expect(response.headers.get("content-type")).toContain("text/event-stream");
    const decoder = new TextDecoder();
    let text = "";
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk as Uint8Array);
      if (text.split("\n").filter((line) => line === ":").length > 2) break;
    }
    expect(text).toContain("event: state");
  });

  it("end when the session is deleted, and are limited in number", async () => {
    const server = await serve(new ScriptedProvider(["Hello."]), { limits: { readers: 1 } });
    const id = await server.session();
    const seen = until(server.events(id), () => false);
    await server.json("POST", `/api/sessions/${id}/ask`, { text: "Hi" });
    const refused = await server.call("GET", `/api/sessions/${id}/events`);
    expect([refused.status, await refused.json()]).toMatchObject([503, { error: { code: "tooManyReaders" } }]);
    await server.json("DELETE", `/api/sessions/${id}`);
    expect((await seen).at(-1)?.event).toBe("deleted");
  });
});
