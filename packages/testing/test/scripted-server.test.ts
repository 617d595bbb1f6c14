import { AgenticError } from "@shedkit/types";
import { describe, expect, it } from "vitest";
import { Gate, rechunkFetch, ScriptedServer } from "../src/index.js";

const overloaded = new AgenticError("generation", "busy", { kind: "overloaded", provider: "p", model: "m" });

const bodies = {
  "/v1/chat/completions": { model: "m", messages: [{ role: "user", content: "hi" }], stream: true },
  "/v1/messages": { model: "m", max_tokens: 10, messages: [{ role: "user", content: "hi" }], stream: true },
  "/v1/responses": { model: "m", input: "hi", stream: true },
};
const paths = Object.keys(bodies) as (keyof typeof bodies)[];

function post(url: string, body: object, init: RequestInit = {}, via: typeof fetch = fetch): Promise<Response> {
  return via(url, { method: "POST", body: JSON.stringify(body), ...init });
}

/** The JSON events of a stream. */
function events(text: string): { [key: string]: unknown }[] {
  return text
    .split("\n")
    .filter((line) => line.startsWith("data: ") && line !== "data: [DONE]")
    .map((line) => JSON.parse(line.slice(6)) as { [key: string]: unknown });
}

describe("ScriptedServer", () => {
  it.each(paths)(
    "speaks text, thinking and calls on %s, cut as told, the same however the bytes are cut",
    async (path) => {
      const answer = [{ thinking: "hm" }, "Grüße 😀", { call: "read", arguments: { path: "ä" } }];
      await using server = await ScriptedServer.start([{ answer }, { answer, split: 1 }, { answer }], { chunkSize: 3 });
      const whole = await (await post(server.url + path, bodies[path])).text();
      const split = await (await post(server.url + path, bodies[path])).text();
      const cut = await (await post(server.url + path, bodies[path], {}, rechunkFetch([1, 7, 2]))).text();
      for (const text of [whole, split, cut]) {
        expect(JSON.stringify(events(text))).toContain("😀");
        expect(events(text)).toHaveLength(events(whole).length);
      }
      expect(split.replace(/(chatcmpl-|(msg|resp|call|toolu|fc|rs)_)2/g, (_, head) => `${head}1`)).toBe(whole);
      expect(server.requests.map((request) => request.path)).toEqual([path, path, path]);
      expect(server.requests[0]?.body).toEqual(bodies[path]);
    },
  );

  it.each(paths)("puts a failure into the stream of %s", async (path) => {
    await using server = await ScriptedServer.start([["half", { fail: overloaded }]]);
    const text = await (await post(server.url + path, bodies[path])).text();
    expect(text).toContain("half");
    expect(text).toContain("overloaded_error");
  });

  it("replays recorded events, framed for the wire", async () => {
    const recorded = ['{"type":"ping"}', "", '{"type":"message_stop"}'];
    await using server = await ScriptedServer.start([{ events: recorded }]);
    const response = await post(`${server.url}/v1/messages`, bodies["/v1/messages"]);
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    expect(await response.text()).toBe(
      'event: ping\ndata: {"type":"ping"}\n\nevent: message_stop\ndata: {"type":"message_stop"}\n\n',
    );
  });

  it("answers with a status, headers, and the wire's error body", async () => {
    await using server = await ScriptedServer.start([
      { status: 429, headers: { "retry-after": "2" }, error: { code: "rate_limit_error", message: "slow down" } },
      { json: { data: [] } },
    ]);
    const refused = await post(`${server.url}/v1/messages`, bodies["/v1/messages"]);
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "2"]);
    expect(await refused.json()).toEqual({ type: "error", error: { type: "rate_limit_error", message: "slow down" } });
    expect(await (await fetch(`${server.url}/v1/models`)).json()).toEqual({ data: [] });
  });

  it("cuts the connection before any header, or after so many bytes", async () => {
    await using server = await ScriptedServer.start([
      { answer: "hello", cutAfter: -1 },
      { answer: "hello", cutAfter: 10 },
    ]);
    const url = `${server.url}/v1/chat/completions`;
    await expect(post(url, bodies["/v1/chat/completions"])).rejects.toThrow();
    const broken = await post(url, bodies["/v1/chat/completions"]);
    await expect(broken.text()).rejects.toThrow();
  });

  it("stalls until the client leaves, pings meanwhile, and sees it leave", async () => {
    await using server = await ScriptedServer.start([{ answer: "hello", stallAfter: 40, pingEveryMs: 1 }]);
    const leaving = new AbortController();
    const url = `${server.url}/v1/chat/completions`;
    const response = await post(url, bodies["/v1/chat/completions"], { signal: leaving.signal });
    let text = "";
    for await (const bytes of response.body ?? []) {
      text += new TextDecoder().decode(bytes);
      if (text.includes(": keep-alive\n\n: keep-alive")) break;
    }
    leaving.abort();
    expect(await server.requests[0]?.over).toBe("left");
  });

  it("holds an answer back at a gate, before it begins or within", async () => {
    const [before, within] = [new Gate(), new Gate()];
    await using server = await ScriptedServer.start([{ answer: ["a", { wait: within }, "b"], wait: before }]);
    const pending = post(`${server.url}/v1/chat/completions`, bodies["/v1/chat/completions"]);
    await before.reached;
    before.open();
    const response = await pending;
    await within.reached;
    within.open();
    expect(await response.text()).toContain('"b"');
    expect(await server.requests[0]?.over).toBe("answered");
  });

  it("breaks what is open when it closes", async () => {
    const server = await ScriptedServer.start([{ answer: "hello", stallAfter: 5 }]);
    const response = await post(`${server.url}/v1/chat/completions`, bodies["/v1/chat/completions"]);
    const reading = response.text();
    await server.close();
    await expect(reading).rejects.toThrow();
    await server.close();
  });

  it("says which request has no answer", async () => {
    await using server = await ScriptedServer.start([]);
    const response = await post(`${server.url}/v1/responses`, bodies["/v1/responses"]);
    expect(response.status).toBe(500);
    expect(await response.text()).toContain("no answer for request 1");
  });
});

