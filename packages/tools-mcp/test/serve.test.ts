import { PassThrough } from "node:stream";
import { Client, InMemoryTransport, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Secret } from "@shedkit/provider";
import { ToolShed } from "@shedkit/shed";
import {
  type CallGate,
  callGates,
  FnTool,
  metadataOf,
  ToolCallResult,
  ToolError,
  type ToolImpl,
  toolFn,
  userAnswers,
} from "@shedkit/tool";
import type { JsonValue } from "@shedkit/types";
import { expect, onTestFinished, test } from "vitest";
import { type ServedCall, type ServeShedOptions, serveShed } from "../src/server.js";
import { listenHttp, type ShedListenOptions, serveStdio } from "../src/server-node.js";
import { call, connect, textOf, until } from "./helpers.js";

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
const text = { type: "object", properties: { value: { type: "string" } }, required: ["value"] };
const nothing = { type: "object" };

const echo = new FnTool("echo", "Gives a text back.", text, async (args) => args.str("value"));
const paint = new FnTool(
  "paint",
  "Paints a picture.",
  nothing,
  async () => new ToolCallResult([{ type: "image", source: { type: "base64", data: PNG }, mediaType: "image/png" }]),
);
const fail = new FnTool("fail", "Fails.", nothing, async () =>
  ToolCallResult.failure("no such file", "There is no such file."),
);
const broken = new FnTool("broken", "Is broken.", nothing, async () => {
  throw new Error("the disk is gone");
});

/** A tool that runs until it is let go, and tells when it is cancelled. */
function patient() {
  const state = { running: 0, cancelled: 0 };
  const tool: ToolImpl = {
    definition: () => ({
      type: "single",
      definition: { name: "patient", category: "x", description: "Waits.", arguments: nothing },
    }),
    async *execute(_, { signal }) {
      state.running++;
      for (const i of [1, 2, 3]) yield { type: "progress", text: `step ${i}`, data: { progress: i, total: 3 } };
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
      state.cancelled++;
      yield { type: "result", result: ToolCallResult.text("done") };
    },
  };
  return { tool, state };
}

const shed = new ToolShed().tools([echo, paint, fail, broken]);

/** A client of a served shed, in this process. */
async function clientOf(tools: ToolShed, options: ServeShedOptions = {}) {
  const served = serveShed(tools, options);
  const [mine, theirs] = InMemoryTransport.createLinkedPair();
  await served.connect(theirs);
  const changes: number[] = [];
  const client = new Client(
    { name: "test", version: "1" },
    {
      listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: () => void changes.push(1) } },
    },
  );
  await client.connect(mine);
  onTestFinished(() => served.close());
  return { client, served, changes };
}

const names = async (client: Client) => (await client.listTools()).tools.map(({ name }) => name);

test("whole: every tool is listed with its schema, and what it may do", async () => {
  const { client } = await clientOf(shed, { name: "my-shed", instructions: "Paint first." });
  expect(client.getServerVersion()?.name).toBe("my-shed");
  expect(client.getInstructions()).toBe("Paint first.");
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(["echo", "paint", "fail", "broken"]);
  expect(tools[0]).toMatchObject({
    description: "Gives a text back.",
    inputSchema: text,
    annotations: { readOnlyHint: false },
  });
});

test("whole: results, pictures, expected failures, faults and bad arguments reach the client", async () => {
  const { client } = await clientOf(shed);
  expect(await client.callTool({ name: "echo", arguments: { value: "hi" } })).toMatchObject({
    content: [{ type: "text", text: "hi" }],
  });
  expect((await client.callTool({ name: "paint" })).content).toEqual([
    { type: "image", data: PNG, mimeType: "image/png" },
  ]);
  expect(await client.callTool({ name: "fail" })).toMatchObject({
    isError: true,
    content: [{ text: "There is no such file." }],
  });
  expect(await client.callTool({ name: "broken" })).toMatchObject({
    isError: true,
    content: [{ text: "the disk is gone" }],
  });
  const bad = await client.callTool({ name: "echo", arguments: {} });
  expect(bad).toMatchObject({ isError: true, content: [{ text: expect.stringContaining("value: wanted a string") }] });
  await expect(client.callTool({ name: "nope" })).rejects.toThrow('There is no tool "nope"');
});

