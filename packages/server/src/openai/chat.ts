import { MemoryDocumentStore } from "@shedkit/store";
import { newId, newSessionId, type Usage } from "@shedkit/types";
import type { JsonObject } from "../body.js";
import { type Answered, answer } from "./answer.js";
import type { OpenaiParts } from "./api.js";
import { openaiError, ParamError } from "./error.js";
import { broughtMessages } from "./messages.js";
import { booleanParam, modelParam, modelParams, refuseParams } from "./params.js";
import { seed } from "./seed.js";
import { streamed } from "./stream.js";

/** Chat completions: the client brings the whole conversation each time, and nothing is kept here. */
export async function chatCompletion(body: JsonObject, signal: AbortSignal, parts: OpenaiParts): Promise<Response> {
  const model = modelParam(body, parts.models);
  refuseParams(body);
  if (!Array.isArray(body.messages)) throw new ParamError("messages", '"messages" must be a list of messages.');
  const { history, prompt } = broughtMessages(body.messages, "messages", model);
  const params = modelParams(body, { maxTokens: ["max_completion_tokens", "max_tokens"] });
  const stream = booleanParam(body, "stream", false);
  const options = body.stream_options as { include_usage?: unknown } | null | undefined;

  const docStore = new MemoryDocumentStore();
  const sessionId = newSessionId();
  await seed(docStore, sessionId, history);
  const session = await parts.open({ docStore, sessionId, model });
  const head = { id: `chatcmpl-${newId()}`, created: Math.floor(Date.now() / 1000), model };

  if (!stream) {
    try {
      const answered = await answer(session, prompt, { params, signal });
      if (answered.error) throw answered.error;
      return Response.json(completion(head, answered));
    } finally {
      await session.end();
    }
  }
  return streamed(async (write, left) => {
    const chunk = (delta: object, finish: string | null = null) =>
      write({
        ...{ ...head, object: "chat.completion.chunk" },
        choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
      });
    try {
      chunk({ role: "assistant", content: "" });
      const listener = {
        text: (content: string) => chunk({ content }),
        thinking: (reasoning_content: string) => chunk({ reasoning_content }),
      };
      const { error, usage } = await answer(session, prompt, { params, signal: left }, listener);
      if (error) return write(openaiError(error));
      chunk({}, "stop");
      if (options?.include_usage === true) {
        write({ ...head, object: "chat.completion.chunk", choices: [], usage: chatUsage(usage) });
      }
      write("[DONE]");
    } catch (error) {
      write(openaiError(error));
    } finally {
      await session.end();
    }
  }, signal);
}

function completion(head: object, { text, usage }: Answered): object {
  const message = { role: "assistant", content: text, refusal: null };
  return {
    ...{ ...head, object: "chat.completion" },
    choices: [{ index: 0, message, logprobs: null, finish_reason: "stop" }],
    usage: chatUsage(usage),
  };
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
