import type { DynamicCache } from "@huggingface/transformers";
import { cancelledFailure, type ModelEvent, type ModelRequest } from "@shedkit/provider";
import { callableTools, type TextEvent } from "@shedkit/text-tools";
import { AnswerBlocks, raceAbort, StopStrings } from "@shedkit/text-tools/backend";
import { AgenticError, type FinishReason, type Usage } from "@shedkit/types";
import { HeldAnswer } from "./held-answer.js";
import type { LoadedModel, Step } from "./loaded-model.js";
import { tokenSampler } from "./sampling.js";
import { TokenText } from "./token-text.js";

const LEAST_ANSWER = 16; // tokens that a prompt must leave for the answer
const BATCH = 512; // prompt tokens evaluated at once: between two of these an abort counts

/** What a generation needs. */
export interface GenerateParts {
  loaded: LoadedModel;
  request: ModelRequest;
  /** For the errors. */
  providerId: string;
  signal: AbortSignal;
  seed: number;
}

/** One answer, from `start` to `finish`. Throws AgenticError, after the blocks and the usage of what there was. */
export async function* generate(parts: GenerateParts): AsyncGenerator<ModelEvent, void, void> {
  const run = new Run(parts);
  try {
    yield* run.events();
  } finally {
    // A step that is being computed cannot be stopped; what it evaluates is kept for the session's next request.
    void parts.loaded.work(() => run.settle());
  }
}

class Run {
  readonly #parts: GenerateParts;
  readonly #text: string;
  readonly #blocks = new AnswerBlocks();
  #pending: Promise<unknown> = Promise.resolve();
  #cache: DynamicCache | undefined;
  /** The tokens that the cache holds. */
  #evaluated: number[] = [];
  #evaluatedText: string | undefined;
  #reused = 0;
  #input = 0;
  #output = 0;
  #reasoning = 0;

  constructor(parts: GenerateParts) {
    this.#parts = parts;
    this.#text = parts.loaded.render(parts.request);
  }

