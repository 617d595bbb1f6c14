import { cancelledFailure, type ModelEvent, type ModelRequest } from "@shedkit/provider";
import { callableTools, type TextEvent } from "@shedkit/text-tools";
import { AnswerBlocks, raceAbort, StopStrings } from "@shedkit/text-tools/backend";
import { AgenticError, type FinishReason, type Usage } from "@shedkit/types";
import type {
  LlamaGrammar,
  LlamaGrammarEvaluationState,
  SequenceEvaluateOptions,
  Token,
  TokenMeterState,
} from "node-llama-cpp";
import type { Binding } from "./binding.js";
import type { LoadedModel } from "./loaded-model.js";
import type { Slot } from "./sequence-pool.js";
import { TokenText } from "./token-text.js";

const LEAST_ANSWER = 16; // tokens that a prompt must leave for the answer
const PENALTY_WINDOW = 64;
/** Prompt tokens evaluated at a time on the CPU, which is not slower than more at a time: so one sees it getting on. */
const CPU_PIECE = 64;

/** What a generation needs. */
export interface GenerateParts {
  binding: Binding;
  loaded: LoadedModel;
  request: ModelRequest;
  /** For the errors. */
  providerId: string;
  signal: AbortSignal;
  seed: number;
}

/** One answer, from `start` to `finish`. Throws AgenticError, after the blocks and the usage of what there was. */
export async function* generate(parts: GenerateParts): AsyncGenerator<ModelEvent, void, void> {
  const { loaded, request, signal } = parts;
  const text = loaded.render(request);
  const { sequences } = await raceAbort(loaded.generation(), signal);
  const slot = await sequences.acquire(request.sessionId, signal);
  const run = new Run(parts, slot, text);
  try {
    yield* run.events();
  } finally {
    // A token that is being computed cannot be stopped; the sequence is lent again when it is done.
    void run.settle().finally(() => sequences.release(slot));
  }
}

class Run {
  readonly #parts: GenerateParts;
  readonly #slot: Slot;
  readonly #text: string;
  readonly #blocks = new AnswerBlocks();
  readonly #meter: TokenMeterState;
  #pending: Promise<unknown> = Promise.resolve();
  #generation: AsyncGenerator<Token, void> | undefined;
  #grammar: LlamaGrammarEvaluationState | undefined;
  #prompt = 0;
  #reasoning = 0;
  /** Prompt tokens that were evaluated, once the first token of the answer is there. */
  #evaluated: number | undefined;
  #recent: Token[] = [];

  constructor(parts: GenerateParts, slot: Slot, text: string) {
    this.#parts = parts;
    this.#slot = slot;
    this.#text = text;
    this.#meter = slot.sequence.tokenMeter.getState();
  }

