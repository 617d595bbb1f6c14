import { Gate, ScriptedProvider } from "@shedkit/testing";
import OpenAI from "openai";
import type { ChatCompletionMessageParam } from "openai/resources/chat/completions";
import { describe, expect, it } from "vitest";
import { asking, echoTool, type ServeOptions, serve, TOKEN } from "./helpers.js";

async function clientOf(provider: ScriptedProvider, options: ServeOptions = {}) {
  const server = await serve(provider, options);
  const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: TOKEN, maxRetries: 0 });
  return { server, client };
}

const parameters = {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
  additionalProperties: false,
};
const weather = { type: "function" as const, function: { name: "weather", description: "The weather.", parameters } };
const flat = { type: "function" as const, name: "weather", description: "The weather.", parameters, strict: true };
const call = (city: string) => ({ call: "weather", arguments: { city } });

const person = {
  type: "object",
  properties: { name: { type: "string" }, age: { type: "integer" } },
  required: ["name", "age"],
  additionalProperties: false,
};
const personFormat = { type: "json_schema" as const, json_schema: { name: "person", schema: person, strict: true } };

const said = (messages: unknown) => JSON.stringify(messages);

describe("functions of the client, in chats", () => {
  it("are handed back, several at once, and the same answer goes on with what they say", async () => {
    const provider = new ScriptedProvider([
      ["Let me see.", { call: "echo", arguments: { text: "a" } }],
      ["And now.", call("Rome"), call("Oslo"), { call: "echo", arguments: { text: "b" } }],
      "Rome is warm, Oslo is not.",
    ]);
    const { client, server } = await clientOf(provider, { tools: [echoTool()], permissions: asking });
    const messages: ChatCompletionMessageParam[] = [{ role: "user", content: "How is the weather?" }];
    const first = await client.chat.completions.create({ model: "m", messages, tools: [weather] });
    const [choice] = first.choices;
    expect(choice).toMatchObject({ finish_reason: "tool_calls", message: { content: "Let me see.\n\nAnd now." } });
    const calls = choice?.message.tool_calls?.flatMap((one) => (one.type === "function" ? [one] : [])) ?? [];
    expect(calls.map((one) => [one.function.name, JSON.parse(one.function.arguments)])).toEqual([
      ["weather", { city: "Rome" }],
      ["weather", { city: "Oslo" }],
    ]);
    expect(provider.requests).toHaveLength(2);
    expect(provider.requests[0]?.tools.tools.map((tool) => said(tool))).toContainEqual(
      said({
        type: "single",
        definition: { name: "weather", category: "client", description: "The weather.", arguments: parameters },
      }),
    );

    if (choice) messages.push(choice.message);
    messages.push({ role: "tool", tool_call_id: calls[0]?.id ?? "", content: "22 degrees" });
    const half = client.chat.completions.create({ model: "m", messages, tools: [weather] });
    await expect(half).rejects.toMatchObject({ status: 400, param: "messages[2].content" }); // Oslo is missing
    messages.push({ role: "tool", tool_call_id: calls[1]?.id ?? "", content: [{ type: "text", text: "4 degrees" }] });
    const last = await client.chat.completions.create({ model: "m", messages, tools: [weather] });
    expect(last.choices[0]).toMatchObject({
      finish_reason: "stop",
      message: { content: "Rome is warm, Oslo is not." },
    });
    const seen = said(provider.requests[2]?.messages);
    expect(seen).toMatch(/22 degrees.*4 degrees/s);
    expect(seen).toContain("is not permitted"); // the agent's own tool needed leave; the client's does not
    expect(last.usage?.total_tokens).toBeLessThan(first.usage?.total_tokens ?? 0);
    expect(server.opened).toHaveLength(1);
  });

  it("work with the loop of the official client, streamed", async () => {
    const provider = new ScriptedProvider([["Hm. ", call("Rome")], [call("Oslo")], "Done."], { chunkSize: 3 });
    const { client } = await clientOf(provider);
    const cities: string[] = [];
    const runner = client.chat.completions.runTools({
      model: "m",
      stream: true,
      messages: [{ role: "user", content: "Weather?" }],
      tools: [
        {
          type: "function",
          function: {
            ...weather.function,
            parse: JSON.parse,
            function: ({ city }: { city: string }) => {
              cities.push(city);
              return `mild in ${city}`;
            },
          },
        },
      ],
    });
    expect(await runner.finalContent()).toBe("Done.");
    expect(cities).toEqual(["Rome", "Oslo"]);
    expect(said(provider.requests[2]?.messages)).toMatch(/mild in Rome.*mild in Oslo/s);
  });

  it("are in a conversation that another server began, too", async () => {
    const provider = new ScriptedProvider(["It is mild.", "Yes."]);
    const { client } = await clientOf(provider);
    const tool_calls = [
      { id: "c1", type: "function" as const, function: { name: "weather", arguments: '{"city":"Rome"}' } },
    ];
    const messages: ChatCompletionMessageParam[] = [
      { role: "user", content: "Weather?" },
      { role: "assistant", content: null, tool_calls },
      { role: "tool", tool_call_id: "c1", content: "mild" },
    ];
    const answer = await client.chat.completions.create({ model: "m", messages, tools: [weather] });
    expect(answer.choices[0]?.message.content).toBe("It is mild.");
    expect(said(provider.requests[0]?.messages)).toMatch(/Weather\?.*"name":"weather".*"city":"Rome".*mild/s);
    messages.push({ role: "assistant", content: "It is mild." }, { role: "user", content: "Sure?" });
    await client.chat.completions.create({ model: "m", messages, tools: [weather] });
    expect(said(provider.requests[1]?.messages)).toMatch(/mild.*It is mild\..*Sure\?/s);
  });

  it("take the place of the agent's own of that name, come one by one where the client wants that, and not at all", async () => {
    const provider = new ScriptedProvider([
      [
        { call: "echo", arguments: { city: "Rome" } },
        { call: "echo", arguments: { city: "Oslo" } },
      ],
      "Done.",
      "No tools.",
    ]);
    const { client } = await clientOf(provider, { tools: [echoTool()] });
    const tools = [{ ...weather, function: { ...weather.function, name: "echo" } }];
    const messages: ChatCompletionMessageParam[] = [{ role: "user", content: "Echo" }];
    const asked = { model: "m", tools, parallel_tool_calls: false };
    for (const city of ["Rome", "Oslo"]) {
      const { choices } = await client.chat.completions.create({ ...asked, messages });
      const calls = choices[0]?.message.tool_calls ?? [];
      expect(calls).toMatchObject([{ function: { name: "echo", arguments: JSON.stringify({ city }) } }]);
      if (choices[0]) messages.push(choices[0].message);
      messages.push({ role: "tool", tool_call_id: calls[0]?.id ?? "", content: `mine of ${city}` });
    }
    const last = await client.chat.completions.create({ ...asked, messages });
    expect(last.choices[0]?.message.content).toBe("Done.");
    expect(said(provider.requests[1]?.messages)).toMatch(/mine of Rome.*mine of Oslo/s);
    const without = { ...asked, tool_choice: "none" as const, messages: [{ role: "user" as const, content: "Hi" }] };
    expect((await client.chat.completions.create(without)).choices[0]?.finish_reason).toBe("stop");
    expect(said(provider.requests[2]?.tools)).not.toContain("weather");
  });

  it("that are never answered do not keep the server from closing", async () => {
    const provider = new ScriptedProvider([[call("Rome")]]);
    const { client, server } = await clientOf(provider);
    const messages: ChatCompletionMessageParam[] = [{ role: "user", content: "Weather?" }];
    const { choices } = await client.chat.completions.create({ model: "m", messages, tools: [weather] });
    expect(choices[0]?.finish_reason).toBe("tool_calls");
    await server.close();
  });

  it("wait for the agent's own call in front of them, and stop with the client", async () => {
    const gate = new Gate();
    const provider = new ScriptedProvider([[call("Rome")], ["Half", { wait: gate }]]);
    const { client } = await clientOf(provider);
    const messages: ChatCompletionMessageParam[] = [{ role: "user", content: "Weather?" }];
    const { choices } = await client.chat.completions.create({ model: "m", messages, tools: [weather] });
    if (choices[0]) messages.push(choices[0].message);
    messages.push({ role: "tool", tool_call_id: choices[0]?.message.tool_calls?.[0]?.id ?? "", content: "mild" });
    const stream = await client.chat.completions.create({ model: "m", messages, tools: [weather], stream: true });
    const aborted = new Promise<void>((resolve) => {
      void gate.reached.then(() => provider.requests[1]?.signal?.addEventListener("abort", () => resolve()));
    });
    await gate.reached;
    for await (const chunk of stream) if (chunk.choices[0]?.delta.content === "Half") break;
    await aborted;
  });
});

