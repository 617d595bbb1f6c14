import { ScriptedServer } from "@shedkit/testing";
import {
  type AssistantMessage,
  type Message,
  Messages,
  type ModelOutput,
  newSessionId,
  type Tool,
  type ToolDeclarations,
  type ToolResultMessage,
} from "@shedkit/types";
import { describe, expect, it } from "vitest";
import { ResponsesProvider } from "../src/index.js";
import { connect, exchange, outputs, question } from "./open.js";

const tool = (name: string, properties: object = {}): Tool => ({
  type: "single",
  definition: { name, category: "read", description: `Does ${name}.`, arguments: { type: "object", properties } },
});
const block = (output: ModelOutput, stepId = "s"): AssistantMessage => ({
  type: "assistant",
  id: `${Math.random()}`,
  turnId: "t",
  stepId,
  model: "gpt-5.4",
  output,
});
const call = (id: string, name: string): AssistantMessage =>
  block({ type: "toolCall", id, name, arguments: { path: "a" } }, `s-${id}`);
const result = (toolCallId: string, name: string, more: Partial<ToolResultMessage> = {}): ToolResultMessage => ({
  type: "toolResult",
  id: `r-${toolCallId}`,
  turnId: "t",
  stepId: "s",
  toolCallId,
  name,
  content: [{ type: "text", text: `result of ${toolCallId}` }],
  ...more,
});
const refused = (message: string, param?: string) => ({
  status: 400,
  json: { error: { message, type: "invalid_request_error", ...(param && { param }) } },
});

