import type { ModelDescription, ModelEvent, ModelProvider, ModelRequest } from "@shedkit/provider";
import { readCallArguments } from "@shedkit/provider/adapter";
import { AgenticError, type ModelId, type ModelOutput } from "@shedkit/types";
import {
  argumentsText,
  chunks,
  type ScriptedAnswer,
  type ScriptedPart,
  type ScriptedReply,
  toStep,
  usageOf,
} from "./scripted-answer.js";

/** What a scripted provider says of itself. */
export interface ScriptedProviderOptions {
  /** Default: `"scripted"`. */
  id?: string | undefined;
  /** The models it says yes to. Default: all. */
  models?: readonly string[] | undefined;
  /** Length of a delta in UTF-16 units. Default: 8. */
  chunkSize?: number | undefined;
  /** Default: a window of 100,000 tokens, text and images, tools. */
  description?: Partial<ModelDescription> | undefined;
}

/**
 * A model backend that says what a test tells it to, without network or model: the n-th request gets the n-th answer.
 * A request past the last answer fails, naming its number.
 *
 * ```ts
 * const provider = new ScriptedProvider([
 *   [{ thinking: "I need the file." }, { call: "read", arguments: { path: "package.json" } }],
 *   "It is 1.2.3.",
 * ]);
 * ```
 */
export class ScriptedProvider implements ModelProvider {
  readonly id: string;
  /** Every request so far, as it came; `messages` is copied, since its owner may append to it. */
  readonly requests: ModelRequest[] = [];
  /** Whether `close` was called. */
  closed = false;
  readonly #reply: ScriptedReply;
  readonly #options: ScriptedProviderOptions;
  #calls = 0;

  constructor(answers: readonly ScriptedAnswer[] | ScriptedReply, options: ScriptedProviderOptions = {}) {
    this.id = options.id ?? "scripted";
    this.#options = options;
    this.#reply = typeof answers === "function" ? answers : (_, index) => answers[index] ?? noAnswer(this.id, index);
  }

  serves(model: ModelId): "yes" | "no" {
    return this.#options.models === undefined || this.#options.models.includes(model.name) ? "yes" : "no";
  }

  async describe(): Promise<ModelDescription> {
    return { contextWindow: 100_000, input: ["text", "image"], tools: true, ...this.#options.description };
  }

  async close(): Promise<void> {
    this.closed = true;
  }

  async *stream(request: ModelRequest): AsyncGenerator<ModelEvent, void, void> {
    const index = this.requests.length;
    this.requests.push({ ...request, messages: [...request.messages] });
    if (request.signal?.aborted) {
      yield { type: "failure", error: cancelled(request.signal) };
      return;
    }
    try {
      yield* this.#play(toStep(await this.#reply(request, index)), request);
    } catch (error) {
      yield { type: "failure", error: AgenticError.from(error) };
    }
  }

  async *#play(step: ReturnType<typeof toStep>, request: ModelRequest): AsyncGenerator<ModelEvent, void, void> {
    const size = this.#options.chunkSize ?? 8;
    const signal = request.signal;
    let block = -1;
    let deltas = 0;
    let calls = 0;
    let text: string | undefined;
    let started = false;
    const start: ModelEvent = { type: "start", warnings: step.warnings ?? [] };
    const usage = (): ModelEvent => ({ type: "usage", usage: usageOf(step.usage, deltas) });

    for (const part of step.parts) {
      if (typeof part === "object" && "loading" in part) {
        yield { type: "loading", bytesDone: part.loading, bytesTotal: part.total, what: "load" };
        continue;
      }
      if (!started) {
        started = true;
        yield start;
      }
      if (typeof part === "object" && "evaluating" in part) {
        yield { type: "evaluating", tokensDone: part.evaluating, tokensTotal: part.total };
        continue;
      }
      let broken: { error: AgenticError; retracted?: boolean | undefined } | undefined;
      if (closesText(part)) {
        if (text) yield { type: "output", block, output: { type: "text", text } };
        text = undefined;
      }
      if (typeof part === "string") {
        if (text === undefined) block++;
        text ??= "";
        for (const piece of chunks(part, size)) {
          if (signal?.aborted) break;
          text += piece;
          deltas++;
          yield { type: "textDelta", block, text: piece };
        }
      } else if ("thinking" in part) {
        block++;
        let thought = "";
        for (const piece of chunks(part.thinking, size)) {
          if (signal?.aborted) break;
          thought += piece;
          deltas++;
          yield { type: "thinkingDelta", block, text: piece };
        }
        const signature = signal?.aborted ? undefined : part.signature;
        yield { type: "output", block, output: { type: "thinking", text: thought, ...(signature && { signature }) } };
      } else if ("call" in part) {
        block++;
        calls++;
        const id = part.id ?? `call_${++this.#calls}`;
        const json = argumentsText(part);
        yield { type: "toolCallStart", block, id, name: part.call };
        for (const piece of chunks(json, size)) {
          if (signal?.aborted) break;
          deltas++;
          yield { type: "toolCallDelta", block, json: piece };
        }
        if (!signal?.aborted) yield { type: "output", block, output: callOutput(id, part.call, json) };
      } else if ("output" in part) {
        block++;
        yield { type: "output", block, output: part.output };
      } else if ("wait" in part) {
        await part.wait.wait(signal);
      } else {
        broken = { error: part.fail, ...(part.retracted === undefined ? {} : { retracted: part.retracted }) };
      }
      if (signal?.aborted) broken = { error: cancelled(signal) };
      if (broken) {
        if (text) yield { type: "output", block, output: { type: "text", text } };
        yield usage();
        yield { type: "failure", ...broken };
        return;
      }
    }
    if (!started) yield start;
    if (text) yield { type: "output", block, output: { type: "text", text } };
    yield usage();
    yield { type: "finish", reason: step.finish ?? (calls > 0 ? "toolUse" : "stop") };
  }
}

/** A gate in the middle of a text leaves it one block; so does a failure, which closes it itself. */
function closesText(part: ScriptedPart): boolean {
  return typeof part === "object" && !("wait" in part) && !("fail" in part);
}

function callOutput(id: string, name: string, json: string): ModelOutput {
  return { type: "toolCall", id, providerCallId: id, name, ...readCallArguments(json) };
}

function cancelled(signal: AbortSignal): AgenticError {
  const reason: unknown = signal.reason;
  const text = reason instanceof Error ? reason.message : String(reason);
  return new AgenticError("cancelled", `The request was aborted: ${text}`, { reason: text });
}

function noAnswer(provider: string, index: number): never {
  throw new AgenticError(
    "generation",
    `The script has no answer for request ${index + 1}. Give the ScriptedProvider one more answer.`,
    { kind: "other", provider, model: "" },
  );
}