describe("answers as JSON, in chats", () => {
  it("fit the schema: the model is held to it, and asked again where it was not", async () => {
    const provider = new ScriptedProvider([
      ["Let me see.", { call: "echo", arguments: { text: "a" } }],
      "Ada, 36",
      '```json\n{"name":"Ada","age":36}\n```',
    ]);
    const { client } = await clientOf(provider, { tools: [echoTool()] });
    const messages = [{ role: "user" as const, content: "Who?" }];
    const answer = await client.chat.completions.parse({ model: "m", messages, response_format: personFormat });
    expect(answer.choices[0]?.message.parsed).toEqual({ name: "Ada", age: 36 });
    expect(answer.choices[0]?.message.content).toBe('{"name":"Ada","age":36}');
    expect(provider.requests[0]?.output).toEqual(person);
    expect(said(provider.requests[2]?.messages)).toContain("not JSON");
  });

  it("come in one piece where they are streamed, and fail where none fits", async () => {
    const provider = new ScriptedProvider(['{"name":"Ada","age":36}', "no", "no", "no"], { chunkSize: 2 });
    const { client } = await clientOf(provider);
    const messages = [{ role: "user" as const, content: "Who?" }];
    const stream = client.chat.completions.stream({ model: "m", messages, response_format: { type: "json_object" } });
    const pieces: string[] = [];
    for await (const chunk of stream) pieces.push(chunk.choices[0]?.delta.content ?? "");
    expect(pieces.filter((piece) => piece !== "")).toEqual(['{"name":"Ada","age":36}']);
    expect(provider.requests[0]?.output).toEqual({ type: "object" });
    const failing = client.chat.completions.create({ model: "m", messages, response_format: personFormat });
    await expect(failing).rejects.toMatchObject({ status: 502 });
  });

  it("say that they were cut", async () => {
    const provider = new ScriptedProvider([{ parts: ["One two"], finish: "length" }]);
    const { client } = await clientOf(provider);
    const answer = await client.chat.completions.create({ model: "m", messages: [{ role: "user", content: "Hi" }] });
    expect(answer.choices[0]).toMatchObject({ finish_reason: "length", message: { content: "One two" } });
  });
});

