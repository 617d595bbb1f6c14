import { AgenticError, type JsonValue } from "@shedkit/types";
import { describe, expect, it } from "vitest";
import { exchange, outputs } from "./open.js";

const chunk = (delta: object, finish: string | null = null, more: object = {}): string =>
  JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }], ...more });
const calls = (...tool_calls: object[]): string => chunk({ tool_calls });
const fn = (name: string | undefined, args: string | { [key: string]: JsonValue }) => ({
  function: { name, arguments: args },
});
const end = (reason = "tool_calls") => chunk({}, reason);

async function read(...events: string[]) {
  return (await exchange([{ events }])).events;
}

async function callsOf(...events: string[]) {
  return outputs(await read(...events)).map((output) => {
    const { id, name, arguments: args, rawArguments } = output as { [key: string]: unknown };
    return [id, name, args ?? rawArguments];
  });
}

describe("tool calls", () => {
  it("come in pieces, by an index that need not start at 0", async () => {
    expect(
      await callsOf(
        calls({ index: 1, id: "a", ...fn("read", "") }),
        calls({ index: 2, id: "b", ...fn("write", '{"x"') }),
        calls({ index: 1, ...fn(undefined, '{"y":1}') }),
        calls({ index: 2, ...fn(undefined, ":2}") }),
        end(),
      ),
    ).toEqual([
      ["a", "read", { y: 1 }],
      ["b", "write", { x: 2 }],
    ]);
  });

  it("come without an index: the last one goes on, an id or a name begins one", async () => {
    expect(
      await callsOf(
        calls({ id: "a", ...fn("read", '{"y"') }),
        calls(fn(undefined, ":1}")),
        calls({ id: "b", ...fn("read", "{}") }),
        end(),
      ),
    ).toEqual([
      ["a", "read", { y: 1 }],
      ["b", "read", {}],
    ]);
  });

  it("come whole in one chunk, several, with arguments as an object, before a finish of stop", async () => {
    const events = await read(
      calls({ index: 0, id: "a", ...fn("read", { y: 1 }) }, { index: 1, id: "b", ...fn("read", '{"y":2}') }),
      end("stop"),
    );
    expect(outputs(events)).toMatchObject([{ arguments: { y: 1 } }, { arguments: { y: 2 } }]);
    expect(events.at(-1)).toEqual({ type: "finish", reason: "toolUse" });
  });

  it('come with ids that are missing, "null" or repeated: each gets its own', async () => {
    const got = await callsOf(
      calls({ index: 0, id: "null", ...fn("read", "{}") }),
      calls({ index: 1, id: null, ...fn("read", "{}") }),
      calls({ index: 2, id: "same", ...fn("read", "{}") }),
      calls({ index: 3, id: "same", ...fn("read", "{}") }),
      end(),
    );
    expect(new Set(got.map(([id]) => id)).size).toBe(4);
    expect(got.every(([id]) => typeof id === "string" && id !== "" && id !== "null")).toBe(true);
  });

  it("come all on one index without ids: a new name, or arguments behind whole ones, is another call", async () => {
    const same = (name: string | undefined, args: string) => calls({ index: 0, id: "", ...fn(name, args) });
    const read = await callsOf(
      same("read", '{"x":1}'),
      same("read", '{"x":2}'),
      same("read", ""),
      same("list", ""),
      same("find", '{"y"'),
      same("find", ":3}"),
      same("find", '{"y":3}'),
      end(),
    );
    expect(read.map(([, name, args]) => [name, args])).toEqual([
      ["read", { x: 1 }],
      ["read", { x: 2 }],
      ["list", {}],
      ["find", { y: 3 }],
    ]);
  });

  it("come anew with another id on the same index", async () => {
    expect(
      await callsOf(
        calls({ index: 0, id: "a", ...fn("read", '{"y":1}') }),
        calls({ index: 0, id: "b", ...fn("read", '{"y":2}') }),
        end(),
      ),
    ).toEqual([
      ["a", "read", { y: 1 }],
      ["b", "read", { y: 2 }],
    ]);
  });

  it("come with the name and id in every delta, or the whole arguments once more at the end", async () => {
    expect(
      await callsOf(
        calls({ index: 0, id: "a", ...fn("read", '{"y"') }),
        calls({ index: 0, id: "a", ...fn("read", ":1}") }),
        calls({ index: 0, id: "a", ...fn("read", '{"y":1}') }),
        end(),
      ),
    ).toEqual([["a", "read", { y: 1 }]]);
  });

  it("come with the arguments before the name", async () => {
    expect(
      await callsOf(calls({ index: 0, id: "a", ...fn("", '{"y"') }), calls({ index: 0, ...fn("read", ":1}") }), end()),
    ).toEqual([["a", "read", { y: 1 }]]);
  });

  it("come in the form before tools", async () => {
    const got = await callsOf(
      chunk({ function_call: { name: "read", arguments: '{"y"' } }),
      chunk({ function_call: { arguments: ":1}" } }),
      end("function_call"),
    );
    expect(got).toMatchObject([[expect.any(String), "read", { y: 1 }]]);
  });
});

