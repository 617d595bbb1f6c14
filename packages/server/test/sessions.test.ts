import { MemoryDocumentStore, MemoryStorage } from "@shedkit/store";
import { Gate, ScriptedProvider } from "@shedkit/testing";
import { metadataOf, ToolCallResult, type ToolImpl, userAnswers } from "@shedkit/tool";
import { describe, expect, it } from "vitest";
import { asking, echoTool, isTurnEnd, recordsOf, serve, until } from "./helpers.js";

interface Info {
  id: string;
  title?: string;
  running: boolean;
  model: string;
  records: number;
}

describe("sessions over HTTP", () => {
  it("are begun, asked, listed, searched, renamed and deleted", async () => {
    const server = await serve(new ScriptedProvider(["Hello.", "Again."]));
    const id = await server.session();
    expect((await server.json<{ items: Info[] }>("GET", "/api/sessions")).items).toEqual([]);
    const seen = until(server.events(id));
    const { turnId } = await server.json<{ turnId: string }>("POST", `/api/sessions/${id}/ask`, { text: "Say hello" });
    const events = await seen;
    expect(events.at(-1)?.data).toMatchObject({ type: "summary", turnId });
    expect(recordsOf(events).map(({ type }) => type)).toEqual(["conversation", "conversation", "step", "summary"]);

    const { items } = await server.json<{ items: Info[] }>("GET", "/api/sessions");
    expect(items).toMatchObject([{ id, title: "Say hello", running: false, model: "m", records: 4 }]);
    const found = async (text: string) =>
      (await server.json<{ items: Info[] }>("GET", `/api/sessions?text=${text}`)).items.map((item) => item.id);
    expect(await found("hello")).toEqual([id]);
    expect(await found("harbour")).toEqual([]);
    expect(await server.json("PATCH", `/api/sessions/${id}`, { title: " The harbour " })).toMatchObject({
      title: "The harbour",
    });
    expect(await found("harbour")).toEqual([id]);
    expect(await server.json("PATCH", `/api/sessions/${id}`, { title: "" })).toMatchObject({ title: "Say hello" });

    expect((await server.call("DELETE", `/api/sessions/${id}`)).status).toBe(204);
    expect((await server.call("GET", `/api/sessions/${id}`)).status).toBe(404);
    expect(await found("hello")).toEqual([]);
  });

  it("are forked, and both go on by themselves", async () => {
    const server = await serve(new ScriptedProvider(["One.", "Two.", "Three."]));
    const id = await server.session();
    const ask = async (session: string, text: string) => {
      const seen = until(server.events(session), (event) => isTurnEnd(event) && !past.has(event.data.id));
      await server.json("POST", `/api/sessions/${session}/ask`, { text });
      const events = await seen;
      for (const { data } of events) past.add(data.id);
      return events;
    };
    const past = new Set<unknown>();
    const first = await ask(id, "1");
    await ask(id, "2");
    const at = recordsOf(first).at(-1)?.id;
    const fork = await server.json<Info>("POST", `/api/sessions/${id}/fork`, { at });
    expect(fork.id).not.toBe(id);
    await ask(fork.id, "3");
    const text = async (session: string) => (await server.call("GET", `/api/sessions/${session}/export`)).text();
    expect(await text(id)).toContain("Two.");
    expect(await text(fork.id)).not.toContain("Two.");
    expect(await text(fork.id)).toContain("Three.");
    const lines = await server.call("GET", `/api/sessions/${id}/export?format=jsonl`);
    expect(lines.headers.get("content-disposition")).toContain(`session-${id}.jsonl`);
    for (const line of (await lines.text()).trim().split("\n")) expect(JSON.parse(line)).toHaveProperty("type");
  });

  it("change their model between turns, not in one", async () => {
    const gate = new Gate();
    const provider = new ScriptedProvider([["Wait", { wait: gate }], "Other."]);
    const server = await serve(provider);
    const id = await server.session();
    const first = until(server.events(id));
    await server.json("POST", `/api/sessions/${id}/ask`, { text: "Hi" });
    await gate.reached;
    const refused = await server.call("PATCH", `/api/sessions/${id}`, { model: "other" });
    expect(refused.status).toBe(409);
    gate.open();
    const end = (await first).at(-1);
    expect(await server.json("PATCH", `/api/sessions/${id}`, { model: "other" })).toMatchObject({ model: "other" });
    const second = until(server.events(id, end?.id));
    await server.json("POST", `/api/sessions/${id}/ask`, { text: "Again" });
    expect(recordsOf(await second).find(({ type }) => type === "step")).toMatchObject({ model: "other" });
    expect((await server.call("PATCH", `/api/sessions/${id}`, { model: "none" })).status).toBe(400);
  });

  it("take one question at a time, and steering meanwhile", async () => {
    const gate = new Gate();
    const server = await serve(new ScriptedProvider([["Let me ", { wait: gate }, "think"], "Blue.", "And so on."]));
    const id = await server.session();
    const seen = until(server.events(id));
    await server.json("POST", `/api/sessions/${id}/ask`, { text: "Colour?" });
    await gate.reached;
    const second = await server.call("POST", `/api/sessions/${id}/ask`, { text: "Another" });
    expect([second.status, await second.json()]).toMatchObject([409, { error: { code: "turnInProgress" } }]);
    await server.json("POST", `/api/sessions/${id}/follow-up`, { text: "Go on" });
    await server.json("POST", `/api/sessions/${id}/steer`, { text: "Be short" });
    const records = recordsOf(await seen);
    const said = records.flatMap((record) => {
      if (record.type !== "conversation") return [];
      const { message } = record;
      if (message.type === "user") return [JSON.stringify(message.content)];
      return message.type === "assistant" && message.output.type === "text" ? [message.output.text] : [];
    });
    expect(said.map((text) => /Colour|Be short|Blue|Go on|And so on/.exec(text)?.[0])).toEqual([
      ...["Colour", "Be short", "Blue", "Go on", "And so on"],
    ]);
  });

  it("are aborted, and can be asked again", async () => {
    const gate = new Gate();
    const server = await serve(new ScriptedProvider([["Half", { wait: gate }], "Whole."]));
    const id = await server.session();
    const first = until(server.events(id));
    await server.json("POST", `/api/sessions/${id}/ask`, { text: "Hi" });
    await gate.reached;
    await server.json("POST", `/api/sessions/${id}/abort`);
    const end = (await first).at(-1);
    expect(end?.data).toMatchObject({ type: "failedAction", error: { code: "cancelled" } });
    const second = until(server.events(id, end?.id));
    await server.json("POST", `/api/sessions/${id}/ask`, { text: "Again" });
    expect((await second).at(-1)?.data.type).toBe("summary");
  });

  it("ask for leave: once, always, or no with a reason", async () => {
    const calls = Array.from({ length: 4 }, (_, i) => [
      [{ call: "echo", arguments: { text: `${i}` } }],
      "Done.",
    ]).flat();
    const server = await serve(new ScriptedProvider(calls as never), { tools: [echoTool()], permissions: asking });
    const id = await server.session();
    let after: string | undefined;
    const turn = async (decision?: object) => {
      const events = server.events(id, after);
      const asked = server.json("POST", `/api/sessions/${id}/ask`, { text: "Echo" });
      const seen = [];
      for await (const event of events) {
        seen.push(event);
        if (event.data.type === "approvalRequested") {
          expect(event.data.call).toMatchObject({ name: "echo" });
          const path = `/api/sessions/${id}/approvals/${event.data.approvalId}`;
          await server.json("POST", path, decision);
          expect((await server.call("POST", path, decision)).status).toBe(409);
        }
        if (isTurnEnd(event)) break;
      }
      await asked;
      after = seen.at(-1)?.id;
      const result = recordsOf(seen).find((r) => r.type === "conversation" && r.message.type === "toolResult");
      return JSON.stringify(result);
    };
    expect(await turn({ decision: "once" })).toContain("echo: 0");
    expect(await turn({ decision: "deny", reason: "not today" })).toContain("the user said: not today");
    expect(await turn({ decision: "always" })).toContain("echo: 2");
    expect(await turn()).toContain("echo: 3"); // nobody is asked any more
  });

  it("take the answer to a call that asks", async () => {
    const echo = echoTool();
    const ask: ToolImpl = {
      definition: () => echo.definition(),
      metadata: { ...metadataOf(echo), asks: () => true },
      execute: async (_, ctx) =>
        ToolCallResult.text(JSON.stringify(ctx.resources.get(userAnswers)?.get(ctx.callId) ?? "none")),
    };
    const provider = new ScriptedProvider([[{ call: "echo", arguments: { text: "Which?" } }], "Done."]);
    const server = await serve(provider, { tools: [ask] });
    const id = await server.session();
    const asked = until(server.events(id), ({ data }) => data.type === "approvalRequested");
    await server.json("POST", `/api/sessions/${id}/ask`, { text: "Go" });
    const request = (await asked).at(-1);
    expect(request?.data.call).toMatchObject({ name: "echo", asks: true, arguments: { text: "Which?" } });
    const rest = until(server.events(id, request?.id), ({ data }) => data.type === "summary");
    const path = `/api/sessions/${id}/approvals/${request?.data.approvalId}`;
    await server.json("POST", path, { decision: "once", answer: ["this"] });
    const results = recordsOf(await rest).flatMap((r) =>
      r.type === "conversation" && r.message.type === "toolResult" ? [r.message.content] : [],
    );
    expect(results).toEqual([[{ type: "text", text: '["this"]' }]]);
  });

  it("still ask for leave after the server was started anew, and go on when it is given", async () => {
    const provider = new ScriptedProvider([[{ call: "echo", arguments: { text: "a" } }], "Done."]);
    const docStore = new MemoryDocumentStore();
    const notes = new MemoryStorage();
    const options = { docStore, notes, tools: [echoTool()], permissions: asking };
    const first = await serve(provider, options);
    const { id } = await first.json<Info>("POST", "/api/sessions", { model: "other" });
    const asked = until(first.events(id), ({ data }) => data.type === "approvalRequested");
    await first.json("POST", `/api/sessions/${id}/ask`, { text: "Echo a" });
    const request = (await asked).at(-1);
    await first.close();

    const second = await serve(provider, options);
    expect(await second.json("GET", `/api/sessions/${id}`)).toMatchObject({ model: "other", running: false });
    const events = until(second.events(id, request?.id), ({ data }) => data.type === "summary");
    await second.json("POST", `/api/sessions/${id}/approvals/${request?.data.approvalId}`, { decision: "once" });
    expect(JSON.stringify(await events)).toContain("echo: a");
    expect(provider.requests.map(({ model }) => model.name)).toEqual(["other", "other"]);
  });

  it("tell what each turn took", async () => {
    const usage = { input: 10, output: 5, cacheRead: 2, cacheWrite: 0, reasoning: 0, total: 17, costUsd: 0.01 };
    const step = { parts: ["Hi"], usage };
    const server = await serve(new ScriptedProvider([step, step] as never));
    const id = await server.session();
    let after: string | undefined;
    for (const text of ["1", "2"]) {
      const seen = until(server.events(id, after));
      await server.json("POST", `/api/sessions/${id}/ask`, { text });
      after = (await seen).at(-1)?.id;
    }
    expect(await server.json("GET", `/api/sessions/${id}/usage`)).toMatchObject({
      turns: [
        { model: "m", steps: 1, usage },
        { steps: 1, usage },
      ],
      total: { input: 20, output: 10, total: 34, costUsd: 0.02 },
    });
  });

  it("show their tools, and what a search in the shed finds", async () => {
    const server = await serve(new ScriptedProvider([]), { tools: [echoTool()] });
    const id = await server.session();
    expect(await server.json("GET", `/api/sessions/${id}/tools`)).toMatchObject({
      tools: [{ name: "echo", description: "Says a text back.", active: true }],
    });
    const { hits } = await server.json<{ hits: { name: string; score: number }[] }>(
      "GET",
      `/api/sessions/${id}/tools?query=say%20it%20back`,
    );
    expect(hits).toMatchObject([{ name: "echo" }]);
    expect(hits[0]?.score).toBeGreaterThan(0);
  });

  it("tell where another program has them open", async () => {
    const server = await serve(new ScriptedProvider(["Hello."]), { limits: { idleMs: 1 } });
    const id = await server.session();
    const lease = await server.docStore.acquire(id as never);
    const response = await server.call("POST", `/api/sessions/${id}/ask`, { text: "Hi" });
    expect(response.status).toBe(409);
    expect(await response.json()).toMatchObject({ error: { code: "sessionBusy", message: /another program/ } });
    await lease.release();
    await server.json("POST", `/api/sessions/${id}/ask`, { text: "Hi" });
    // and they are let go of when nothing is done in them
    const again = await server.docStore.acquire(id as never, { waitMs: 30_000 });
    await again.release();
  });

  it("are suspended, not lost, when the server closes", async () => {
    const gate = new Gate();
    const server = await serve(new ScriptedProvider([["Half of it", { wait: gate }]]));
    const id = await server.session();
    const seen = until(server.events(id), () => false);
    await server.json("POST", `/api/sessions/${id}/ask`, { text: "Hi" });
    await gate.reached;
    await server.close();
    await seen; // the stream has ended
    const types: string[] = [];
    for await (const { record } of server.docStore.read(id as never)) types.push(record.type);
    expect(types).toContain("failedAction");
    const lease = await server.docStore.acquire(id as never);
    await lease.release();
  });
});