test("structured results are declared, and come only where they are", async () => {
  const counted = { type: "object", properties: { count: { type: "integer" } }, required: ["count"] };
  const give = (name: string, returns: object | undefined, output: JsonValue): ToolImpl => ({
    definition: () => ({
      type: "single",
      definition: { name, category: "x", description: "Gives.", arguments: nothing, ...(returns && { returns }) },
    }),
    execute: async () => new ToolCallResult([{ type: "text", text: "three" }], { output }),
  });
  const tools = [give("declared", counted, { count: 3 }), give("not", undefined, { count: 3 })];
  const { client } = await clientOf(new ToolShed().tools([...tools, give("list", { type: "array" }, [3])]));
  const listed = (await client.listTools()).tools;
  expect(listed.map(({ outputSchema }) => outputSchema)).toEqual([counted, undefined, undefined]);
  const results = await Promise.all(listed.map(({ name }) => client.callTool({ name })));
  expect(results).toMatchObject(listed.map(() => ({ content: [{ type: "text", text: "three" }] })));
  expect(results.map(({ structuredContent }) => structuredContent)).toEqual([{ count: 3 }, undefined, undefined]);
});

test("progress goes to the client, and its cancellation to the tool", async () => {
  const { tool, state } = patient();
  const { client } = await clientOf(new ToolShed().tool(tool));
  const controller = new AbortController();
  const seen: unknown[] = [];
  const running = client.callTool(
    { name: "patient" },
    { signal: controller.signal, onprogress: (sign) => void seen.push(sign) },
  );
  running.catch(() => {});
  await until(() => seen.length === 3);
  expect(seen).toEqual([1, 2, 3].map((i) => ({ progress: i, total: 3, message: `step ${i}` })));
  controller.abort();
  await expect(running).rejects.toThrow();
  await until(() => state.cancelled === 1);
});

test("a client that goes away takes its running calls with it", async () => {
  const { tool, state } = patient();
  const { client } = await clientOf(new ToolShed().tool(tool));
  client.callTool({ name: "patient" }).catch(() => {});
  await until(() => state.running === 1);
  await client.close();
  await until(() => state.cancelled === 1);
});

test("behind shed: shed alone is listed; what it finds is listed after, and the client is told", async () => {
  const { client, changes } = await clientOf(shed, { offer: "shed" });
  expect(await names(client)).toEqual(["shed"]);
  const found = await client.callTool({ name: "shed", arguments: { description: "paint a picture", limit: 1 } });
  expect(found).toMatchObject({ content: [{ text: expect.stringContaining("paint") }] });
  expect(found.structuredContent).toBeUndefined();
  await until(() => changes.length === 1);
  expect(await names(client)).toEqual(["shed", "paint"]);
  expect((await client.callTool({ name: "paint" })).isError).toBeUndefined();
});

test("behind shed: a client that ignores changes of the list calls by name, or through shed", async () => {
  const { client } = await clientOf(shed, { offer: "shed" });
  expect(await client.callTool({ name: "echo", arguments: { value: "a" } })).toMatchObject({
    content: [{ text: "a" }],
  });
  const through = { call: { name: "fail", arguments: {} } };
  expect(await client.callTool({ name: "shed", arguments: through })).toMatchObject({ isError: true });
  const echoed = { call: { name: "echo", arguments: { value: "b" } } };
  expect(await client.callTool({ name: "shed", arguments: echoed })).toMatchObject({ content: [{ text: "b" }] });
  const neither = await client.callTool({ name: "shed", arguments: {} });
  expect(neither).toMatchObject({ isError: true, content: [{ text: expect.stringContaining("description") }] });
  await expect(client.callTool({ name: "shed", arguments: { call: { name: "nope" } } })).rejects.toThrow("nope");
});