const call = (id: string) => ({ type: "tool_use", id, name: "t", input: {} });
const answer = (id: string, content: unknown = "ok") => ({ type: "tool_result", tool_use_id: id, content });
const schema = { type: "object", properties: {} };
const deferred = { name: "t", input_schema: schema, defer_loading: true };
const user = (content: unknown) => ({ role: "user", content });
const assistant = (content: unknown) => ({ role: "assistant", content });
const system = { role: "system", content: "s" };

describe("what the real API refuses", () => {
  it.each([
    ["an orphan result", { messages: [user([answer("x")])] }, /unexpected tool_use_id/],
    ["a call without a result", { messages: [user("a"), assistant([call("x")]), user("b")] }, /without tool_result/],
    [
      "a result behind a text",
      { messages: [user("a"), assistant([call("x")]), user([{ type: "text", text: "b" }, answer("x")])] },
      /must come first/,
    ],
    ["tools that are all deferred", { tools: [deferred], messages: [user("a")] }, /At least one tool/],
    [
      "a reference to an undeclared tool",
      {
        messages: [
          user("a"),
          assistant([call("x")]),
          user([answer("x", [{ type: "tool_reference", tool_name: "u" }])]),
        ],
      },
      /not found/,
    ],
    [
      "a failed result of nothing",
      { messages: [user("a"), assistant([call("x")]), user([{ ...answer("x", ""), is_error: true }])] },
      /cannot be empty/,
    ],
    [
      "a failed result that reveals a tool",
      {
        tools: [{ name: "s", input_schema: schema }, deferred],
        messages: [
          user("a"),
          assistant([call("x")]),
          user([{ ...answer("x", [{ type: "tool_reference", tool_name: "t" }]), is_error: true }]),
        ],
      },
      /must be type 'text'/,
    ],
    [
      "a result of references and text",
      {
        tools: [{ name: "s", input_schema: schema }, deferred],
        messages: [
          user("a"),
          assistant([call("x")]),
          user([
            answer("x", [
              { type: "text", text: "b" },
              { type: "tool_reference", tool_name: "t" },
            ]),
          ]),
        ],
      },
      /cannot be mixed/,
    ],
    [
      "a server's tool without its result",
      {
        messages: [user("a"), assistant([{ type: "server_tool_use", id: "s", name: "n", input: {} }]), user("b")],
      },
      /without its counterpart/,
    ],
    [
      "a system message behind the assistant",
      { messages: [user("a"), assistant("b"), system, assistant("c")] },
      /must follow a user/,
    ],
    ["a user behind a system message", { messages: [user("a"), system, user("b")] }, /cannot follow a system/],
    ["the assistant first", { messages: [assistant("a")] }, /first message/],
    ["an empty text", { messages: [user([{ type: "text", text: "" }])] }, /non-empty/],
    [
      "thinking at the end",
      { messages: [user("a"), assistant([{ type: "thinking", thinking: "b" }]), user("c")] },
      /thinking/,
    ],
    [
      "a union at the top",
      { tools: [{ name: "t", input_schema: { type: "object", anyOf: [] } }], messages: [user("a")] },
      /anyOf/,
    ],
    [
      "five cache marks",
      {
        messages: [
          user([1, 2, 3, 4, 5].map((n) => ({ type: "text", text: `${n}`, cache_control: { type: "ephemeral" } }))),
        ],
      },
      /maximum of 4/,
    ],
  ])("Anthropic: %s", async (_, body, message) => {
    await expectRefusal("/v1/messages", { model: "m", max_tokens: 9, ...body }, message);
  });

  it.each([
    ["an orphan result", { messages: [{ role: "tool", tool_call_id: "x", content: "" }] }, /must follow/],
    [
      "a call without a result",
      { messages: [{ role: "assistant", tool_calls: [{ id: "x", function: { arguments: "" } }] }, user("a")] },
      /without a response/,
    ],
    [
      "an illegal name",
      { messages: [user("a")], tools: [{ function: { name: "a.b", parameters: schema } }] },
      /does not match/,
    ],
    [
      "a list that does not say of what",
      {
        messages: [user("a")],
        tools: [{ function: { name: "t", parameters: { type: "object", properties: { a: { type: "array" } } } } }],
      },
      /array schema missing items/,
    ],
    [
      "a tuple of an older draft",
      {
        messages: [user("a")],
        tools: [
          {
            function: { name: "t", parameters: { type: "object", properties: { a: { type: "array", items: [{}] } } } },
          },
        ],
      },
      /items is not of type/,
    ],
    [
      "a strict schema with a keyword of somebody's own",
      {
        messages: [user("a")],
        tools: [
          {
            function: {
              name: "t",
              strict: true,
              parameters: { type: "object", additionalProperties: false, properties: {}, "x-order": 1 },
            },
          },
        ],
      },
      /'x-order' is not permitted/,
    ],
    [
      "a strict schema with an optional",
      {
        messages: [user("a")],
        tools: [
          {
            function: {
              name: "t",
              strict: true,
              parameters: { type: "object", additionalProperties: false, properties: { a: {} } },
            },
          },
        ],
      },
      /must be in required/,
    ],
    [
      "a long id",
      { messages: [{ role: "assistant", tool_calls: [{ id: "x".repeat(41), function: { arguments: "" } }] }] },
      /40 characters/,
    ],
  ])("Chat: %s", async (_, body, message) => {
    await expectRefusal("/v1/chat/completions", { model: "m", ...body }, message);
  });

  it.each([
    ["an orphan output", { input: [{ type: "function_call_output", call_id: "x", output: "" }] }, /no tool call found/],
    [
      "a call without an output",
      { input: [{ type: "function_call", call_id: "x", arguments: "{}" }] },
      /no tool output found/,
    ],
    [
      "reasoning that nothing follows",
      { input: [{ type: "reasoning", id: "r" }, user("a")] },
      /required following item/,
    ],
    [
      "a nested function",
      { input: "a", tools: [{ type: "function", function: { name: "t" } }] },
      /missing required parameter/,
    ],
    [
      "a schema that is strict by default",
      { input: "a", tools: [{ type: "function", name: "t", parameters: schema }] },
      /additionalProperties/,
    ],
  ])("Responses: %s", async (_, body, message) => {
    await expectRefusal("/v1/responses", { model: "m", ...body }, message);
  });
});

async function expectRefusal(path: string, body: object, message: RegExp): Promise<void> {
  await using server = await ScriptedServer.start(["never"]);
  const response = await post(server.url + path, body);
  expect(response.status).toBe(400);
  expect(JSON.stringify(await response.json())).toMatch(message);
}
