import { backendKey } from "@shedkit/provider/conformance";
import { ScriptedServer } from "@shedkit/testing";
import {
  type AssistantMessage,
  type Message,
  Messages,
  type ModelOutput,
  type ToolDeclarations,
  type ToolResultMessage,
} from "@shedkit/types";
import { describe, expect, it } from "vitest";
import { AnthropicMessagesProvider } from "../src/index.js";
import { connect, exchange, outputs, question } from "./open.js";

const block = (output: ModelOutput, model = "claude-sonnet-4-5"): AssistantMessage => ({
  type: "assistant",
  id: `${Math.random()}`,
  turnId: "t",
  stepId: "s",
  model,
  output,
});
const result = (content: ToolResultMessage["content"], errorDetail?: string): ToolResultMessage => ({
  type: "toolResult",
  id: "r",
  turnId: "t",
  stepId: "s",
  toolCallId: "c",
  name: "read",
  content,
  ...(errorDetail !== undefined && { errorDetail }),
});
const image = { type: "image", mediaType: "image/png", source: { type: "base64", data: "iVBO" } } as const;
const refused = (message: string) => ({ status: 400, error: { code: "invalid_request_error", message } });

describe("a request", () => {
  it("has its parts where the wire wants them", async () => {
    const { bodies } = await exchange(["ok"], {
      system: "You help.",
      messages: [
        { type: "user", id: "u", role: "user", content: [{ type: "text", text: "Look" }, image] },
        block({ type: "thinking", text: "Hm.", signature: "s" }),
        block({ type: "text", text: "Looking." }),
        block({ type: "toolCall", id: "c", name: "read", arguments: { path: "a" } }),
        result([image], undefined),
        Messages.agent("Be brief."),
      ],
      params: { maxTokens: 100, temperature: 0.5, stop: ["END", " "] },
    });
    const source = { type: "base64", media_type: "image/png", data: "iVBO" };
    const cache_control = { type: "ephemeral" };
    expect(bodies[0]).toEqual({
      model: "claude-sonnet-4-5",
      max_tokens: 100,
      stop_sequences: ["END"],
      temperature: 0.5,
      system: [{ type: "text", text: "You help.", cache_control }],
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "Look" },
            { type: "image", source, cache_control },
          ],
        },
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "Hm.", signature: "s" },
            { type: "text", text: "Looking." },
            { type: "tool_use", id: "c", name: "read", input: { path: "a" } },
          ],
        },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "c", content: [{ type: "image", source }] },
            { type: "text", text: "Be brief.", cache_control },
          ],
        },
      ],
      stream: true,
    });
  });

  it("has what the program says as a system message, where the model takes one", async () => {
    const messages = [Messages.user("Hi"), Messages.agent("Be brief."), Messages.user("So?")];
    const { bodies } = await exchange(["ok"], { messages, model: { name: "claude-opus-5-5" } });
    const roles = (body: unknown) => (body as { messages: { role: string }[] }).messages.map(({ role }) => role);
    expect(roles(bodies[0])).toEqual(["user", "system"]);
    const refusal = refused('messages.1: Unexpected role "system"');
    const again = await exchange([refusal, "ok"], { messages, model: { name: "claude-opus-5-5" } });
    expect(roles(again.bodies[1])).toEqual(["user"]);
  });

  it("marks a failed result as one, with text alone", async () => {
    const messages = [
      Messages.user("Go."),
      block({ type: "toolCall", id: "c", name: "read", arguments: {} }),
      result([{ type: "text", text: "no such file" }, image], "notFound"),
    ];
    const { bodies } = await exchange(["ok"], { messages });
    expect(JSON.stringify(bodies[0])).toContain(
      '{"type":"tool_result","tool_use_id":"c","content":[{"type":"text","text":"no such file"}],"is_error":true',
    );
  });

  it("says something of a failed result without text, and that a result which reveals a tool has failed", async () => {
    const failed = async (content: ToolResultMessage["content"], more: object = {}) => {
      const call = block({ type: "toolCall", id: "c", name: "read", arguments: {} });
      const messages = [Messages.user("Go."), call, result(content, "notActive")];
      const { bodies } = await exchange(["ok"], { messages, ...more });
      const [, , last] = (bodies[0] as { messages: { content: { content: object[]; is_error?: boolean }[] }[] })
        .messages;
      const [first, ...beside] = last?.content ?? [];
      return { sent: first?.content, is_error: first?.is_error, beside };
    };
    const silent = { sent: [{ type: "text", text: "(no output)" }], is_error: true, beside: [] };
    expect(await failed([image])).toEqual(silent);
    expect(await failed([])).toEqual(silent);
    const definition = { name: "read", category: "", description: "Reads.", arguments: { type: "object" } };
    const tools: ToolDeclarations = {
      shed: { type: "single", definition: { ...definition, name: "shed" } },
      tools: [{ type: "single", definition }],
      activations: [{ name: "read", by: "call" }],
    };
    // References stand alone in a result: what it says comes behind it.
    const reference = [{ type: "tool_reference", tool_name: "read" }];
    const cache_control = { type: "ephemeral" };
    const label = { type: "text", text: "The result of read (c):" };
    expect(await failed([{ type: "text", text: "Look it up." }], { tools })).toEqual({
      sent: reference,
      beside: [label, { type: "text", text: "Error: Look it up.", cache_control }],
    });
    expect(await failed([image], { tools })).toMatchObject({
      sent: reference,
      beside: [label, { type: "text", text: "Error" }, { type: "image" }],
    });
  });

  it("leaves out what a server ran and did not finish, unless it still runs", async () => {
    const opaque = (value: { [key: string]: string }) => block({ type: "opaque", provider: "anthropic", block: value });
    const use = { type: "server_tool_use", id: "s1", name: "web_search" };
    const found = { type: "web_search_tool_result", tool_use_id: "s2" };
    const broken = [Messages.user("Go."), opaque(use), opaque(found), block({ type: "text", text: "Well." })];
    const { bodies } = await exchange(["ok", "ok"], { messages: [...broken, Messages.user("So?")] });
    expect(JSON.stringify(bodies[0])).not.toContain("web_search");
    const running = await exchange(["ok"], { messages: [Messages.user("Go."), opaque(use)] });
    expect(JSON.stringify(running.bodies[0])).toContain("server_tool_use");
  });

  it("declares the tools of a conversation where the server wants that", async () => {
    const call = block({ type: "toolCall", id: "c", name: "read", arguments: {} });
    const messages = [Messages.user("Go."), call, result([{ type: "text", text: "x" }])];
    const wanted = refused("Requests which include `tool_use` or `tool_result` blocks must define tools.");
    const { bodies } = await exchange([wanted, "one", "two"], { messages }, { times: 2 });
    expect(bodies[0]).not.toHaveProperty("tools");
    for (const body of bodies.slice(1))
      expect(body).toMatchObject({ tools: [{ name: "read" }], tool_choice: { type: "none" } });
  });

  it("sends a server that takes text alone no images, and says so", async () => {
    const messages: Message[] = [
      { type: "user", id: "u", role: "user", content: [{ type: "text", text: "See" }, image] },
    ];
    const answers = [refused("This model does not support image input."), "one"];
    const { bodies, events } = await exchange(answers, { messages }, { as: "compatible" });
    expect([bodies.map((body) => JSON.stringify(body).includes("iVBO"))]).toEqual([[true, false]]);
    expect(events[0]).toMatchObject({ type: "start", warnings: [{ message: expect.stringContaining("text alone") }] });
  });

  it.each([
    ["low", "thinking.adaptive.display: Extra inputs are not permitted", { thinking: { type: "adaptive" } }],
    ["low", "adaptive thinking is not supported on this model", { thinking: { type: "enabled", budget_tokens: 2048 } }],
    [
      "off",
      '"thinking.type.disabled" is not supported: use "adaptive" with an effort',
      { output_config: { effort: "low" } },
    ],
  ] as const)("that thinks %s goes the other way where the server says %j", async (thinking, text, wanted) => {
    const request = { model: { name: "claude-next" }, params: { thinking } };
    const { bodies } = await exchange([refused(text), "one", "two"], request, { times: 2 });
    expect(bodies).toHaveLength(3);
    for (const body of bodies.slice(1)) expect(body).toMatchObject(wanted);
    if (thinking === "off") expect(bodies[1]).not.toHaveProperty("thinking");
  });

  it("thinks as the model chooses where a budget is refused", async () => {
    const text = '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive".';
    const { bodies } = await exchange([refused(text), "one"], { params: { thinking: "high" } });
    expect(bodies[1]).toMatchObject({ thinking: { type: "adaptive" }, output_config: { effort: "high" } });
  });

  it.each([
    ["claude-sonnet-4-5", "low", { thinking: { type: "enabled", budget_tokens: 2048 }, max_tokens: 10_240 }],
    ["claude-sonnet-4-5", { budgetTokens: 100 }, { thinking: { type: "enabled", budget_tokens: 1024 } }],
    [
      "claude-opus-5-5",
      "high",
      { thinking: { type: "adaptive", display: "summarized" }, output_config: { effort: "high" } },
    ],
    ["claude-opus-5", "off", { thinking: { type: "disabled" } }],
    ["claude-opus-5-5", "off", { output_config: { effort: "low" } }],
  ] as const)("to %s that thinks %j", async (name, thinking, wanted) => {
    const { bodies, events } = await exchange(["ok"], { model: { name }, params: { thinking, topK: 3 } });
    expect(bodies[0]).toMatchObject(wanted);
    if (name === "claude-opus-5") return;
    expect(bodies[0]).not.toHaveProperty("top_k");
    expect(events[0]).toMatchObject({ type: "start", warnings: [{ message: expect.stringContaining("topK") }] });
  });

  it("does not think where the limit leaves no room", async () => {
    const { bodies } = await exchange(["ok"], { params: { thinking: "high", maxTokens: 500 } });
    expect(bodies[0]).toMatchObject({ max_tokens: 500 });
    expect(bodies[0]).not.toHaveProperty("thinking");
  });

  it("leaves out a parameter that the server refuses, at once and from then on", async () => {
    const answers = [refused("`temperature` is deprecated for this model."), "one", "two"];
    const { bodies } = await exchange(answers, { params: { temperature: 0.1 } }, { times: 2 });
    expect(bodies.map((body) => "temperature" in body)).toEqual([true, false, false]);
  });
});

