import { MemoryDocumentStore } from "@shedkit/store";
import { type FinishReason, newId, newSessionId, type Usage } from "@shedkit/types";
import type { JsonObject } from "../body.js";
import type { OpenaiContext } from "./api.js";
import { type Answered, Asking } from "./asking.js";
import { type ClientCall, ClientTools, clientToolsParam } from "./client-tools.js";
import { openaiError, ParamError } from "./error.js";
import { broughtMessages } from "./messages.js";
import { booleanParam, modelParam, modelParams, outputParam, refuseParams } from "./params.js";
import { refuseOrphans } from "./parked.js";
import { seed } from "./seed.js";
import { streamed } from "./stream.js";

/**
 * Chat completions: the client brings the whole conversation each time, and nothing is kept here but an answer that waits
 * for what the client's functions say.
 */
export async function chatCompletion(body: JsonObject, signal: AbortSignal, parts: OpenaiContext): Promise<Response> {
  const model = modelParam(body, parts.models);
  refuseParams(body);
  const stream = booleanParam(body, "stream", false);
  const options = body.stream_options as { include_usage?: unknown } | null | undefined;
  const asking = await askingOf(body, model, parts);
  const head = { id: `chatcmpl-${newId()}`, created: Math.floor(Date.now() / 1000), model };

  if (!stream) {
    const answered = await parts.parked.answered(asking, signal);
    if (answered.error) throw answered.error;
    return Response.json(completion(head, answered));
  }
  return streamed(async (write, left) => {
    const chunk = (delta: object, finish: string | null = null) =>
      write({
        ...{ ...head, object: "chat.completion.chunk" },
        choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
      });
    const listener = {
      text: (content: string) => chunk({ content }),
      thinking: (reasoning_content: string) => chunk({ reasoning_content }),
    };
    try {
      chunk({ role: "assistant", content: "" });
      const answered = await parts.parked.answered(asking, left, listener);
      const { error, usage, calls } = answered;
      if (error) return write(openaiError(error));
      for (const [index, call] of calls.entries()) chunk({ tool_calls: [{ index, ...callObject(call) }] });
      chunk({}, finishOf(answered));
      if (options?.include_usage === true) {
        write({ ...head, object: "chat.completion.chunk", choices: [], usage: chatUsage(usage) });
      }
      write("[DONE]");
    } catch (error) {
      write(openaiError(error));
    }
  }, signal);
}

/** The answer that waits for the results in this request, or a new one in a session of its own. */
async function askingOf(body: JsonObject, model: string, parts: OpenaiContext): Promise<Asking> {
  if (!Array.isArray(body.messages)) throw new ParamError("messages", '"messages" must be a list of messages.');
  const { history, prompt, results } = broughtMessages(body.messages, "messages", model);
  const params = modelParams(body, { maxTokens: ["max_completion_tokens", "max_tokens"] });
  const tools = new ClientTools(clientToolsParam(body), booleanParam(body, "parallel_tool_calls", true));
  const output = outputParam(body);
  const waiting = parts.parked.goOn(results);
  if (waiting) return waiting;
  refuseOrphans(results);
  const docStore = new MemoryDocumentStore();
  const sessionId = newSessionId();
  await seed(docStore, sessionId, history);
  const session = await parts.open({ docStore, sessionId, model });
  const leave = () => session.end();
  try {
    const asking = new Asking({ session, tools, output, params, leave });
    asking.start(prompt);
    return asking;
  } catch (error) {
    await leave();
    throw error;
  }
}

function completion(head: object, answered: Answered): object {
  const { text, usage, calls } = answered;
  const message = {
    role: "assistant",
    content: text === "" && calls.length > 0 ? null : text,
    refusal: null,
    ...(calls.length > 0 && { tool_calls: calls.map(callObject) }),
  };
  return {
    ...{ ...head, object: "chat.completion" },
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishOf(answered) }],
    usage: chatUsage(usage),
  };
}

function callObject({ id, name, arguments: args }: ClientCall): object {
  return { id, type: "function", function: { name, arguments: args } };
}

const FINISH: { readonly [reason in FinishReason]?: string } = { length: "length", contentFilter: "content_filter" };

function finishOf({ finish, calls }: Answered): string {
  return calls.length > 0 ? "tool_calls" : (FINISH[finish] ?? "stop");
}

function chatUsage(usage: Usage): object {
  const prompt = usage.input + usage.cacheRead + usage.cacheWrite;
  return {
    prompt_tokens: prompt,
    completion_tokens: usage.output,
    total_tokens: prompt + usage.output,
    prompt_tokens_details: { cached_tokens: usage.cacheRead },
    completion_tokens_details: { reasoning_tokens: usage.reasoning },
  };
}
