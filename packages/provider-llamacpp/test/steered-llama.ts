import { LlamaContextSequence, TokenBias } from "node-llama-cpp";
import { onTestFinished, vi } from "vitest";

const SURE = 1000; // more than any model's own preference

/**
 * Makes models of llama.cpp say what `next` says to a prompt, until the test is over: the token that is wanted is made the
 * likeliest one, token by token. All else is the engine's: the prompt is what stands in the sequence that it answers on
 * (what was kept of the last one, and the rest), each token is evaluated, and a grammar that does not admit what is
 * wanted makes the answer fail.
 */
export function steerLlama(next: (prompt: string) => string): void {
  const { evaluate } = LlamaContextSequence.prototype;
  const spy = vi.spyOn(LlamaContextSequence.prototype, "evaluate");
  spy.mockImplementation(async function* (this: LlamaContextSequence, tokens, options) {
    const { model } = this;
    const prompt = model.detokenize([...this.contextTokens, ...tokens], true);
    const wanted = model.tokenize(next(prompt), true);
    let said = 0;
    const tokenBias = () => {
      const bias = new TokenBias(model.tokenizer);
      const token = wanted[said];
      if (token !== undefined) return bias.set([token], { logit: SURE });
      return bias.set([...model.iterateAllTokens()], "never"); // but for those that end an answer
    };
    for await (const token of evaluate.call(this, tokens, { ...options, tokenBias })) {
      if (token !== wanted[said++]) {
        throw new Error(`Instead of ${model.detokenize(wanted)} the engine said ${model.detokenize([token], true)}.`);
      }
      yield token;
    }
  });
  onTestFinished(() => spy.mockRestore());
}