describe("thinking", () => {
  it.each(["reasoning_content", "reasoning"])("comes in %s, and goes back in it", async (field) => {
    const events = await read(
      chunk({ [field]: "I " }),
      chunk({ [field]: "see." }),
      chunk({ content: "Yes." }),
      end("stop"),
    );
    expect(outputs(events)).toEqual([
      { type: "thinking", text: "I see.", providerData: { openai: { field } } },
      { type: "text", text: "Yes." },
    ]);
  });

  it("comes in details, whose pieces are joined and kept", async () => {
    const detail = (text: string, more = {}) => ({ type: "reasoning.text", index: 0, text, ...more });
    const events = await read(
      chunk({ reasoning: "I ", reasoning_details: [detail("I ")] }),
      chunk({ reasoning: "see.", reasoning_details: [detail("see.", { signature: "s" })] }),
      chunk({ reasoning_details: [{ type: "reasoning.encrypted", index: 1, data: "xyz" }] }),
      calls({ index: 0, id: "a", ...fn("read", "{}") }),
      end(),
    );
    expect(outputs(events)[0]).toEqual({
      type: "thinking",
      text: "I see.",
      providerData: {
        openai: {
          details: [
            { type: "reasoning.text", index: 0, text: "I see.", signature: "s" },
            { type: "reasoning.encrypted", index: 1, data: "xyz" },
          ],
        },
      },
    });
  });

  it("comes as parts of the content", async () => {
    const events = await read(
      chunk({ content: [{ type: "thinking", thinking: [{ type: "text", text: "I see." }] }] }),
      chunk({ content: [{ type: "text", text: "Yes." }] }),
      end("stop"),
    );
    expect(outputs(events)).toEqual([
      { type: "thinking", text: "I see." },
      { type: "text", text: "Yes." },
    ]);
  });

  it.each([1, 2, 5, 100])("comes in tags at the beginning of the text, cut every %i characters", async (size) => {
    const text = "\n<think>\nIs 1 < 2? Yes.</think>\n\nYes, <think>not this</think>.";
    const pieces = text.match(new RegExp(`[^]{1,${size}}`, "g")) ?? [];
    const events = await read(...pieces.map((content) => chunk({ content })), end("stop"));
    expect(outputs(events)).toEqual([
      { type: "thinking", text: "Is 1 < 2? Yes." },
      { type: "text", text: "Yes, <think>not this</think>." },
    ]);
  });

  it("is not what only looks like a tag", async () => {
    for (const text of ["<thin", "<thinker> is a word", "< think>", "a <think> b"]) {
      expect(outputs(await read(chunk({ content: text }), end("stop")))).toEqual([{ type: "text", text }]);
    }
  });
});