describe("a request", () => {
  it("has items, flat tools that always say whether they are strict, and nothing stored", async () => {
    const sessionId = newSessionId();
    const item = { type: "reasoning", id: "rs_1", encrypted_content: "sealed", summary: [] };
    const image = { type: "image", mediaType: "image/png", source: { type: "base64", data: "iVBO" } } as const;
    const { bodies, events } = await exchange(
      ["ok"],
      {
        model: { name: "gpt-5.4" },
        system: "You help.",
        sessionId,
        messages: [
          Messages.user("Hi"),
          block({ type: "thinking", text: "", providerData: { "openai-responses": { item } } }, "s-c1"),
          block(
            { type: "text", text: "Looking.", providerData: { "openai-responses": { phase: "commentary" } } },
            "s-c1",
          ),
          call("c1", "read"),
          result("c1", "read", { content: [{ type: "text", text: "see" }, image] }),
          Messages.agent("Be brief."),
        ],
        tools: { shed: tool("shed"), tools: [tool("free", { any: {} })], activations: [] },
        params: { maxTokens: 9, temperature: 1, thinking: "low" },
      },
      { as: "openai" },
    );
    const closed = { type: "object", properties: {}, required: [], additionalProperties: false };
    expect(bodies[0]).toEqual({
      model: "gpt-5.4",
      instructions: "You help.",
      tools: [
        { type: "function", name: "shed", description: "Does shed.", parameters: closed, strict: true },
        {
          type: "function",
          name: "free",
          description: "Does free.",
          parameters: { type: "object", properties: { any: {} } },
          strict: false,
        },
      ],
      max_output_tokens: 9,
      reasoning: { effort: "low", summary: "auto" },
      include: ["reasoning.encrypted_content"],
      prompt_cache_key: sessionId,
      input: [
        { type: "message", role: "user", content: [{ type: "input_text", text: "Hi" }] },
        item,
        {
          type: "message",
          role: "assistant",
          content: [{ type: "output_text", text: "Looking.", annotations: [] }],
          phase: "commentary",
        },
        { type: "function_call", call_id: "c1", name: "read", arguments: '{"path":"a"}' },
        {
          type: "function_call_output",
          call_id: "c1",
          output: [
            { type: "input_text", text: "see" },
            { type: "input_image", image_url: "data:image/png;base64,iVBO", detail: "auto" },
          ],
        },
        { type: "message", role: "developer", content: [{ type: "input_text", text: "Be brief." }] },
      ],
      store: false,
      stream: true,
    });
    expect(events[0]).toMatchObject({ warnings: [{ message: expect.stringContaining("temperature") }] });
  });

  it("leaves out reasoning that is not sealed, or whose answer cannot be sent", async () => {
    const item = { type: "reasoning", id: "rs_1", encrypted_content: "sealed", summary: [] };
    const messages = [
      Messages.user("Hi"),
      block({ type: "thinking", text: "open" }, "s1"),
      block({ type: "text", text: "So." }, "s1"),
      Messages.user("And?"),
      block({ type: "thinking", text: "", providerData: { "openai-responses": { item } } }, "s2"),
      block({ type: "opaque", provider: "another", block: { type: "x" } }, "s2"),
      Messages.user("Well?"),
    ];
    const { bodies } = await exchange(["ok"], { messages, model: { name: "gpt-5.4" } }, { as: "openai" });
    expect(JSON.stringify(bodies[0]?.input)).not.toContain("reasoning");
  });

  it("leaves out what the server refuses, at once and from then on", async () => {
    const answers = [refused("Encrypted content is not supported with this model.", "include"), "one", "two"];
    const { bodies, events } = await exchange(answers, {}, { as: "openai", times: 2 });
    expect(bodies.map((body) => "include" in body)).toEqual([true, false, false]);
    expect(outputs(events)).toMatchObject([{ text: "one" }, { text: "two" }]);
  });

  it("keeps descriptions of tools to the length that the server takes, and loses nothing of them", async () => {
    const description = `${"Reads a file. ".repeat(99)}Never a folder.`;
    const definition = { name: "t", category: "", description, arguments: { type: "object", properties: {} } };
    const tools = { tools: [{ type: "single", definition } as const], activations: [] };
    const message =
      "Invalid 'tools[0].description': string too long. Expected a string with maximum length 1024, but got 1401 instead.";
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
    const message = "Invalid schema for function 't': In context=(), 'x' is not permitted.";
    const refusal = { status: 400, error: { code: "invalid_function_parameters", message } };
    const { bodies, events } = await exchange([refusal, "one", "two"], { tools }, { as: "openai", times: 2 });
    expect(bodies.map((body) => (body.tools as { strict: boolean }[])[0]?.strict)).toEqual([true, false, false]);
    expect(outputs(events)).toMatchObject([{ text: "one" }, { text: "two" }]);
  });

  it("says the schema of an answer where the server takes none, and then no format at all", async () => {
    const refusal = (message: string) => ({ status: 400, error: { code: "invalid_request_error", message } });
    const output = { type: "object", properties: { n: { type: "number" } } };
    const answers = [
      refusal("text.format: json_schema is not supported"),
      refusal("Unknown parameter: text"),
      '{"n":1}',
    ];
    const { bodies, events } = await exchange(answers, { output, system: "You help." });
    expect(bodies.map((body) => (body.text as { format: { type: string } } | undefined)?.format.type)).toEqual([
      "json_schema",
      "json_object",
      undefined,
    ]);
    for (const { instructions } of bodies.slice(1)) expect(instructions).toMatch(/^You help\.\n\n.*fits this schema/s);
    expect(outputs(events)).toEqual([{ type: "text", text: '{"n":1}' }]);
  });

  it("has an answer's schema, wrapped where it is no object, and the answer is unwrapped", async () => {
    const output = { type: "array", items: { type: "string" } };
    const { bodies, events } = await exchange(['{"value":["a"]}'], { output }, { as: "openai" });
    expect(bodies[0]).toMatchObject({
      text: { format: { type: "json_schema", strict: true, schema: { required: ["value"] } } },
    });
    expect(outputs(events)).toEqual([{ type: "text", text: '["a"]' }]);
  });
});