test("behind a strict shed: a tool that was not looked up does not run", async () => {
  const { client } = await clientOf(shed.strict(), { offer: "shed" });
  expect(await client.callTool({ name: "echo", arguments: { value: "a" } })).toMatchObject({ isError: true });
});

test("two clients do not see what the other one activated", async () => {
  const served = serveShed(shed, { offer: "shed" });
  onTestFinished(() => served.close());
  const clients = await Promise.all(
    [1, 2].map(async () => {
      const [mine, theirs] = InMemoryTransport.createLinkedPair();
      await served.connect(theirs);
      const client = new Client({ name: "test", version: "1" });
      await client.connect(mine);
      return client;
    }),
  );
  await clients[0]?.callTool({ name: "shed", arguments: { description: "echo" } });
  expect(await names(clients[0] as Client)).toContain("echo");
  expect(await names(clients[1] as Client)).toEqual(["shed"]);
});

test("calls can be refused by the host", async () => {
  const asked: object[] = [];
  const { client } = await clientOf(shed, {
    before: ({ tool, arguments: args }) => {
      asked.push({ tool, args });
      if (tool === "echo") throw new ToolError("permissionDenied", tool, "Not today.");
      if (tool === "fail") throw new Error("never");
    },
  });
  expect(await client.callTool({ name: "echo", arguments: { value: "x" } })).toMatchObject({
    isError: true,
    content: [{ text: "Not today." }],
  });
  expect(await client.callTool({ name: "fail" })).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining("never") }],
  });
  expect((await client.callTool({ name: "paint" })).isError).toBeUndefined();
  expect(asked).toEqual([
    { tool: "echo", args: { value: "x" } },
    { tool: "fail", args: {} },
    { tool: "paint", args: {} },
  ]);
});

test("a call that asks a person is refused, unless the host decides; also one that another tool makes", async () => {
  const ran: string[] = [];
  const sum = { type: "object", properties: { sum: { type: "integer" } }, required: ["sum"] };
  const leave: unknown[] = [];
  const paying = new FnTool("pay", "Pays.", sum, async (args) => {
    ran.push(`pay ${args.num("sum")}`);
    return "paid";
  });
  const pay: ToolImpl = {
    definition: () => paying.definition(),
    metadata: { ...metadataOf(paying), asks: (args) => Number(args.sum) > 10 },
    execute: (args, ctx) => {
      if (Number(args.sum) > 10) leave.push(ctx.resources.get(userAnswers)?.get(ctx.callId));
      return paying.execute(args, ctx);
    },
  };
  const around = new FnTool("around", "Pays by pay.", nothing, async (_, { dispatch }) => {
    const paid = await dispatch?.("pay", { sum: 99 });
    return paid?.text ?? "nothing";
  });
  const tools = new ToolShed().tools([pay, around]);
  const { client } = await clientOf(tools);
  const refused = await client.callTool({ name: "pay", arguments: { sum: 11 } });
  expect(refused).toMatchObject({ isError: true, content: [{ text: expect.stringContaining("nobody to ask") }] });
  expect((await client.callTool({ name: "pay", arguments: { sum: 10 } })).isError).toBeUndefined();
  expect(await client.callTool({ name: "around" })).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining("nobody to ask") }],
  });
  expect(ran).toEqual(["pay 10"]);

  const seen: [string, boolean][] = [];
  const before = ({ tool, asks }: ServedCall) => void seen.push([tool, asks]);
  const { client: trusted } = await clientOf(tools, { before });
  expect((await trusted.callTool({ name: "pay", arguments: { sum: 11 } })).isError).toBeUndefined();
  expect((await trusted.callTool({ name: "around" })).isError).toBeUndefined();
  expect(seen).toEqual([
    ["pay", true],
    ["around", false],
    ["pay", true],
  ]);
  expect(ran).toEqual(["pay 10", "pay 11", "pay 99"]);
  expect(leave).toEqual([null, null]); // the tool is told that it was let run
});

