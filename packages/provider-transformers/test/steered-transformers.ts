import {
  AutoTokenizer,
  type DynamicCache,
  LogitsProcessor,
  LogitsProcessorList,
  PreTrainedModel,
  type Tensor,
} from "@huggingface/transformers";
import { onTestFinished, vi } from "vitest";

const SURE = 1000; // more than any model's own preference

/** What a cache holds, and what is being said behind the prompt. */
interface Held {
  tokens: number[];
  wanted: readonly number[] | undefined;
  said: number;
}

type Generate = (options: {
  inputs: Tensor;
  past_key_values?: DynamicCache;
  logits_processor: LogitsProcessorList;
}) => Promise<{ past_key_values: DynamicCache }>;

/**
 * Makes the model of a folder say what `next` says to a prompt that ends with `ends`, until the test is over: the token
 * that is wanted is made the likeliest one, token by token. All else is the engine's: the prompt is what stands in the
 * cache that it answers on (what was kept of the last one, and the rest), each token is evaluated, and a grammar that
 * does not admit what is wanted makes the answer fail.
 */
export async function steerTransformers(folder: string, ends: string, next: (prompt: string) => string): Promise<void> {
  const tokenizer = await AutoTokenizer.from_pretrained(folder, { local_files_only: true });
  const text = (tokens: readonly number[]) => tokenizer.decode([...tokens], { skip_special_tokens: false });
  const caches = new WeakMap<DynamicCache, Held>();
  const prototype = PreTrainedModel.prototype as unknown as { generate: Generate };
  const { generate } = prototype;
  const spy = vi.spyOn(prototype, "generate").mockImplementation(async function (this: unknown, options) {
    const { inputs, past_key_values: cache, logits_processor: processors } = options;
    const held = (cache && caches.get(cache)) ?? { tokens: [], wanted: undefined, said: 0 };
    if ((cache?.get_seq_length() ?? 0) !== held.tokens.length) throw new Error("The cache holds other tokens.");
    const came = Array.from(inputs.data as BigInt64Array, Number);
    held.tokens.push(...came);
    if (held.wanted && came.length === 1) {
      const token = held.wanted[held.said++];
      if (token !== came[0]) throw new Error(`Instead of ${text(held.wanted)} the engine said ${text(came)}.`);
    } else {
      const prompt = text(held.tokens);
      held.said = 0;
      held.wanted = prompt.endsWith(ends) ? tokenizer.encode(next(prompt), { add_special_tokens: false }) : undefined;
    }
    const steered = new LogitsProcessorList();
    const wanted = held.wanted && (held.wanted[held.said] ?? Number(tokenizer.eos_token_id));
    if (wanted !== undefined) steered.push(new Preference(wanted));
    steered.extend(processors.processors);
    const result = await generate.call(this, { ...options, logits_processor: steered });
    caches.set(result.past_key_values, held);
    return result;
  });
  onTestFinished(() => spy.mockRestore());
}

class Preference extends LogitsProcessor {
  readonly #token: number;

  constructor(token: number) {
    super();
    this.#token = token;
  }

  override _call(_tokens: bigint[][], logits: Tensor): Tensor {
    (logits.data as Float32Array)[this.#token] = SURE;
    return logits;
  }
}
