import { Gate, ScriptedProvider } from "@shedkit/testing";
import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import { asking, echoTool, type ServeOptions, serve, TOKEN } from "./helpers.js";

async function clientOf(provider: ScriptedProvider, options: ServeOptions = {}) {
  const server = await serve(provider, options);
  const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: TOKEN, maxRetries: 0 });
  return { server, client };
}

const toolTurn = [["Let me see.", { call: "echo", arguments: { text: "a" } }], "It is a."] as const;
const usage = { input: 10, output: 5, cacheRead: 2, cacheWrite: 1, reasoning: 3, total: 18 };

describe("chat completions", () => {
  it("answer, with the usage of all steps, after the agent has used its own tools", async () => {
    const provider = new ScriptedProvider([...toolTurn] as never);
    const { client, server } = await clientOf(provider, { tools: [echoTool()] });
    const answer = await client.chat.completions.create({
      model: "m",
      messages: [
        { role: "system", content: "Be short." },
        { role: "user", content: "First?" },
        { role: "assistant", content: "First." },
        { role: "user", content: [{ type: "text", text: "And now?" }] },
      ],
      temperature: 0.2,
      max_completion_tokens: 100,
    });
    expect(answer.choices).toMatchObject([
      { message: { role: "assistant", content: "Let me see.\n\nIt is a." }, finish_reason: "stop" },
    ]);
    expect(answer.usage?.total_tokens).toBeGreaterThan(0);
    const asked = provider.requests[0];
    expect(asked?.params).toMatchObject({ temperature: 0.2, maxTokens: 100 });
    expect(JSON.stringify(asked?.messages)).toMatch(/Be short.*First\?.*First\..*And now\?/);
    expect((await server.json<{ items: unknown[] }>("GET", "/api/sessions")).items).toEqual([]); // nothing is kept
  });

  it("stream, also thoughts and usage where they are asked for", async () => {
    const provider = new ScriptedProvider([{ parts: [{ thinking: "hm" }, "One two three"], usage }] as never, {
      chunkSize: 4,
    });
    const { client } = await clientOf(provider);
    const stream = await client.chat.completions.create({
      model: "m",
      messages: [{ role: "user", content: "Count" }],
      stream: true,
      stream_options: { include_usage: true },
    });
    const chunks = [];
    for await (const chunk of stream) chunks.push(chunk);
    const deltas = chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta));
    expect(deltas.map(({ content }) => content ?? "").join("")).toBe("One two three");
    expect(deltas.map((delta) => (delta as { reasoning_content?: string }).reasoning_content ?? "").join("")).toBe(
      "hm",
    );
    expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe("stop");
    expect(chunks.at(-1)).toMatchObject({
      choices: [],
      usage: { prompt_tokens: 13, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 2 } },
    });
  });

  it("are stopped when the client leaves", async () => {
    const gate = new Gate();
    const provider = new ScriptedProvider([["Half", { wait: gate }]]);
    const { client } = await clientOf(provider);
    const stream = await client.chat.completions.create({
      ...{ model: "m", stream: true },
      messages: [{ role: "user", content: "Hi" }],
    });
    const aborted = new Promise<void>((resolve) => {
      void gate.reached.then(() => provider.requests[0]?.signal?.addEventListener("abort", () => resolve()));
    });
    await gate.reached;
    for await (const chunk of stream) if (chunk.choices[0]?.delta.content === "Half") break;
    await aborted;
  });

  it("deny what would need leave: nobody can be asked", async () => {
    const { client } = await clientOf(new ScriptedProvider([...toolTurn] as never), {
      ...{ tools: [echoTool()], permissions: asking },
    });
    const answer = await client.chat.completions.create({ model: "m", messages: [{ role: "user", content: "Hi" }] });
    expect(answer.choices[0]?.message.content).toContain("It is a.");
  });

  it("fail in OpenAI's form", async () => {
    const { client, server } = await clientOf(new ScriptedProvider([]));
    const messages = [{ role: "user" as const, content: "Hi" }];
    const create = (more: object) => client.chat.completions.create({ model: "m", messages, ...more } as never);
    const refusals: [object, object][] = [
      [{ model: "gpt-x" }, { status: 404, code: "model_not_found", param: "model" }],
      [{ messages: [] }, { status: 400, param: "messages" }],
      [{ messages: "Hi" }, { status: 400, param: "messages" }],
      [
        { messages: [{ role: "tool", tool_call_id: "1", content: "x" }] },
        { status: 400, param: "messages[0].content" },
      ],
      [{ messages: [{ role: "critic", content: "x" }] }, { status: 400, param: "messages[0].role" }],
      [{ messages: [{ role: "assistant", content: "x" }] }, { status: 400, param: "messages" }],
      [{ messages: [{ role: "user", content: [{ type: "input_audio" }] }] }, { param: "messages[0].content[0].type" }],
      [{ tools: [{ type: "web_search" }] }, { status: 400, param: "tools[0].type" }],
      [{ tools: [{ type: "function", function: { name: "a b" } }] }, { status: 400, param: "tools[0].name" }],
      [{ tools: [{ type: "function", function: { name: "f", parameters: { type: 7 } } }] }, { param: "tools[0]" }],
      [{ tool_choice: "required" }, { status: 400, param: "tool_choice" }],
      [{ functions: [{ name: "f" }] }, { status: 400, param: "functions" }],
      [{ n: 2 }, { status: 400, param: "n" }],
      [{ response_format: { type: "xml" } }, { status: 400, param: "response_format" }],
      [{ response_format: { type: "json_schema", json_schema: { name: "a" } } }, { param: "response_format.schema" }],
      [{ temperature: "hot" }, { status: 400, param: "temperature" }],
    ];
    for (const [more, error] of refusals) await expect(create(more)).rejects.toMatchObject(error);
    await expect(create({})).rejects.toMatchObject({ status: 502, type: "server_error" });
    const stranger = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: "no", maxRetries: 0 });
    await expect(stranger.models.list()).rejects.toMatchObject({ status: 401, code: "invalid_api_key" });
    const stream = await client.chat.completions.create({ model: "m", messages, stream: true });
    await expect(
      (async () => {
        for await (const _ of stream);
      })(),
    ).rejects.toThrow(/no answer for request/);
  });
});