test("over standard input and output: served until the input ends", async () => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const lines: string[] = [];
  output.on("data", (chunk) => lines.push(...String(chunk).trim().split("\n")));
  const served = serveStdio(serveShed(shed), { input, output });
  const send = (message: object) => input.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  input.write("this is no message\n");
  send({
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "t", version: "1" } },
  });
  await until(() => lines.length === 1);
  send({ method: "notifications/initialized" });
  send({ id: 2, method: "tools/call", params: { name: "echo", arguments: { value: "over a pipe" } } });
  await until(() => lines.length === 2);
  expect(JSON.parse(lines[1] ?? "")).toMatchObject({ id: 2, result: { content: [{ text: "over a pipe" }] } });
  input.end();
  await served;
});

async function listening(tools: ToolShed, options: ServeShedOptions & ShedListenOptions = {}) {
  const shedServer = await listenHttp(serveShed(tools, options), options);
  onTestFinished(() => shedServer.close());
  return shedServer;
}

test("over HTTP: our own client finds and calls the tools, and follows what comes", async () => {
  const { tool, state } = patient();
  const { url } = await listening(shed.tool(tool), { offer: "shed" });
  const { manager, servers, events } = await connect({ far: { url } });
  expect(servers.status()[0]).toMatchObject({ state: "ready", tools: ["far__shed"] });
  await call(manager, "far__shed", { description: "paint a picture", limit: 1 });
  await until(() => manager.names().includes("far__paint"));
  expect((await call(manager, "far__paint")).content).toEqual([
    { type: "image", source: { type: "base64", data: PNG }, mediaType: "image/png" },
  ]);
  const controller = new AbortController();
  const through = call(manager, "far__shed", { call: { name: "patient", arguments: {} } }, controller.signal);
  await until(() => state.running === 1);
  controller.abort();
  expect((await through).errorDetail).toBe("cancelled");
  await until(() => state.cancelled === 1);
  expect(events.filter(({ type }) => type === "problem")).toEqual([]);
});

test("over HTTP: a client without the token is not let in, and its own key is not told", async () => {
  const { url } = await listening(shed, { token: new Secret("let-me-in-123") });
  const wrong = await connect({ far: { url, headers: { Authorization: "Bearer let-me-out-456" } } });
  expect(wrong.servers.status()[0]?.state).toBe("unauthorized");
  expect(JSON.stringify(wrong.servers.status())).not.toContain("let-me-out-456");
  const right = await connect(
    // biome-ignore lint/suspicious/noTemplateCurlyInString: what stands in a configuration
    { far: { url, headers: { Authorization: "Bearer ${TOKEN}" } } },
    { parse: { variables: { TOKEN: "let-me-in-123" } } },
  );
  expect(textOf(await call(right.manager, "far__echo", { value: "in" }))).toBe("in");
});

test("over HTTP: pages of browsers and hosts of other names are refused, unknown sessions are told to begin anew", async () => {
  const { url } = await listening(shed);
  const plain = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const post = (headers: object) => fetch(url, { method: "POST", body: "{}", headers: { ...plain, ...headers } });
  expect((await post({ origin: "https://evil.example" })).status).toBe(403);
  expect((await post({ origin: "null" })).status).toBe(403);
  expect((await post({ "mcp-session-id": "x" })).status).toBe(404);
  expect((await post({})).status).toBe(400);
  expect((await fetch(url)).status).toBe(400);
  expect((await fetch(url.replace("/mcp", "/other"))).status).toBe(404);
  const handler = serveShed(shed).http();
  expect((await handler(new Request("http://rebound.example/mcp", { method: "POST", body: "{}" }))).status).toBe(403);
});

test("over HTTP: a client beyond the limit takes the place of the one that was silent longest, which begins anew", async () => {
  const { url } = await listening(shed, { maxClients: 1 });
  const one = await connect({ far: { url } });
  const two = await connect({ far: { url } });
  expect(textOf(await call(two.manager, "far__echo", { value: "two" }))).toBe("two");
  expect(textOf(await call(one.manager, "far__echo", { value: "one" }))).toBe("one");
});