describe("an answer with a schema", () => {
  const output = {
    type: "object",
    properties: { n: { type: "integer", minimum: 1 }, note: { type: "string" } },
    required: ["n"],
  };

  it("is native where the model has it", async () => {
    const { bodies, events } = await exchange(['{"n":3,"note":null}'], { output });
    expect(bodies[0]).toMatchObject({
      output_config: {
        format: {
          type: "json_schema",
          schema: { additionalProperties: false, properties: { n: { description: "(minimum: 1)" } } },
        },
      },
    });
    expect(outputs(events)).toEqual([{ type: "text", text: '{"n":3}' }]);
  });

  it.each([
    ["claude-3-5-haiku-latest", output],
    ["claude-sonnet-4-5", { ...output, additionalProperties: { type: "string" } }],
  ])("is a forced call elsewhere, which reads as text: %s", async (name, schema) => {
    const answers = [[{ call: "answer", arguments: { n: 3 } }]];
    const { bodies, events } = await exchange(answers, { output: schema, model: { name } });
    expect(bodies[0]).toMatchObject({ tool_choice: { type: "any" }, tools: [{ name: "answer" }] });
    expect(outputs(events)).toEqual([{ type: "text", text: '{"n":3}' }]);
    expect(events.at(-1)).toEqual({ type: "finish", reason: "stop" });
  });

  it("is a call that is asked for where none can be forced", async () => {
    const schema = { ...output, additionalProperties: { type: "string" } };
    const answers = [[{ call: "answer", arguments: { n: 3 } }]];
    const { bodies } = await exchange(answers, { output: schema, model: { name: "claude-sonnet-5-5" } });
    expect(bodies[0]).toMatchObject({ tool_choice: { type: "auto" }, tools: [{ name: "answer" }] });
    const refusal = refused("tool_choice: forcing a tool is not supported for this model");
    const learned = await exchange([refusal, ...answers], { output: schema, model: { name: "claude-next" } });
    expect(learned.bodies.map(({ tool_choice }) => tool_choice)).toEqual([{ type: "any" }, { type: "auto" }]);
  });

  it("is a forced call where the server refuses the native way", async () => {
    const answers = [refused("output_config.format: not supported"), [{ call: "answer", arguments: { n: 3 } }]];
    const { events } = await exchange(answers, { output });
    expect(outputs(events)).toEqual([{ type: "text", text: '{"n":3}' }]);
  });
});