describe("models", () => {
  it("are listed", async () => {
    const { client } = await clientOf(new ScriptedProvider([]));
    const ids = [];
    for await (const model of client.models.list()) ids.push(model.id);
    expect(ids).toEqual(["m", "other"]);
    expect(await client.models.retrieve("other")).toMatchObject({ id: "other", object: "model" });
    await expect(client.models.retrieve("none")).rejects.toMatchObject({ status: 404 });
  });
});

describe("responses", () => {
  it("answer, are kept, and are gone on with", async () => {
    const provider = new ScriptedProvider(["One.", "Two.", "Another two."]);
    const { client, server } = await clientOf(provider);
    const first = await client.responses.create({ model: "m", input: "1", instructions: "Count." });
    expect(first).toMatchObject({ status: "completed", output_text: "One.", object: "response" });
    expect(JSON.stringify(provider.requests[0]?.messages)).toMatch(/Count\./);
    const second = await client.responses.create({ model: "m", input: "2", previous_response_id: first.id });
    expect(second.output_text).toBe("Two.");
    expect(JSON.stringify(provider.requests[1]?.messages)).toMatch(/"1".*One\..*"2"/);
    // behind the first again: another branch, without the second
    const branch = await client.responses.create({
      model: "m",
      input: [{ role: "user", content: [{ type: "input_text", text: "other 2" }] }],
      previous_response_id: first.id,
    });
    expect(branch.output_text).toBe("Another two.");
    expect(JSON.stringify(provider.requests[2]?.messages)).not.toContain("Two.");
    const { items } = await server.json<{ items: { id: string }[] }>("GET", "/api/sessions");
    expect(items).toHaveLength(2);
    expect(await client.responses.retrieve(second.id)).toMatchObject({ id: second.id, output_text: "Two." });
  });

  it("stream their events in order", async () => {
    const provider = new ScriptedProvider([{ parts: ["One two three"], usage }] as never, { chunkSize: 4 });
    const { client } = await clientOf(provider);
    const stream = client.responses.stream({ model: "m", input: "Count" });
    const types: string[] = [];
    const numbers: number[] = [];
    for await (const event of stream) {
      types.push(event.type);
      numbers.push(event.sequence_number);
    }
    expect(numbers).toEqual(numbers.map((_, i) => i));
    expect([...new Set(types)]).toEqual([
      "response.created",
      "response.in_progress",
      "response.output_item.added",
      "response.content_part.added",
      "response.output_text.delta",
      "response.output_text.done",
      "response.content_part.done",
      "response.output_item.done",
      "response.completed",
    ]);
    const final = await stream.finalResponse();
    expect(final.output_text).toBe("One two three");
    expect(final.usage).toMatchObject({ input_tokens: 13, output_tokens: 5 });
    expect(final.id).toMatch(/^resp_/);
  });

  it("are not kept where the client does not want it", async () => {
    const { client, server } = await clientOf(new ScriptedProvider(["One.", "Two."]));
    const input = [
      { role: "user" as const, content: "1" },
      { role: "assistant" as const, content: "One." },
      { role: "user" as const, content: "2" },
    ];
    const answer = await client.responses.create({ model: "m", input, store: false });
    expect(answer.output_text).toBe("One.");
    expect((await server.json<{ items: unknown[] }>("GET", "/api/sessions")).items).toEqual([]);
    await expect(client.responses.retrieve(answer.id)).rejects.toMatchObject({ status: 404 });
  });

  it("fail in OpenAI's form", async () => {
    const { client } = await clientOf(new ScriptedProvider([]));
    const create = (more: object) => client.responses.create({ model: "m", input: "Hi", ...more } as never);
    const refusals: [object, object][] = [
      [{ input: "" }, { status: 400, param: "input" }],
      [{ previous_response_id: "resp_a_b" }, { status: 404, param: "previous_response_id" }],
      [{ previous_response_id: "x" }, { status: 404, param: "previous_response_id" }],
      [{ input: [{ type: "function_call_output", call_id: "1", output: "x" }] }, { param: "input[0].output" }],
      [{ input: [{ type: "computer_call" }] }, { param: "input[0].type" }],
      [{ text: { format: { type: "json_schema", name: "a" } } }, { status: 400, param: "text.format.schema" }],
    ];
    for (const [more, error] of refusals) await expect(create(more)).rejects.toMatchObject(error);
    await expect(create({})).rejects.toMatchObject({ status: 502, type: "server_error" });
    const types: string[] = [];
    const stream = await client.responses.create({ model: "m", input: "Hi", stream: true });
    for await (const event of stream) types.push(event.type);
    expect(types.at(-1)).toBe("response.failed");
  });
});
