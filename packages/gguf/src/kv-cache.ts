import { type GgufHeader, type GgufValue, whole } from "./header.js";

/** How the keys and values of past tokens are stored. */
export type CacheType = "f32" | "f16" | "q8_0" | "q4_0";

const BYTES: { readonly [type in CacheType]: number } = { f32: 4, f16: 2, q8_0: 34 / 32, q4_0: 18 / 32 };

/** Every n-th layer sees all tokens, the others a window, where the file does not say itself (as in llama.cpp). */
const WINDOW_PATTERN: { readonly [architecture: string]: number } = {
  cohere2: 4,
  exaone4: 4,
  gemma2: 2,
  gemma3: 6,
  gemma3n: 5,
  "gpt-oss": 2,
  olmo2: 4,
};

/** What sizes a cache. */
export interface CacheShape {
  contextLength: number;
  /** Tokens evaluated at once. */
  batchSize: number;
  cacheType: CacheType;
}

/**
 * Bytes of the cache, layer by layer, as llama.cpp lays it out: layers with a sliding window keep the window and a
 * batch, layers that share another one's cache keep none, recurrent layers keep a state whatever the context is.
 */
export function cacheBytesByLayer(header: GgufHeader, shape: CacheShape): number[] {
  const { metadata, architecture, layers = 0 } = header;
  const get = (key: string) => metadata[`${architecture}.${key}`];
  const number = (key: string) => whole(get(key));
  const heads = at(get("attention.head_count"), 0) ?? 0;
  const head = heads > 0 ? (number("embedding_length") ?? 0) / heads : 0;
  const window = number("attention.sliding_window") ?? 0;
  const owners = layers - (number("attention.shared_kv_layers") ?? 0);
  const windowTokens = Math.min(shape.contextLength, Math.ceil((window + shape.batchSize) / 256) * 256);
  return Array.from({ length: layers }, (_, layer) => {
    if (layer >= owners) return 0;
    const kvHeads = at(get("attention.head_count_kv"), layer) ?? at(get("attention.head_count"), layer) ?? heads;
    if (isRecurrent(layer, kvHeads, number("full_attention_interval"), number("ssm.state_size")))
      return stateBytes(number);
    const windowed =
      window > 0 && isWindowed(layer, get("attention.sliding_window_pattern"), WINDOW_PATTERN[architecture]);
    const keys = (windowed ? number("attention.key_length_swa") : undefined) ?? number("attention.key_length") ?? head;
    const values =
      (windowed ? number("attention.value_length_swa") : undefined) ?? number("attention.value_length") ?? head;
    return (windowed ? windowTokens : shape.contextLength) * kvHeads * (keys + values) * BYTES[shape.cacheType];
  });
}

function isRecurrent(layer: number, kvHeads: number, interval: number | undefined, state: number | undefined): boolean {
  if (interval !== undefined && interval > 0) return (layer + 1) % interval !== 0;
  return kvHeads === 0 && state !== undefined;
}

function stateBytes(number: (key: string) => number | undefined): number {
  const state = number("ssm.state_size") ?? 0;
  const inner = number("ssm.inner_size") ?? 0;
  const groups = number("ssm.group_count") ?? 0;
  const convolution = Math.max(0, (number("ssm.conv_kernel") ?? 0) - 1) * (inner + 2 * groups * state);
  return (convolution + state * inner) * 4;
}

function isWindowed(layer: number, pattern: GgufValue | undefined, known: number | undefined): boolean {
  if (Array.isArray(pattern)) return Boolean((pattern as readonly GgufValue[])[layer]);
  const every = whole(pattern) ?? known;
  return every !== undefined && every > 0 && layer % every < every - 1;
}

/** A value that stands once for all layers, or once for each. */
function at(value: GgufValue | undefined, layer: number): number | undefined {
  return whole(Array.isArray(value) ? (value as readonly GgufValue[])[layer] : value);
}