describe("thinking between calls", () => {
  const tool = { name: "read", category: "", description: "Reads.", arguments: { type: "object" } };
  const tools: ToolDeclarations = { tools: [{ type: "single", definition: tool }], activations: [] };

  it.each([
    ["claude-sonnet-4-5", { tools, params: { thinking: "high" } }, "mine,interleaved-thinking-2025-05-14"],
    ["claude-sonnet-4-5", { tools }, "mine"],
    ["claude-sonnet-4-5", { params: { thinking: "high" } }, "mine"],
    ["claude-opus-5-5", { tools, params: { thinking: "high" } }, "mine"],
  ] as const)("is asked of %s with %j as far as it has to be", async (name, request, betas) => {
    await using server = await ScriptedServer.start(["ok"]);
    const provider = connect(server, "anthropic", { headers: { "anthropic-beta": "mine" } });
    for await (const event of provider.stream(question({ model: { name }, ...request }))) void event;
    expect(server.requests[0]?.headers["anthropic-beta"]).toBe(betas);
  });
});

describe("AnthropicMessagesProvider", () => {
  it("says which models it serves, and what they can take", async () => {
    const provider = AnthropicMessagesProvider.apiKey("k");
    expect([provider.serves({ name: "claude-x" }), provider.serves({ name: "gpt-4o" })]).toEqual(["yes", "no"]);
    const limits = async (name: string) => {
      const { contextWindow, maxOutput, price } = await provider.describe({ name });
      return [contextWindow, maxOutput, price];
    };
    expect(await limits("claude-haiku-4-5-20251001")).toMatchObject([200_000, 64_000, { inputPerMillion: 1 }]);
    expect(await limits("claude-sonnet-4-6")).toMatchObject([1_000_000, 128_000, { outputPerMillion: 15 }]);
    expect(await limits("claude-opus-4-7")).toMatchObject([1_000_000, 128_000, { outputPerMillion: 25 }]);
    for (const name of ["claude-something-new", "claude-opus-4-9", "claude-opus-4-8-mini"])
      expect(await limits(name)).toEqual([200_000, 32_000, undefined]);
    expect(() => AnthropicMessagesProvider.fromEnv({})).toThrow(/ANTHROPIC_API_KEY/);
  });

  it("says what an answer costs by the API's own prices, by those it is given, and by none elsewhere", async () => {
    const usage = { input: 1_000_000, output: 100_000, cacheRead: 1_000_000, cacheWrite: 1_000_000 };
    const cost = async (config: Parameters<typeof exchange>[2]) => {
      const { events } = await exchange([{ answer: { parts: ["x"], usage } }], {}, config);
      const reported = events.find((event) => event.type === "usage");
      return reported?.type === "usage" ? reported.usage.costUsd : undefined;
    };
    expect(await cost({})).toBeCloseTo(3 + 1.5 + 0.3 + 3.75);
    expect(await cost({ as: "compatible" })).toBeUndefined();
    const price = { inputPerMillion: 1, outputPerMillion: 1, asOf: "2026-01-01" };
    const models = { "claude-sonnet-4-5": { price } };
    expect(await cost({ models })).toBeCloseTo(3.1);
    expect(await cost({ as: "compatible", models })).toBeCloseTo(3.1);
  });

  it("counts tokens by the API's own count", async () => {
    await using server = await ScriptedServer.start([
      { json: { input_tokens: 42 } },
      { status: 401, error: { code: "authentication_error", message: "no" } },
    ]);
    const provider = connect(server, "anthropic");
    expect(await provider.countTokens(question({ system: "You help.", params: { temperature: 1 } }))).toBe(42);
    expect(server.requests[0]?.path).toBe("/v1/messages/count_tokens");
    expect(Object.keys(server.requests[0]?.body ?? {}).sort()).toEqual(["messages", "model", "system"]);
    await expect(provider.countTokens(question())).rejects.toMatchObject({ code: "auth" });
  });

  it("sends its key, also where servers that speak like the real API look for it", async () => {
    await using server = await ScriptedServer.start(["ok", "ok"]);
    for (const as of ["anthropic", "compatible"] as const)
      for await (const _ of connect(server, as).stream(question()));
    const bearer = { authorization: `Bearer ${backendKey}`, "anthropic-version": expect.any(String) };
    expect(server.requests[0]?.headers).toMatchObject(bearer);
    expect(server.requests[0]?.headers).not.toHaveProperty("x-api-key");
    expect(server.requests[1]?.headers).toMatchObject({ ...bearer, "x-api-key": backendKey });
  });
});