describe("functions and JSON, in responses", () => {
  it("are handed back, and the session goes on with what they say", async () => {
    const provider = new ScriptedProvider([["Let me see.", call("Rome")], "It is mild.", "Because."]);
    const { client, server } = await clientOf(provider);
    const first = await client.responses.create({ model: "m", input: "Weather?", tools: [flat] });
    const handed = first.output.find((item) => item.type === "function_call");
    expect(first).toMatchObject({ status: "completed", output_text: "Let me see." });
    expect(handed).toMatchObject({ name: "weather", arguments: '{"city":"Rome"}' });
    const next = { model: "m", previous_response_id: first.id, tools: [flat] };
    const early = client.responses.create({ ...next, input: "Well?" });
    await expect(early).rejects.toMatchObject({ status: 400, param: "input" }); // as OpenAI: the call wants its result
    const output = { type: "function_call_output" as const, call_id: handed?.call_id ?? "", output: "mild" };
    const second = await client.responses.create({ ...next, input: [output] });
    expect(second).toMatchObject({ status: "completed", output_text: "It is mild." });
    expect(second.id).not.toBe(first.id);
    expect(said(provider.requests[1]?.messages)).toContain("mild");
    await expect(client.responses.create({ ...next, input: [output] })).rejects.toMatchObject({
      param: "input[0].output",
    });
    const third = await client.responses.create({ model: "m", input: "Why?", previous_response_id: second.id });
    expect(third.output_text).toBe("Because.");
    const { items } = await server.json<{ items: unknown[] }>("GET", "/api/sessions");
    expect(items).toHaveLength(1);
  });

  it("stream their events in order, also without a session that is kept", async () => {
    const provider = new ScriptedProvider([["Hm.", call("Rome")], '{"name":"Ada","age":36}'], { chunkSize: 4 });
    const { client } = await clientOf(provider);
    const asked = { model: "m", store: false, tools: [flat] };
    const input: OpenAI.Responses.ResponseInput = [{ role: "user", content: "Weather?" }];
    const stream = client.responses.stream({ ...asked, input });
    const types: string[] = [];
    for await (const event of stream) types.push(event.type);
    expect([...new Set(types)].slice(-5)).toEqual([
      "response.content_part.done",
      "response.output_item.done",
      "response.function_call_arguments.delta",
      "response.function_call_arguments.done",
      "response.completed",
    ]);
    const { output } = await stream.finalResponse();
    const handed = output.find((item) => item.type === "function_call");
    expect(handed).toMatchObject({ name: "weather", arguments: '{"city":"Rome"}', status: "completed" });
    for (const item of output) if (item.type === "message" || item.type === "function_call") input.push(item);
    input.push({ type: "function_call_output", call_id: handed?.call_id ?? "", output: "mild" });
    const format = { type: "json_schema" as const, name: "person", schema: person, strict: true };
    const last = await client.responses.parse({ ...asked, input, text: { format } });
    expect(last.output_text).toBe('{"name":"Ada","age":36}');
    expect(said(provider.requests[1]?.messages)).toContain("mild");
  });

  it("answer as JSON of a schema, and say that they were cut", async () => {
    const provider = new ScriptedProvider(["Ada", '{"name":"Ada","age":36}', { parts: ["One"], finish: "length" }]);
    const { client } = await clientOf(provider);
    const format = { type: "json_schema" as const, name: "person", schema: person };
    const answer = await client.responses.parse({ model: "m", input: "Who?", text: { format } });
    expect(answer.output_text).toBe('{"name":"Ada","age":36}');
    const cut = await client.responses.create({ model: "m", input: "Count" });
    expect(cut).toMatchObject({ status: "incomplete", incomplete_details: { reason: "max_output_tokens" } });
  });
});