test("over HTTP: a server that is restarted is found again by the next call", async () => {
  const first = await listening(shed);
  let now = first.url;
  const toNow: typeof fetch = (url, init) => fetch(String(url).replace(first.url, now), init);
  const { manager } = await connect({ far: { url: first.url } }, { sleep: async () => {}, fetch: toNow });
  expect(textOf(await call(manager, "far__echo", { value: "1" }))).toBe("1");
  await first.close();
  expect((await call(manager, "far__echo", { value: "2" })).errorDetail).toMatch(/network|serviceUnavailable/);
  now = (await listening(shed)).url;
  expect(textOf(await call(manager, "far__echo", { value: "3" }))).toBe("3");
});

test("over HTTP: the SDK's own client works with it", async () => {
  const { url } = await listening(shed);
  const client = new Client({ name: "test", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  expect(await names(client)).toContain("echo");
  expect(await client.callTool({ name: "echo", arguments: { value: "x" } })).toMatchObject({
    content: [{ text: "x" }],
  });
  await client.close();
});

test("by name: the list never changes, and calls by use_tool need leave under the names of the tools", async () => {
  const asked: string[] = [];
  const before = async ({ tool }: { tool: string }) => void asked.push(tool);
  const { client, changes } = await clientOf(shed.callByName(), { offer: "shed", before });
  expect(await names(client)).toEqual(["shed", "use_tool"]);
  const found = await client.callTool({ name: "shed", arguments: { description: "echo a text" } });
  expect(JSON.stringify(found.content)).toContain("Call them by use_tool");
  const called = { tool_name: "echo", tool_input: { value: "hi" } };
  const said = await client.callTool({ name: "use_tool", arguments: called });
  expect(said.content).toEqual([{ type: "text", text: "hi" }]);
  const unknown = await client.callTool({ name: "use_tool", arguments: { tool_name: "nothing" } });
  expect(unknown.isError).toBe(true);
  expect(asked).toEqual(["echo"]);
  expect(await names(client)).toEqual(["shed", "use_tool"]);
  expect(changes).toEqual([]);
  await expect(client.callTool({ name: "nothing", arguments: {} })).rejects.toThrow(/There is no tool/);
});

/** A tool that remembers, and whose session lets nobody pay; one that would; one that has the other called. */
const guarded = new ToolShed().tools([
  toolFn("keep", ({ memory, resources }) => {
    const gate: CallGate = ({ tool }) => (tool === "pay" ? { deny: "nothing is paid now" } : undefined);
    resources.getOrDefault(callGates, () => new Set()).add(gate);
    return new FnTool("keep", "Keeps a fact.", { type: "object" }, async () => {
      await memory.edit((facts) => [...facts, "tea"]);
      return `${(await memory.facts()).length} kept`;
    });
  }),
  new FnTool("pay", "Pays.", { type: "object" }, async () => "paid"),
  new FnTool("around", "Pays by pay.", { type: "object" }, async (_, { dispatch }) => {
    return (await dispatch?.("pay", {}))?.text ?? "nothing";
  }),
]);

test("a client's tools remember as long as it is there, and what guards its session is asked, by every way", async () => {
  for (const offer of ["whole", "shed"] as const) {
    const { client } = await clientOf(guarded, { offer });
    const say = async (name: string) => {
      const { content, isError } = await client.callTool({ name });
      return [isError, content];
    };
    if (offer === "shed")
      for (const name of ["keep", "pay", "around"])
        await client.callTool({ name: "shed", arguments: { description: name } });
    expect(await say("keep")).toMatchObject([undefined, [{ text: "1 kept" }]]);
    expect(await say("keep")).toMatchObject([undefined, [{ text: "2 kept" }]]);
    const refusal = [true, [{ text: expect.stringContaining("nothing is paid now") }]];
    expect(await say("pay")).toMatchObject(refusal);
    expect(await say("around")).toMatchObject(refusal);
    const { client: other } = await clientOf(guarded, { offer: "whole" });
    expect((await other.callTool({ name: "keep" })).content).toMatchObject([{ text: "1 kept" }]);
  }
});