describe("usage", () => {
  const wire = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
  const counts = { input: 10, output: 5, cacheRead: 0, cacheWrite: 0, reasoning: 0, total: 15 };
  const usageOf = async (...events: string[]) => (await read(...events)).filter((event) => event.type === "usage");

  it.each([
    ["behind the end, without choices", [end("stop"), JSON.stringify({ choices: [], usage: wire })]],
    ["beside the end", [chunk({}, "stop", { usage: wire })]],
    ["in the choice", [JSON.stringify({ choices: [{ delta: {}, finish_reason: "stop", usage: wire }] })]],
    ["in x_groq", [chunk({}, "stop", { x_groq: { usage: wire } })]],
    [
      "growing with every chunk",
      [chunk({ content: "a" }, null, { usage: { ...wire, completion_tokens: 1 } }), chunk({}, "stop", { usage: wire })],
    ],
  ])("comes %s, and counts once", async (_, events) => {
    expect(await usageOf(...events)).toEqual([{ type: "usage", usage: counts }]);
  });

  it("has cached tokens apart, in the places that servers put them", async () => {
    for (const more of [
      { prompt_tokens_details: { cached_tokens: 4 } },
      { prompt_cache_hit_tokens: 4 },
      { cached_tokens: 4 },
    ]) {
      const usage = { ...counts, input: 6, cacheRead: 4 };
      expect(await usageOf(chunk({}, "stop", { usage: { ...wire, ...more } }))).toEqual([{ type: "usage", usage }]);
    }
  });

  it("has reasoning within the output, also where the server counts it beside", async () => {
    const details = { completion_tokens_details: { reasoning_tokens: 3 } };
    const within = chunk({}, "stop", { usage: { ...wire, ...details } });
    expect(await usageOf(within)).toMatchObject([{ usage: { output: 5, reasoning: 3 } }]);
    const beside = chunk({}, "stop", { usage: { ...wire, ...details, total_tokens: 18 } });
    expect(await usageOf(beside)).toMatchObject([{ usage: { output: 8, reasoning: 3, total: 18 } }]);
  });

  it("costs what OpenAI's page says, more where the prompt is long", async () => {
    const cost = async (input: number, cacheRead: number) => {
      const answer = { parts: ["x"], usage: { input, cacheRead, output: 1_000_000 } };
      const { events } = await exchange([answer], { model: { name: "gpt-5.4" } }, { as: "openai" });
      const usage = events.find((event) => event.type === "usage");
      return usage?.type === "usage" ? usage.usage.costUsd : undefined;
    };
    expect(await cost(100_000, 100_000)).toBeCloseTo(0.25 + 0.025 + 15);
    expect(await cost(200_000, 100_000)).toBeCloseTo(1 + 0.05 + 22.5);
  });

  it("costs what the configuration says, else what is known of the model, and nothing is said without", async () => {
    const answer = { parts: ["x"], usage: { input: 1_000_000, output: 1_000_000, cacheRead: 1_000_000 } };
    const cost = async (config: Parameters<typeof exchange>[2], name = "gpt-4o-mini") => {
      const { events } = await exchange([answer], { model: { name } }, config);
      const usage = events.find((event) => event.type === "usage");
      return usage?.type === "usage" ? usage.usage.costUsd : undefined;
    };
    expect(await cost({ as: "openai" }, "gpt-4.1")).toBeUndefined();
    expect(await cost({ as: "openai" })).toBeCloseTo(0.15 + 0.6 + 0.075);
    expect(await cost({ as: "openai" }, "gpt-4o-2024-08-06")).toBeCloseTo(2.5 + 10 + 1.25);
    expect(await cost({ as: "openai" }, "gpt-4o-2024-05-13")).toBeCloseTo(5 + 15 + 5);
    const price = { inputPerMillion: 1, outputPerMillion: 2, asOf: "2026-01-01" };
    expect(await cost({ as: "openai", models: { "gpt-4o-mini": { price } } })).toBeCloseTo(4);
  });
});

describe("the end", () => {
  it.each([
    ["model_context_window_exceeded", "length"],
    ["sensitive", "contentFilter"],
    ["eos", "stop"],
  ])("%s is %s", async (reason, finish) => {
    const events = await read(chunk({ content: "Hi" }), end(reason));
    expect(events.at(-1)).toEqual({ type: "finish", reason: finish });
  });

  it("a reason that nobody knows is a stop, with a warning", async () => {
    expect((await read(chunk({ content: "x" }), end("tired"))).at(-1)).toEqual({
      type: "finish",
      reason: "stop",
      warnings: [{ message: 'the answer ended for "tired", which is not known; it is taken for stop' }],
    });
  });

  it.each(["error", "abort", "network_error", "insufficient_system_resource"])("%s is a failure", async (reason) => {
    const events = await read(chunk({ content: "Hi" }), end(reason));
    expect(events.at(-1)).toMatchObject({ type: "failure", error: { details: { kind: "network" }, retryable: true } });
  });

  it("of a prompt that is longer than the model's window is an overflow, not an answer", async () => {
    const usage = { prompt_tokens: 10, prompt_tokens_details: { cached_tokens: 4 }, completion_tokens: 1 };
    const stream = [{ events: [chunk({ content: "Hi" }), chunk({}, "stop", { usage })] }];
    const last = async (contextWindow: number) =>
      (await exchange(stream, {}, { models: { m: { contextWindow } } })).events.at(-1);
    expect(await last(9)).toMatchObject({ type: "failure", error: { details: { kind: "contextOverflow" } } });
    expect(await last(10)).toEqual({ type: "finish", reason: "stop" });
  });
});

