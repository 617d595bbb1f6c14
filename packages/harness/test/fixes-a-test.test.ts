import { Secret } from "@shedkit/provider";
import { AnthropicMessagesProvider } from "@shedkit/provider-anthropic";
import { OpenAIProvider } from "@shedkit/provider-openai-chat";
import { ResponsesProvider } from "@shedkit/provider-openai-responses";
import {
  type ReceivedRequest,
  type ScriptedPart,
  ScriptedProvider,
  ScriptedServer,
  type WireName,
} from "@shedkit/testing";
import { CHATML, ChatTemplate, callableTools, familyOf } from "@shedkit/text-tools";
import { type Message, textOfContent } from "@shedkit/types";
import { describe, expect, it, onTestFinished } from "vitest";
import { nextStep, type Told } from "./support/fixer.js";
import { answerToText } from "./support/fixer-in-text.js";
import { fix, fixed, PLACES, TOTAL, VOLUME } from "./support/repository.js";

/** What tools told, out of the body of a request, in the form of its wire. */
const TOLD: { [wire in WireName]: (body: ReceivedRequest["body"]) => Told[] } = {
  anthropic: ({ messages }) => {
    const blocks = (messages as { content: unknown }[]).flatMap(({ content }) =>
      Array.isArray(content) ? content : [],
    );
    return pairs(
      blocks.filter(({ type }) => type === "tool_use").map(({ id, name }) => [id, name]),
      blocks.filter(({ type }) => type === "tool_result").map((block) => [block.tool_use_id, textOf(block.content)]),
    );
  },
  "openai-chat": ({ messages }) => {
    const all = messages as {
      role: string;
      content: unknown;
      tool_call_id: string;
      tool_calls?: { id: string; function: { name: string } }[];
    }[];
    return pairs(
      all.flatMap(({ tool_calls = [] }) => tool_calls.map((call) => [call.id, call.function.name] as const)),
      all.filter(({ role }) => role === "tool").map((message) => [message.tool_call_id, textOf(message.content)]),
    );
  },
  "openai-responses": ({ input }) => {
    const all = input as { type: string; call_id: string; name: string; output: unknown }[];
    return pairs(
      all.filter(({ type }) => type === "function_call").map(({ call_id, name }) => [call_id, name]),
      all.filter(({ type }) => type === "function_call_output").map(({ call_id, output }) => [call_id, textOf(output)]),
    );
  },
};

function pairs(calls: readonly (readonly [string, string])[], results: readonly (readonly [string, string])[]): Told[] {
  const names = new Map(calls);
  return results.map(([id, text]) => ({ tool: names.get(id) ?? "?", text }));
}

function textOf(content: unknown): string {
  if (!Array.isArray(content)) return String(content);
  return content.map((part: { text?: string; tool_name?: string }) => part.text ?? part.tool_name ?? "").join("\n");
}

describe("an agent with the tools for files, searching and the shell", () => {
  // Everything that goes to the clouds goes to the server of the test.
  const config = (url: string) => ({
    apiKey: new Secret("key"),
    maxRetries: 3, // a connection that lay idle may be closed just as it is used again
    fetch: ((input, init) => {
      const { pathname, search } = new URL(input instanceof Request ? input.url : input);
      return fetch(new URL(`${pathname}${search}`, url), init);
    }) as typeof fetch,
  });
  it.each([
    ["anthropic", "claude-sonnet-4-6", (url: string) => AnthropicMessagesProvider.withConfig(config(url))],
    ["openai-chat", "gpt-4o", (url: string) => OpenAIProvider.withConfig(config(url))],
    ["openai-responses", "gpt-4o", (url: string) => ResponsesProvider.withConfig(config(url))],
  ] as const)(
    "mends a failing test over %s",
    async (wire, model, provider) => {
      const server = await ScriptedServer.start(({ body }) => nextStep(TOLD[wire](body)), { chunkSize: 100 });
      onTestFinished(() => server.close());
      expect(await fix(provider(server.url), model, TOTAL, "the disk")).toEqual(fixed(TOTAL));
    },
    120_000,
  );

  it("mends a failing test on a model that reads and writes plain text", async () => {
    const family = familyOf(new ChatTemplate(CHATML));
    const provider = new ScriptedProvider(({ messages, tools, system }) => {
      const prompt = family.render({ system, messages, tools }, new ChatTemplate(CHATML));
      const answer = answerToText(prompt);
      const parser = family.parser({ prompt, tools: callableTools(tools) });
      const events = [...chunked(answer).flatMap((piece) => parser.push(piece)), ...parser.end()];
      return events.flatMap((event): ScriptedPart[] => {
        if (event.type === "text") return [event.text];
        return event.type === "call" ? [{ call: event.name, arguments: event.arguments }] : [];
      });
    });
    expect(await fix(provider, "local", TOTAL, "the disk")).toEqual(fixed(TOTAL));
  }, 120_000);

  it.each(
    (Object.keys(PLACES) as (keyof typeof PLACES)[]).flatMap((place) => [
      ["total", place, TOTAL] as const,
      ["volume", place, VOLUME] as const,
    ]),
  )(
    "mends a failing test of %s in %s",
    async (_, place, repository) => {
      const provider = new ScriptedProvider(({ messages }) => {
        const step = nextStep(toldInMessages(messages));
        return typeof step === "string" ? step : { call: step.call, arguments: step.arguments };
      });
      expect(await fix(provider, "m", repository, place)).toEqual(fixed(repository));
    },
    120_000,
  );

  it("gives up where its tools tell it nothing", async () => {
    const nothing = { ...TOTAL, files: { "lib/total.mjs": TOTAL.files["lib/total.mjs"] as string } };
    const provider = new ScriptedProvider(({ messages }) => {
      const step = nextStep(toldInMessages(messages));
      return typeof step === "string" ? step : { call: step.call, arguments: step.arguments };
    });
    const { said, source } = await fix(provider, "m", nothing, "the disk");
    expect(said).toBe("There is no test.");
    expect(source).toContain("a / b");
  }, 120_000);
});

/** What tools told, out of messages. */
function toldInMessages(messages: readonly Message[]): Told[] {
  return messages.flatMap((message) =>
    message.type === "toolResult" ? [{ tool: message.name, text: textOfContent(message.content) }] : [],
  );
}

function chunked(text: string): string[] {
  return text.match(/[\s\S]{1,7}/g) ?? [];
}
