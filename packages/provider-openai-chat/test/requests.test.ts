import { RequestLimit } from "@shedkit/provider/adapter";
import { ScriptedServer } from "@shedkit/testing";
import { type AssistantMessage, type Message, Messages, type ModelOutput, type Tool } from "@shedkit/types";
import { describe, expect, it } from "vitest";
import { OpenAIProvider } from "../src/index.js";
import { connect, exchange, outputs } from "./open.js";

const tool = (name: string, properties: object = { path: { type: "string" } }): Tool => ({
  type: "single",
  definition: { name, category: "read", description: `Does ${name}.`, arguments: { type: "object", properties } },
});
const block = (output: ModelOutput): AssistantMessage => ({
  type: "assistant",
  id: "a",
  turnId: "t",
  stepId: "s",
  model: "m",
  output,
});
const refused = (message: string, param?: string) => ({
  status: 400,
  json: { error: { message, type: "invalid_request_error", ...(param && { param }) } },
});

describe("a request", () => {
  it("to OpenAI itself is strict where the schema qualifies, and names things as OpenAI does", async () => {
    const { bodies, events } = await exchange(
      ["ok"],
      {
        model: { name: "gpt-4o" },
        system: "You help.",
        messages: [Messages.user("Hi"), Messages.agent("Be brief.")],
        tools: { shed: tool("shed", {}), tools: [tool("read"), tool("free", { any: {} })], activations: [] },
        params: { maxTokens: 9, temperature: 0.5, topK: 3, stop: ["x"], thinking: "high" },
      },
      { as: "openai" },
    );
    expect(bodies[0]).toEqual({
      model: "gpt-4o",
      messages: [
        { role: "system", content: "You help." },
        { role: "user", content: "Hi" },
        { role: "system", content: "Be brief." },
      ],
      tools: [
        {
          type: "function",
          function: {
            name: "shed",
            description: "Does shed.",
            parameters: { type: "object", properties: {}, required: [], additionalProperties: false },
            strict: true,
          },
        },
        {
          type: "function",
          function: {
            name: "read",
            description: "Does read.",
            parameters: {
              type: "object",
              properties: { path: { type: ["string", "null"] } },
              required: ["path"],
              additionalProperties: false,
            },
            strict: true,
          },
        },
        {
          type: "function",
          function: {
            name: "free",
            description: "Does free.",
            parameters: { type: "object", properties: { any: {} } },
          },
        },
      ],
      max_completion_tokens: 9,
      temperature: 0.5,
      stop: ["x"],
      stream: true,
      stream_options: { include_usage: true },
    });
    expect(events[0]).toMatchObject({ type: "start", warnings: [{ message: expect.stringContaining("topK") }] });
  });

  it("to a model that thinks has an effort and no sampling", async () => {
    const params = { temperature: 1, topP: 0.5, thinking: "low" as const };
    const { bodies, events } = await exchange(["ok"], { model: { name: "gpt-5-mini" }, params }, { as: "openai" });
    expect(bodies[0]).toMatchObject({ reasoning_effort: "low" });
    expect(bodies[0]).not.toHaveProperty("temperature");
    expect(events[0]?.type === "start" && events[0].warnings).toHaveLength(2);
  });

  it("to another server is plain, with one system message at the front", async () => {
    const { bodies } = await exchange(["ok"], {
      system: "You help.",
      messages: [Messages.user("Hi"), Messages.agent("Be brief.")],
      tools: { tools: [tool("read")], activations: [] },
      params: { maxTokens: 9, topK: 3, repeatPenalty: 1.1, seed: 7 },
    });
    expect(bodies[0]).toEqual({
      model: "m",
      messages: [
        { role: "system", content: "You help." },
        { role: "user", content: "Hi\n\nBe brief." },
      ],
      tools: [
        {
          type: "function",
          function: {
            name: "read",
            description: "Does read.",
            parameters: { type: "object", properties: { path: { type: "string" } } },
          },
        },
      ],
      max_tokens: 9,
      top_k: 3,
      repetition_penalty: 1.1,
      seed: 7,
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  it("sends thinking back with the calls it led to, in the field it came in, and errors marked as such", async () => {
    const { bodies } = await exchange(["ok"], {
      messages: [
        Messages.user("Hi"),
        block({ type: "thinking", text: "I see.", providerData: { openai: { field: "reasoning_content" } } }),
        block({ type: "toolCall", id: "c", name: "read", arguments: { path: "a" } }),
        {
          type: "toolResult",
          id: "r",
          turnId: "t",
          stepId: "s",
          toolCallId: "c",
          name: "read",
          content: [{ type: "text", text: "no such file" }],
          errorDetail: "notFound",
        },
      ],
    });
    expect(bodies[0]?.messages).toEqual([
      { role: "user", content: "Hi" },
      {
        role: "assistant",
        content: null,
        reasoning_content: "I see.",
        tool_calls: [{ id: "c", type: "function", function: { name: "read", arguments: '{"path":"a"}' } }],
      },
      { role: "tool", tool_call_id: "c", content: "Error: no such file" },
    ]);
  });

  it("leaves out what the server refuses, at once and from then on", async () => {
    const { bodies, events } = await exchange(
      [
        refused("Unsupported parameter: 'temperature' is not supported with this model.", "temperature"),
        refused("unknown field stream_options"),
        "one",
        "two",
      ],
      { params: { temperature: 1, topK: 1 } },
      { times: 2 },
    );
    expect(bodies).toHaveLength(4);
    for (const body of bodies.slice(2)) {
      expect(body).not.toHaveProperty("temperature");
      expect(body).not.toHaveProperty("stream_options");
      expect(body).toHaveProperty("top_k");
    }
    expect(outputs(events)).toMatchObject([{ text: "one" }, { text: "two" }]);
  });

  it("limits the output under the other name where the server says so", async () => {
    const text =
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
    const { bodies } = await exchange(
      [refused(text, "max_tokens"), "one", "two"],
      { params: { maxTokens: 9 } },
      { times: 2 },
    );
    const limits = bodies.map((body) => [body.max_tokens, body.max_completion_tokens]);
    expect(limits).toEqual([
      [9, undefined],
      [undefined, 9],
      [undefined, 9],
    ]);
  });

  it("asks that Claude's prompts be cached, but not of servers that do not know how", async () => {
    const model = { name: "anthropic/claude-sonnet-5.5" };
    const { bodies } = await exchange([refused("Unrecognized request argument supplied: cache_control"), "one"], {
      model,
    });
    expect(bodies.map((body) => body.cache_control)).toEqual([{ type: "ephemeral" }, undefined]);
    expect((await exchange(["one"])).bodies[0]).not.toHaveProperty("cache_control");
  });

  describe("after calls", () => {
    const image = { type: "image", mediaType: "image/png", source: { type: "base64", data: "iVBO" } } as const;
    const messages = [
      Messages.user("Go."),
      block({ type: "toolCall", id: "call_of_another_provider", name: "files.read", arguments: {} }),
      {
        type: "toolResult",
        ...{ id: "r", turnId: "t", stepId: "s", toolCallId: "call_of_another_provider", name: "files.read" },
        content: [{ type: "text", text: "seen" }, image],
      },
    ] satisfies Message[];
    const sent = (body: unknown) => (body as { messages: { [key: string]: unknown }[] }).messages;

    it.each([
      [
        "ids of nine letters and digits",
        "Tool call id was call_of_another_provider but must be a-z, A-Z, 0-9, with a length of 9.",
        (body: unknown) => {
          const [, call, result] = sent(body) as [unknown, { tool_calls: { id: string }[] }, { tool_call_id: string }];
          expect(call.tool_calls[0]?.id).toMatch(/^[a-zA-Z0-9]{9}$/);
          expect(result.tool_call_id).toBe(call.tool_calls[0]?.id);
        },
      ],
      [
        "the tool's name with its result",
        "messages.2: missing field `name`",
        (body: unknown) => expect(sent(body)[2]).toMatchObject({ role: "tool", name: "files_read" }),
      ],
      [
        "a text beside the calls",
        "messages.1.content: Input should be a valid string",
        (body: unknown) => expect(sent(body)[1]).toMatchObject({ role: "assistant", content: "" }),
      ],
      [
        "an answer between results and the user",
        "Unexpected role 'user' after role 'tool'",
        (body: unknown) =>
          expect(sent(body).map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant", "user"]),
      ],
      [
        "declarations of the tools that were called",
        "`tools=` must be passed when messages contain tool calls",
        (body: unknown) =>
          expect(body).toMatchObject({ tool_choice: "none", tools: [{ function: { name: "files_read" } }] }),
      ],
      [
        "text alone",
        "unknown variant `image_url`, expected `text`",
        (body: unknown) => {
          expect(sent(body)).toHaveLength(3);
          expect(sent(body)[2]?.content).toContain("[image (image/png), which this model cannot see]");
        },
      ],
    ])("sends %s where the server wants that, at once and from then on", async (_, text, check) => {
      const { bodies, events } = await exchange([refused(text), "one", "two"], { messages }, { times: 2 });
      expect(bodies).toHaveLength(3);
      for (const body of bodies.slice(1)) check(body);
      expect(outputs(events)).toMatchObject([{ text: "one" }, { text: "two" }]);
    });

    it("sends a model of text no images, and says how many it left out", async () => {
      const models = { m: { input: ["text"] } } as const;
      const { bodies, events } = await exchange(["one"], { messages }, { models });
      expect(JSON.stringify(bodies)).not.toContain("iVBO");
      expect(events[0]).toMatchObject({
        warnings: [{ message: "m takes text alone; 1 images or files were left out" }],
      });
    });
  });

  it("has the user and the assistant by turns, the user first, where the server may have a template", async () => {
    const image = { type: "image", mediaType: "image/png", source: { type: "base64", data: "iVBO" } } as const;
    const messages: Message[] = [
      block({ type: "text", text: "cut off" }),
      { ...block({ type: "text", text: "and on" }), stepId: "s2" },
      Messages.user("Hi"),
      Messages.agent("Be brief."),
      { ...Messages.user("See"), content: [{ type: "text", text: "See" }, image] },
      { ...block({ type: "text", text: "Looking." }), stepId: "s3" },
      { ...block({ type: "toolCall", id: "c", name: "read", arguments: {} }), stepId: "s4" },
    ];
    const roles = (body: unknown) =>
      (body as { messages: { role: string; content: unknown }[] }).messages.map(({ role, content }) => [role, content]);
    const [compatible] = (await exchange(["ok"], { messages })).bodies;
    expect(roles(compatible)).toEqual([
      ["user", "(The conversation began earlier.)"],
      ["assistant", "cut off\n\nand on"],
      [
        "user",
        [
          { type: "text", text: "Hi\n\nBe brief." },
          { type: "text", text: "See" },
          { type: "image_url", image_url: { url: "data:image/png;base64,iVBO" } },
        ],
      ],
      ["assistant", "Looking."],
      ["tool", expect.stringContaining("interrupted")],
    ]);
    expect(compatible).toMatchObject({ messages: { 3: { tool_calls: [{ id: "c" }] } } });
    const [own] = (await exchange(["ok"], { messages, model: { name: "gpt-4o" } }, { as: "openai" })).bodies;
    expect(roles(own).map(([role]) => role)).toEqual([
      "assistant",
      "assistant",
      "user",
      "system",
      "user",
      "assistant",
      "assistant",
      "tool",
    ]);
  });

  it("keeps descriptions of tools to the length that the server takes, and loses nothing of them", async () => {
    const description = `${"Reads a file. ".repeat(99)}Never a folder.`;
    const definition = { name: "t", category: "", description, arguments: { type: "object", properties: {} } };
    const tools = { tools: [{ type: "single", definition } as const], activations: [] };
    const message =
      "Invalid 'tools[0].function.description': string too long. Expected a string with maximum length 1024, but got 1401 instead.";
    const refusal = { status: 400, error: { code: "string_above_max_length", message } };
    const { bodies } = await exchange([refusal, "one", "two"], { tools });
    interface Sent {
      description: string;
      parameters: { description: string };
    }
    const [tool] = (bodies[1] as unknown as { tools: (Sent & { function: Sent })[] }).tools;
    const sent = tool?.function ?? tool;
    expect(sent?.description.length).toBeLessThanOrEqual(1024);
    expect(`${sent?.description} ${sent?.parameters.description}`).toBe(description);
  });

  it("declares no tool strict where the server refuses that, or the schema of one", async () => {
    const definition = { name: "t", category: "", description: "d", arguments: { type: "object", properties: {} } };
    const tools = { tools: [{ type: "single", definition } as const], activations: [] };
    const model = { name: "gpt-4o" };
    for (const text of [
      "Invalid schema for function 't': In context=(), 'x' is not permitted.",
      "strict: no such field",
    ]) {
      const { bodies, events } = await exchange(
        [refused(text), "one", "two"],
        { tools, model },
        { as: "openai", times: 2 },
      );
      expect(bodies.map((body) => JSON.stringify(body.tools).includes('"strict":true'))).toEqual([true, false, false]);
      expect(outputs(events)).toMatchObject([{ text: "one" }, { text: "two" }]);
    }
  });

  it("says the schema of an answer where the server takes none", async () => {
    const output = { type: "object", properties: { n: { type: "number" } } };
    const { bodies } = await exchange([refused("response_format json_schema is not supported"), '{"n":1}'], { output });
    expect(bodies[0]).toMatchObject({ response_format: { type: "json_schema" } });
    expect(bodies[1]).toMatchObject({ response_format: { type: "json_object" } });
    expect(JSON.stringify(bodies[1]?.messages)).toContain("fits this schema");
  });

  it("for an answer that is no object is wrapped, and the answer unwrapped", async () => {
    const output = { type: "array", items: { type: "string" } };
    const { bodies, events } = await exchange(
      ['{"value":["a","b"]}'],
      { output, model: { name: "gpt-4o" } },
      { as: "openai" },
    );
    expect(bodies[0]).toMatchObject({
      response_format: { json_schema: { strict: true, schema: { required: ["value"] } } },
    });
    expect(outputs(events)).toEqual([{ type: "text", text: '["a","b"]' }]);
    expect(events.filter((event) => event.type === "textDelta")).toEqual([
      { type: "textDelta", block: 0, text: '["a","b"]' },
    ]);
  });
});

describe("OpenAIProvider", () => {
  it("says which models it serves: its own without a base URL, those it was told of with one", async () => {
    const own = OpenAIProvider.apiKey("k");
    expect(["gpt-4o", "o3", "claude-x"].map((name) => own.serves({ name }))).toEqual(["yes", "yes", "no"]);
    const { provider } = { provider: OpenAIProvider.openrouterFromEnv({ OPENROUTER_API_KEY: "k" }) };
    expect([provider.id, provider.serves({ name: "gpt-4o" })]).toEqual(["openrouter", "unknown"]);
    expect((await own.describe({ name: "gpt-4o-mini-2024-07-18" })).maxOutput).toBe(16_384);
    expect(() => OpenAIProvider.fromEnv({})).toThrow(/OPENAI_API_KEY/);
  });

  it("sends the key, the headers it was given, and nothing from the environment", async () => {
    await using server = await ScriptedServer.start(["ok"]);
    const provider = connect(server, "compatible", { headers: { "x-title": "test" } });
    for await (const _ of provider.stream({
      model: { name: "m" },
      messages: [Messages.user("Hi")],
      tools: { tools: [], activations: [] },
      params: {},
    }));
    expect(server.requests[0]?.headers).toMatchObject({
      "x-title": "test",
      authorization: expect.stringContaining("Bearer "),
    });
    expect(server.requests[0]?.headers).not.toHaveProperty("openai-organization");
  });

  it("embeds in order, whatever the order of the answer", async () => {
    const data = [
      { index: 1, embedding: [0.5, 0.25] },
      { index: 0, embedding: [1, 0] },
    ];
    await using server = await ScriptedServer.start([
      { json: { data } },
      { status: 401, error: { code: "x", message: "no" } },
    ]);
    const embedder = connect(server, "compatible").embedder("text-embedding-3-small");
    expect(embedder.dimensions).toBe(1536);
    expect(await embedder.embed(["a", ""])).toEqual([Float32Array.of(1, 0), Float32Array.of(0.5, 0.25)]);
    expect(server.requests[0]?.body).toMatchObject({ input: ["a", " "] });
    await expect(embedder.embed(["a"])).rejects.toMatchObject({ code: "auth" });
    expect(await embedder.embed([])).toEqual([]);
  });

  it("embeds again where that may help, and says which text got no vector", async () => {
    const busy = {
      status: 429,
      headers: { "retry-after-ms": "1" },
      error: { code: "rate_limit_error", message: "slow" },
    };
    const one = { json: { data: [{ index: 0, embedding: [1] }] } };
    await using server = await ScriptedServer.start([
      busy,
      busy,
      one,
      busy,
      one,
      { json: { error: { message: "no" } } },
    ]);
    const limit = new RequestLimit({ concurrent: 1 });
    const embedder = connect(server, "compatible", { maxRetries: 2, limit }).embedder("e");
    expect(await embedder.embed(["a"])).toEqual([Float32Array.of(1)]);
    await expect(embedder.embed(["a", "b"])).rejects.toThrow(/no vector for text 2 of 2/);
    await expect(embedder.embed(["a"])).rejects.toMatchObject({ code: "generation" });
    await expect(embedder.embed(["a"], { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: "cancelled" });
    (await limit.take())(); // every place was given back
  });
});
