import { type GgufHeader, whole } from "./header.js";
import { type CacheType, cacheBytesByLayer } from "./kv-cache.js";

/** How a model is to be run. */
export interface MemoryOptions {
  /** In tokens. Default: what the model was trained for, at most 8,192. */
  contextLength?: number | undefined;
  /** How many layers go to the GPU, the last ones first; one more than there are puts the output there too. Default: 0. */
  gpuLayers?: number | "all" | undefined;
  /** Tokens evaluated at once. Default: 512. */
  batchSize?: number | undefined;
  /** Default: `"f16"`. */
  cacheType?: CacheType | undefined;
}

/** Bytes on either side. */
export interface MemorySplit {
  cpu: number;
  gpu: number;
}

/** What running a model takes, in bytes. An estimate: backends round, pad and keep buffers of their own. */
export interface MemoryEstimate {
  contextLength: number;
  /** Of `layers + 1`, the output being the last one. */
  gpuLayers: number;
  layers: number;
  weights: MemorySplit;
  /** Keys and values of `contextLength` tokens. */
  kvCache: MemorySplit;
  /** Intermediate results of one batch. */
  compute: MemorySplit;
  /** The sums. */
  total: MemorySplit;
}

/**
 * What a model takes to run, from its header alone (of a split model: the headers of all parts, in order). Weights are
 * exact, but for tensors whose type is not known here, which count for nothing.
 */
export function estimateMemory(
  headers: GgufHeader | readonly GgufHeader[],
  options: MemoryOptions = {},
): MemoryEstimate {
  const all = Array.isArray(headers) ? (headers as readonly GgufHeader[]) : [headers as GgufHeader];
  const [header] = all;
  if (!header) throw new RangeError("estimateMemory wants at least one header");
  const layers = header.layers ?? 0;
  const contextLength = options.contextLength ?? Math.min(header.contextLength ?? 4096, 8192);
  const gpuLayers =
    options.gpuLayers === "all" ? layers + 1 : Math.min(layers + 1, Math.max(0, options.gpuLayers ?? 0));
  const batchSize = Math.min(options.batchSize ?? 512, contextLength);
  const firstOnGpu = layers + 1 - gpuLayers;

  const weights = weightBytes(all, layers);
  const cache = cacheBytesByLayer(header, { contextLength, batchSize, cacheType: options.cacheType ?? "f16" });
  const split = (byLayer: readonly number[]): MemorySplit => ({
    cpu: sum(byLayer.slice(0, firstOnGpu)),
    gpu: sum(byLayer.slice(firstOnGpu)),
  });
  const layered = split([...weights.byLayer, weights.output]);
  // Without an output matrix of its own the embedding serves as one; the GPU then has a copy.
  const weightSplit = { cpu: layered.cpu + weights.input, gpu: layered.gpu + (gpuLayers > 0 ? weights.copied : 0) };
  const kvCache = split(cache);
  const buffers = computeBytes(header, contextLength, batchSize);
  const compute = gpuLayers > 0 ? { cpu: 0, gpu: buffers } : { cpu: buffers, gpu: 0 };
  return {
    contextLength,
    gpuLayers,
    layers,
    weights: weightSplit,
    kvCache,
    compute,
    total: {
      cpu: weightSplit.cpu + kvCache.cpu + compute.cpu,
      gpu: weightSplit.gpu + kvCache.gpu + compute.gpu,
    },
  };
}

interface WeightBytes {
  /** Always in main memory. */
  input: number;
  byLayer: number[];
  output: number;
  copied: number;
}

function weightBytes(headers: readonly GgufHeader[], layers: number): WeightBytes {
  const byLayer = new Array<number>(layers).fill(0);
  let input = 0;
  let output = 0;
  let copied = 0;
  for (const { name, bytes = 0 } of headers.flatMap(({ tensors }) => tensors)) {
    const layer = Number(/^blk\.(\d+)\./.exec(name)?.[1] ?? Number.NaN);
    if (layer < layers) byLayer[layer] = (byLayer[layer] ?? 0) + bytes;
    else if (name.startsWith("output")) output += bytes;
    else input += bytes;
    if (name === "token_embd.weight") copied = bytes;
  }
  const ownOutput = headers.some(({ tensors }) => tensors.some(({ name }) => name === "output.weight"));
  return { input, byLayer, output, copied: ownOutput ? 0 : copied };
}

/** The largest of what a batch needs at a time: its logits, or a layer's intermediate results; and the attention mask. */
function computeBytes(header: GgufHeader, contextLength: number, batchSize: number): number {
  const get = (key: string) => whole(header.metadata[`${header.architecture}.${key}`]) ?? 0;
  const vocabulary = header.longArrays["tokenizer.ggml.tokens"] ?? get("vocab_size");
  const width = get("embedding_length");
  const feedForward = get("feed_forward_length");
  return batchSize * 4 * (Math.max(vocabulary, 2 * feedForward) + 4 * width + contextLength);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, n) => total + n, 0);
}