  async *events(): AsyncGenerator<ModelEvent, void, void> {
    const { loaded, request } = this.#parts;
    const { sequence } = this.#slot;
    const known = this.#slot.text;
    this.#slot.text = undefined;
    const tokens = loaded.tokens(this.#text, { text: known, tokens: () => sequence.contextTokens });
    this.#prompt = tokens.length;
    const room = sequence.contextSize - 1 - tokens.length;
    if (room < LEAST_ANSWER) throw this.#overflow(tokens.length);

    const canCall = request.tools.shed !== undefined || request.tools.tools.length > 0;
    const calls = canCall ? await this.#grammarOf(loaded.callGrammar(request)) : undefined;
    const answer = request.output
      ? await this.#grammarOf(loaded.talk(request).family.answerGrammar(request.output, canCall))
      : undefined;
    yield { type: "start", warnings: this.#warnings(canCall && !calls, request.output !== undefined && !answer) };

    let reason: FinishReason;
    try {
      yield* this.#evaluatePrompt(tokens);
      reason = yield* this.#answer(tokens, Math.min(room, request.params.maxTokens ?? room), answer);
    } catch (error) {
      yield* this.#blocks.close();
      yield { type: "usage", usage: this.#usage() };
      throw error;
    }
    yield { type: "usage", usage: this.#usage() };
    if (this.#parts.signal.aborted) throw cancelledFailure(this.#parts.signal);
    yield { type: "finish", reason };
  }

  /** When nothing of this run uses the sequence any more. */
  async settle(): Promise<void> {
    await this.#pending.catch(() => undefined);
    await this.#generation?.return().catch(() => undefined);
  }

  /** Keeps what the sequence shares with the prompt and evaluates all but the last piece of the rest. */
  async *#evaluatePrompt(tokens: readonly Token[]): AsyncGenerator<ModelEvent, void> {
    const { sequence } = this.#slot;
    const same = sequence.compareContextTokens([...tokens]).firstDifferentIndex;
    const keep = Math.min(same, tokens.length - 1); // the last one must be evaluated to tell the next
    if (keep < sequence.nextTokenIndex) {
      await this.#wait(sequence.eraseContextTokenRanges([{ start: keep, end: sequence.nextTokenIndex }]));
    }
    const begun = sequence.nextTokenIndex;
    const tokensTotal = tokens.length - begun;
    const { batchSize, model } = sequence.context;
    const size = model.gpuLayers > 0 ? batchSize : Math.min(batchSize, CPU_PIECE);
    while (tokens.length - sequence.nextTokenIndex > size) {
      const from = sequence.nextTokenIndex;
      yield { type: "evaluating", tokensDone: from - begun, tokensTotal };
      await this.#wait(sequence.evaluateWithoutGeneratingNewTokens(tokens.slice(from, from + size)));
    }
    if (sequence.nextTokenIndex > begun) {
      yield { type: "evaluating", tokensDone: sequence.nextTokenIndex - begun, tokensTotal };
    }
  }

  async *#answer(
    tokens: readonly Token[],
    most: number,
    answer: LlamaGrammar | undefined,
  ): AsyncGenerator<ModelEvent, FinishReason, void> {
    const { loaded, request } = this.#parts;
    const { sequence } = this.#slot;
    const rest = tokens.slice(sequence.nextTokenIndex);
    const { family } = loaded.talk(request);
    const parser = family.parser({ tools: callableTools(request.tools), prompt: this.#text });
    const decoder = new TokenText(loaded.model, loaded.prompt.spaces ? tokens : undefined);
    const stops = new StopStrings([...family.stops, ...(request.params.stop ?? [])]);
    let said = "";
    let thought = answer !== undefined && parser.thinking; // the answer's grammar waits for its end
    let ended = false;
    let inCall = false;
    if (!parser.thinking) this.#grammar = this.#state(answer);

    const read = function* (this: Run, events: readonly TextEvent[]): Generator<ModelEvent> {
      for (const event of events) yield* this.#blocks.take(event);
    }.bind(this);

    const { budget, end } = loaded.thinkingBudget(request);
    let cut = false;
    this.#generation = sequence.evaluate(rest, this.#sampling());
    let reason: FinishReason | undefined;
    for (let count = 0; reason === undefined; count++) {
      const { value: token, done } = await this.#wait(this.#generation.next());
      this.#evaluated ??= this.#spent().prompt;
      if (done) {
        ended = true;
        reason = "stop";
        break;
      }
      this.#recent.push(token);
      if (this.#recent.length > PENALTY_WINDOW) this.#recent.shift();
      const piece = decoder.push(token);
      said += piece;
      if (parser.thinking) this.#reasoning++;
      yield* read(parser.push(stops.push(piece)));
      if (stops.met) reason = "stop";
      else if (count + 1 >= most) reason = "length";
      else if (parser.thinking && !cut && this.#reasoning >= budget) {
        cut = true;
        const broken = decoder.end() + end;
        said += broken;
        yield* read(parser.push(stops.push(broken)));
        await this.#generation.return();
        this.#generation = sequence.evaluate([token, ...loaded.prompt.ofText(end, false)], this.#sampling());
      }

      // The grammar holds from the mark of a call to its end; text and thinking are free.
      const { call } = parser;
      if (call !== undefined && !inCall) {
        inCall = true;
        this.#grammar = this.#state(await this.#begun(call));
      } else if (call === undefined && inCall) {
        inCall = false;
        this.#grammar = undefined;
      } else if (thought && !parser.thinking && call === undefined) {
        thought = false;
        this.#grammar = this.#state(answer);
      }
    }
    const last = decoder.end();
    if (ended) this.#slot.text = this.#text + said + last; // every token of it was evaluated
    yield* read(parser.push(stops.push(last) + stops.end()));
    yield* read(parser.end());
    yield* this.#blocks.close();
    return this.#blocks.calls > 0 && reason === "stop" ? "toolUse" : reason;
  }

  async #begun(call: { mark: string; text: string }): Promise<LlamaGrammar | undefined> {
    return this.#grammarOf(this.#parts.loaded.callGrammar(this.#parts.request, call));
  }

  async #grammarOf(text: string | undefined): Promise<LlamaGrammar | undefined> {
    return text === undefined ? undefined : this.#parts.loaded.grammar(text);
  }

  #state(grammar: LlamaGrammar | undefined): LlamaGrammarEvaluationState | undefined {
    const { binding, loaded } = this.#parts;
    return grammar && new binding.LlamaGrammarEvaluationState({ model: loaded.model, grammar });
  }

  #sampling(): SequenceEvaluateOptions {
    const { params } = this.#parts.request;
    const { temperature = 0, topP, topK, repeatPenalty } = params;
    return {
      temperature,
      ...(topP !== undefined && { topP }),
      ...(topK !== undefined && { topK }),
      seed: params.seed ?? this.#parts.seed,
      ...(repeatPenalty !== undefined && {
        repeatPenalty: { penalty: repeatPenalty, punishTokens: () => this.#recent, maxPunishTokens: PENALTY_WINDOW },
      }),
      grammarEvaluationState: () => this.#grammar,
    };
  }

  async #wait<T>(promise: Promise<T>): Promise<T> {
    this.#pending = promise;
    const { signal } = this.#parts;
    try {
      return await raceAbort(promise, signal);
    } catch (error) {
      throw signal.aborted ? cancelledFailure(signal) : error;
    }
  }

  /** By llama.cpp's own count: it tells tokens that it only read from tokens after which it chose one. */
  #spent(): { prompt: number; chosen: number } {
    const { usedInputTokens, usedOutputTokens } = this.#slot.sequence.tokenMeter.diff(this.#meter);
    return { prompt: usedInputTokens + Math.min(1, usedOutputTokens), chosen: usedOutputTokens };
  }

  #usage(): Usage {
    const { prompt, chosen: output } = this.#spent();
    const input = this.#evaluated ?? prompt;
    const cacheRead = this.#evaluated === undefined ? 0 : Math.max(0, this.#prompt - input);
    const total = input + output + cacheRead;
    return { input, output, cacheRead, cacheWrite: 0, reasoning: this.#reasoning, total };
  }

  #warnings(noCallGrammar: boolean, noAnswerGrammar: boolean): { message: string }[] {
    const { misfit } = this.#parts.loaded;
    const messages = [
      ...(misfit === undefined ? [] : [misfit]),
      ...(noCallGrammar
        ? ["llama.cpp did not take the grammar of the tools' schemas: calls are not held to them."]
        : []),
      ...(noAnswerGrammar ? ["llama.cpp did not take the output schema's grammar: the answer is not held to it."] : []),
    ];
    return messages.map((message) => ({ message }));
  }

  #overflow(tokens: number): AgenticError {
    const { request, providerId: provider } = this.#parts;
    const size = this.#slot.sequence.contextSize;
    return new AgenticError(
      "generation",
      `The prompt has ${tokens} tokens; ${request.model.name} runs with a context of ${size}, of which an answer needs ` +
        `at least ${LEAST_ANSWER}. Shorten the conversation, or raise contextLength where the model allows it.`,
      { kind: "contextOverflow", provider, model: request.model.name },
    );
  }
}