  async *events(): AsyncGenerator<ModelEvent, void, void> {
    const { loaded, request } = this.#parts;
    const tokens = this.#begin();
    const room = loaded.contextLength - tokens.length;
    if (room < LEAST_ANSWER) throw this.#overflow(tokens.length);
    yield { type: "start", warnings: [] };
    let reason: FinishReason;
    try {
      const first = await this.#evaluatePrompt(tokens);
      reason = yield* this.#answer(first, Math.min(room, request.params.maxTokens ?? room));
    } catch (error) {
      yield* this.#blocks.close();
      yield { type: "usage", usage: this.#usage() };
      throw error;
    }
    yield { type: "usage", usage: this.#usage() };
    if (this.#parts.signal.aborted) throw cancelledFailure(this.#parts.signal);
    yield { type: "finish", reason };
  }

  /** Gives what was evaluated back to the session, when nothing of this run uses it any more. */
  async settle(): Promise<void> {
    await this.#pending.catch(() => undefined);
    const { loaded, request } = this.#parts;
    if (this.#cache === undefined) return;
    const evaluated = { tokens: this.#evaluated, text: this.#evaluatedText, cache: this.#cache };
    await loaded.caches.keep(request.sessionId, evaluated);
  }

  /** The prompt's tokens; what the session has evaluated of them already is taken over. */
  #begin(): number[] {
    const { loaded, request } = this.#parts;
    const known = loaded.caches.take(request.sessionId);
    const { text } = known ?? {};
    const tokens =
      known && text !== undefined && this.#text.startsWith(text)
        ? [...known.tokens, ...loaded.prompt.of(this.#text.slice(text.length))]
        : loaded.prompt.of(this.#text);
    if (known && known.tokens.length < tokens.length && known.tokens.every((token, i) => token === tokens[i])) {
      this.#cache = known.cache;
      this.#evaluated = [...known.tokens];
      this.#reused = known.tokens.length;
    } else void known?.cache.dispose();
    return tokens;
  }

  async #evaluatePrompt(tokens: readonly number[]): Promise<Float32Array> {
    for (;;) {
      const from = this.#evaluated.length;
      const scores = await this.#step(tokens.slice(from, from + BATCH));
      this.#input = this.#evaluated.length - this.#reused;
      if (this.#evaluated.length >= tokens.length) return scores;
    }
  }

  async *#answer(first: Float32Array, most: number): AsyncGenerator<ModelEvent, FinishReason, void> {
    const { loaded, request, seed } = this.#parts;
    const { family } = loaded.talk(request);
    const parser = family.parser({ tools: callableTools(request.tools), prompt: this.#text });
    const decoder = new TokenText(loaded.tokenizer, this.#evaluated.at(-1));
    const held = new HeldAnswer(decoder, loaded.tokenBytes, loaded.ends);
    const stops = new StopStrings([...family.stops, ...(request.params.stop ?? [])]);
    const sample = tokenSampler(request.params, seed);
    const read = function* (this: Run, events: readonly TextEvent[]): Generator<ModelEvent> {
      for (const event of events) yield* this.#blocks.take(event);
    }.bind(this);

    const tools = callableTools(request.tools);
    const answer = request.output && family.answerGrammar(request.output, tools.length > 0);
    let waiting = answer !== undefined && parser.thinking; // the answer's grammar waits for the end of the thought
    let inCall = false;
    if (!parser.thinking) held.begin(answer);

    const { budget, end } = loaded.thinkingBudget(request);
    let cut = false;
    let scores = first;
    let said = "";
    let reason: FinishReason | undefined;
    while (reason === undefined) {
      const token = sample(scores, this.#evaluated, held.allowed) ?? sample(scores, this.#evaluated) ?? 0;
      this.#output++;
      if (loaded.ends.has(token)) {
        this.#evaluatedText = this.#text + said + decoder.end();
        reason = "stop";
        break;
      }
      const piece = decoder.push(token);
      said += piece;
      if (parser.thinking) this.#reasoning++;
      held.follow(piece);
      yield* read(parser.push(stops.push(piece)));

      // A grammar holds from the mark of a call to its end; text and thinking are free, but for an answer's schema.
      const { call } = parser;
      if (call !== undefined && !inCall) {
        inCall = true;
        held.begin(family.grammar(tools, call));
      } else if (call === undefined && inCall) {
        inCall = false;
        held.begin(undefined);
      } else if (waiting && !parser.thinking && call === undefined) {
        waiting = false;
        held.begin(answer);
      }
      if (stops.met) reason = "stop";
      else if (this.#output >= most) reason = "length";
      else if (parser.thinking && !cut && this.#reasoning >= budget) {
        cut = true;
        const broken = decoder.end() + end;
        said += broken;
        yield* read(parser.push(stops.push(broken)));
        scores = await this.#step([token, ...loaded.prompt.of(end)]);
      } else scores = await this.#step([token]);
    }
    yield* read(parser.push(stops.push(decoder.end()) + stops.end()));
    yield* read(parser.end());
    yield* this.#blocks.close();
    return this.#blocks.calls > 0 && reason === "stop" ? "toolUse" : reason;
  }

  async #step(tokens: readonly number[]): Promise<Float32Array> {
    const { loaded, signal } = this.#parts;
    signal.throwIfAborted();
    const step = loaded.step(tokens, this.#cache).then((done: Step) => {
      this.#cache = done.cache;
      this.#evaluated.push(...tokens);
      return done.scores;
    });
    this.#pending = step;
    try {
      return await raceAbort(step, signal);
    } catch (error) {
      throw signal.aborted ? cancelledFailure(signal) : error;
    }
  }

  #usage(): Usage {
    const [input, output, cacheRead] = [this.#input, this.#output, this.#reused];
    return { input, output, cacheRead, cacheWrite: 0, reasoning: this.#reasoning, total: input + output + cacheRead };
  }

  #overflow(tokens: number): AgenticError {
    const { loaded, request, providerId: provider } = this.#parts;
    return new AgenticError(
      "generation",
      `The prompt has ${tokens} tokens; ${request.model.name} runs with a context of ${loaded.contextLength}, of which an ` +
        `answer needs at least ${LEAST_ANSWER}. Shorten the conversation, or raise contextLength where the model allows it.`,
      { kind: "contextOverflow", provider, model: request.model.name },
    );
  }
}