describe("activated tools", () => {
  const messages: Message[] = [
    Messages.user("Go."),
    call("c1", "shed"),
    result("c1", "shed"),
    call("c2", "late"),
    result("c2", "late", { errorDetail: "notActive" }),
  ];
  const tools: ToolDeclarations = {
    shed: tool("shed"),
    tools: ["pinned", "found.it", "late"].map((name) => tool(name)),
    activations: [
      { name: "pinned", by: "pin" },
      { name: "found.it", by: { toolCallId: "c1" } },
      { name: "late", by: "call" },
    ],
  };
  const named = (list: unknown) => (list as { name: string }[]).map(({ name }) => name);
  const shape = (body: unknown) => {
    const { tools: list, input } = body as { tools: unknown; input: { type: string; tools?: unknown }[] };
    return [named(list), ...input.map((item) => (item.tools ? named(item.tools) : item.type))];
  };

  it("are declared behind the result that activated them", async () => {
    const { bodies } = await exchange(["ok"], { messages, tools, model: { name: "gpt-5.4" } }, { as: "openai" });
    expect(shape(bodies[0])).toEqual([
      ["shed", "pinned"],
      "message",
      "function_call",
      "function_call_output",
      ["found_it"],
      "function_call",
      "function_call_output",
      ["late"],
    ]);
    expect(JSON.stringify(bodies[0]?.input)).toContain("Error: result of c2");
  });

  it("are declared in the list where that result is gone, or the model takes none in between", async () => {
    const cut = [Messages.user("Summary."), ...messages.slice(3)];
    const { bodies } = await exchange(["ok"], { messages: cut, tools, model: { name: "gpt-5.4" } }, { as: "openai" });
    expect(named(bodies[0]?.tools)).toEqual(["shed", "pinned", "found_it"]);
    const old = await exchange(["ok"], { messages, tools, model: { name: "gpt-5.1" } }, { as: "openai" });
    expect(named(old.bodies[0]?.tools)).toEqual(["shed", "pinned", "found_it", "late"]);
  });

  it("are declared in the list where the server refuses, at once and from then on", async () => {
    const refusal = refused("Invalid value: 'additional_tools'. Supported values are: ...", "input[4]");
    const { bodies } = await exchange(
      [refusal, "one", "two"],
      { messages, tools, model: { name: "gpt-5.4" } },
      { as: "openai", times: 2 },
    );
    expect(bodies.map((body) => named(body.tools).length)).toEqual([2, 4, 4]);
  });
});

describe("ResponsesProvider", () => {
  it("says which models it serves, and what they can take", async () => {
    const own = ResponsesProvider.apiKey("k");
    expect(await own.describe({ name: "gpt-5.4" })).toMatchObject({
      contextWindow: 1_050_000,
      maxOutput: 128_000,
      input: ["text", "image"],
      tools: true,
      price: { inputPerMillion: 2.5, asOf: expect.stringMatching(/^\d{4}-\d\d-\d\d$/) },
    });
    expect(await own.describe({ name: "gpt-5.4-mini" })).not.toHaveProperty("price");
    expect(["gpt-5.4", "o3", "claude-x"].map((name) => own.serves({ name }))).toEqual(["yes", "yes", "no"]);
    expect(() => ResponsesProvider.fromEnv({})).toThrow(/OPENAI_API_KEY/);
  });

  it("counts tokens by the API's own count", async () => {
    await using server = await ScriptedServer.start([
      { json: { object: "response.input_tokens", input_tokens: 42 } },
      { status: 401, error: { code: "invalid_api_key", message: "no" } },
    ]);
    const provider = connect(server, "openai");
    expect(await provider.countTokens(question({ system: "You help.", params: { maxTokens: 1 } }))).toBe(42);
    expect(server.requests[0]?.path).toBe("/v1/responses/input_tokens");
    expect(Object.keys(server.requests[0]?.body ?? {}).sort()).toEqual(["input", "instructions", "model"]);
    await expect(provider.countTokens(question())).rejects.toMatchObject({ code: "auth" });
  });
});
