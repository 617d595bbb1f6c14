// The bare official SDKs, a bound: the wire's events and nothing on top.
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";

export async function open({ wire, url, model = "m" }) {
  const openai = () => new OpenAI({ apiKey: "k", baseURL: `${url}/v1`, maxRetries: 0 });
  const ask = { chat: chat(openai, model), responses: responses(openai, model), anthropic: anthropic(url, model) }[
    wire
  ];
  return { converse: async () => ({ ask, end: async () => {} }), close: async () => {} };
}

function chat(make, model) {
  const client = make();
  return async (content) => {
    let text = "";
    const messages = [{ role: "user", content }];
    const stream = await client.chat.completions.create({
      model,
      messages,
      stream: true,
      stream_options: { include_usage: true },
    });
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? "";
    return text;
  };
}

function responses(make, model) {
  const client = make();
  return async (input) => {
    let text = "";
    const stream = await client.responses.create({ model, input, stream: true, store: false });
    for await (const event of stream) if (event.type === "response.output_text.delta") text += event.delta;
    return text;
  };
}

function anthropic(baseURL, model) {
  const client = new Anthropic({ apiKey: "k", baseURL, maxRetries: 0 });
  return async (content) => {
    let text = "";
    const messages = [{ role: "user", content }];
    const stream = await client.messages.create({ model, max_tokens: 4096, messages, stream: true });
    for await (const event of stream) {
      if (event.type === "content_block_delta" && event.delta.type === "text_delta") text += event.delta.text;
    }
    return text;
  };
}
