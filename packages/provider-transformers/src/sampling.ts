import type { ModelParams } from "@shedkit/provider";

const PENALTY_WINDOW = 64;

/** Likeliest tokens that are looked at first where not every token is allowed. */
const FIRST_LOOK = 64;

/**
 * Chooses the next token: of the allowed ones, in llama.cpp's order: penalty, top k, top p, temperature. Temperature 0,
 * the default, takes the likeliest one; the same seed chooses the same tokens. Undefined where none is allowed.
 */
export function tokenSampler(
  params: ModelParams,
  seed: number,
): (scores: Float32Array, before: readonly number[], allowed?: (token: number) => boolean) => number | undefined {
  const { temperature = 0, topK = 40, topP = 0.95, repeatPenalty = 1 } = params;
  const random = generator(params.seed ?? seed);
  return (scores, before, allowed) => {
    if (repeatPenalty !== 1) {
      for (const token of new Set(before.slice(-PENALTY_WINDOW))) {
        const score = scores[token];
        if (score !== undefined) scores[token] = score > 0 ? score / repeatPenalty : score * repeatPenalty;
      }
    }
    const count = temperature <= 0 || topK === 1 ? 1 : topK <= 0 ? scores.length : topK;
    if (count === 1 && !allowed) return largest(scores);
    const best = allowed ? likeliestAllowed(scores, count, allowed) : likeliest(scores, count);
    if (best.length <= 1) return best[0];
    const top = scores[best[0] ?? 0] ?? 0;
    const weights = best.map((token) => Math.exp((scores[token] ?? 0) - top));
    const all = weights.reduce((sum, weight) => sum + weight, 0);
    let kept = 0;
    for (let sum = 0; kept < best.length && sum < topP * all; kept++) sum += weights[kept] ?? 0;
    const nucleus = best.slice(0, Math.max(1, kept));
    const heated = nucleus.map((token) => Math.exp(((scores[token] ?? 0) - top) / temperature));
    let rest = random() * heated.reduce((sum, weight) => sum + weight, 0);
    const chosen = heated.findIndex((weight) => {
      rest -= weight;
      return rest < 0;
    });
    return nucleus[Math.max(0, chosen)] ?? 0;
  };
}

/** As `likeliest`, of those that are allowed: few are asked about, unless none of the likely ones is. */
function likeliestAllowed(scores: Float32Array, count: number, allowed: (token: number) => boolean): number[] {
  const look = Math.min(Math.max(FIRST_LOOK, count), scores.length);
  const first = firstAllowed(likeliest(scores, look), count, allowed);
  return first.length > 0 ? first : firstAllowed(likeliest(scores, scores.length), 1, allowed);
}

function firstAllowed(tokens: readonly number[], count: number, allowed: (token: number) => boolean): number[] {
  const found: number[] = [];
  for (const token of tokens) {
    if (found.length === count) break;
    if (allowed(token)) found.push(token);
  }
  return found;
}

function largest(scores: Float32Array): number {
  let best = 0;
  for (let i = 1; i < scores.length; i++) if ((scores[i] ?? 0) > (scores[best] ?? 0)) best = i;
  return best;
}

/** The `count` tokens with the highest scores, from the highest on. */
function likeliest(scores: Float32Array, count: number): number[] {
  const order = Uint32Array.from(scores, (_, i) => i);
  if (count >= scores.length) return [...order].sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0));
  const best: number[] = [];
  for (const token of order) {
    const score = scores[token] ?? 0;
    if (best.length === count && score <= (scores[best[count - 1] ?? 0] ?? 0)) continue;
    let at = best.length;
    while (at > 0 && (scores[best[at - 1] ?? 0] ?? 0) < score) at--;
    best.splice(at, 0, token);
    if (best.length > count) best.pop();
  }
  return best;
}

/** Numbers in [0, 1), the same for the same seed. */
function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