describe("what is no stream", () => {
  it("200 with an error is a failure, also in place of the events", async () => {
    const error = { message: "No such model", code: "model_not_found" };
    const { events } = await exchange([{ body: JSON.stringify({ error }) }]);
    expect(events.at(-1)).toMatchObject({
      type: "failure",
      error: { message: expect.stringContaining("No such model") },
    });
    const page = await exchange([
      { body: "<!doctype html><title>Welcome</title>", headers: { "content-type": "text/html" } },
    ]);
    expect(page.events.at(-1)).toMatchObject({
      type: "failure",
      error: { message: expect.stringContaining("base URL") },
    });
  });

  it("200 with an error is a failure", async () => {
    const json = { error: { message: "No such model", code: "model_not_found" } };
    const { events } = await exchange([{ json }]);
    const last = events.at(-1);
    expect(last?.type === "failure" && AgenticError.is(last.error, "generation") && last.error.message).toContain(
      "No such model",
    );
  });

  it("a whole answer is read all the same", async () => {
    const json = {
      choices: [
        {
          message: { role: "assistant", content: "Hi.", tool_calls: [{ id: "a", ...fn("read", "{}") }] },
          finish_reason: "tool_calls",
        },
      ],
      usage: { prompt_tokens: 1, completion_tokens: 2 },
    };
    const { events } = await exchange([{ json }]);
    expect(outputs(events)).toMatchObject([
      { type: "text", text: "Hi." },
      { type: "toolCall", name: "read" },
    ]);
  });

  it("an error in the stream keeps its class", async () => {
    const events = await read(
      chunk({ content: "half" }),
      JSON.stringify({ error: { message: "slow down", code: 429, type: "rate_limit_error" } }),
    );
    const last = events.at(-1);
    expect(last?.type === "failure" && AgenticError.is(last.error, "generation") && last.error.details.kind).toBe(
      "rateLimit",
    );
  });

  it("keep-alive comments, first chunks without choices, and unknown fields are passed over", async () => {
    const body = [
      ": OPENROUTER PROCESSING",
      "",
      `data: ${JSON.stringify({ choices: [], prompt_filter_results: [] })}`,
      "",
      `data: ${chunk({ content: "Hi", odd: 1 })}`,
      "",
      ": ping",
      "",
      `data: ${end("stop")}`,
      "",
      "",
    ];
    const { events } = await exchange([{ body: body.join("\r\n") }]);
    expect(outputs(events)).toEqual([{ type: "text", text: "Hi" }]);
    expect(events.at(-1)).toEqual({ type: "finish", reason: "stop" });
  });

  it("a refusal is one", async () => {
    const events = await read(chunk({ refusal: "I " }), chunk({ refusal: "will not." }), end("stop"));
    expect(outputs(events)).toEqual([{ type: "refusal", text: "I will not." }]);
    expect(events.at(-1)).toEqual({ type: "finish", reason: "refusal" });
  });

  it("sources and images are kept", async () => {
    const image = { image_url: { url: "data:image/png;base64,iVBO" } };
    const events = await read(
      chunk({ content: "See.", annotations: [{ url: "u" }] }),
      chunk({ images: [image] }),
      end("stop"),
    );
    expect(outputs(events)).toEqual([
      { type: "text", text: "See.", citations: [{ url: "u" }] },
      { type: "image", source: { type: "base64", data: "iVBO" }, mediaType: "image/png" },
    ]);
  });
});
