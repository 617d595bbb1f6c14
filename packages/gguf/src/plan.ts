import { totalmem } from "node:os";
import { AgenticError } from "@shedkit/types";
import type { GgufHeader } from "./header.js";
import { size } from "./hub/parts.js";
import { estimateMemory, type MemoryEstimate, type MemorySplit } from "./memory.js";
import { DEFAULT_QUANTIZATION, knownQuantization, quantization } from "./quantization.js";
import { chooseVariant, type ModelVariant } from "./variants.js";

/** What a machine has for a model, in bytes. */
export interface Machine {
  /** Main memory that is free. */
  memory: number;
  /** Free memory of the GPU, of all of them together. Default: none. */
  gpuMemory?: number | undefined;
}

/** What is wanted of a model. */
export interface PlanOptions {
  /** In tokens. Default: what the model was trained for, up to `maxContextLength`; less where it does not fit. */
  contextLength?: number | undefined;
  /** In tokens, where no `contextLength` is given. Default: 32,768. */
  maxContextLength?: number | undefined;
  /** The only quantization that may be taken. Default: Q4_K_M or a smaller one. */
  quantization?: string | undefined;
}

/** How to run a model on a machine, and why so. */
export interface ModelPlan {
  variant: ModelVariant;
  contextLength: number;
  gpuLayers: number;
  estimate: MemoryEstimate;
  /** False where not even the smallest fits; the plan is the smallest then. */
  fits: boolean;
  /** One or two sentences for people. */
  why: string;
}

/** This share of what is free is used; the rest is for what nobody foresees. */
const USABLE = 0.9;
const LEAST_CONTEXT = 4096;
const USUAL_CONTEXT = 32_768;
/** Below this a model loses so much that a larger one, partly on the CPU, is better. */
const GPU_LEAST_BITS = 3;

/** What this machine has free now, without a GPU: whatever loads models knows about that. */
export function machineFromOs(): Machine {
  // macOS counts what it could free at once as used.
  const least = process.platform === "darwin" ? totalmem() * 0.7 : 0;
  return { memory: Math.max(process.availableMemory(), least) };
}

/**
 * Chooses the quantization, the context and the layers for the GPU: Q4_K_M (or what is nearest to it) with the context
 * wanted, all on the GPU; where that does not fit a shorter context, then smaller quantizations; then part of the
 * layers on the GPU, or none. `headers` are those of one variant, whichever: all have the same layers.
 */
export function planModel(
  variants: readonly ModelVariant[],
  headers: readonly GgufHeader[],
  machine: Machine,
  options: PlanOptions = {},
): ModelPlan {
  const candidates = candidatesOf(variants, options);
  const contexts = contextsOf(headers, options);
  const room: MemorySplit = { cpu: machine.memory * USABLE, gpu: (machine.gpuMemory ?? 0) * USABLE };
  const whole = (headers[0]?.layers ?? 0) + 1;
  const at = (variant: ModelVariant, contextLength: number, gpuLayers: number) => ({
    variant,
    gpuLayers,
    contextLength,
    estimate: scaled(estimateMemory(headers, { contextLength, gpuLayers }), variant, headers),
  });

  if (room.gpu > 0) {
    for (const variant of candidates.filter((one, i) => i === 0 || bitsOf(one) >= GPU_LEAST_BITS)) {
      for (const contextLength of contexts) {
        const plan = at(variant, contextLength, whole);
        if (fits(plan.estimate, room)) return told(plan, true, machine, candidates, contexts);
      }
    }
  }
  for (const variant of candidates) {
    for (const contextLength of contexts) {
      const plan = largest(room.gpu > 0 ? whole : 0, (gpuLayers) => at(variant, contextLength, gpuLayers), room);
      if (fits(plan.estimate, room)) return told(plan, true, machine, candidates, contexts);
    }
  }
  const smallest = candidates.at(-1);
  if (!smallest) throw new AgenticError("unexpected", "planModel found no candidate", {});
  return told(at(smallest, contexts.at(-1) ?? LEAST_CONTEXT, 0), false, machine, candidates, contexts);
}

/** As many layers on the GPU as it holds: each one more takes more there, and less of main memory. */
function largest<P extends { estimate: MemoryEstimate }>(
  most: number,
  at: (layers: number) => P,
  room: MemorySplit,
): P {
  let [low, high] = [0, most];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (at(middle).estimate.total.gpu <= room.gpu) low = middle;
    else high = middle - 1;
  }
  return at(low);
}

/** The one to begin with, then the smaller ones. */
function candidatesOf(variants: readonly ModelVariant[], options: PlanOptions): ModelVariant[] {
  const quantization = options.quantization === undefined ? undefined : knownQuantization(options.quantization);
  const { variant: first } = chooseVariant("the repository", variants, { quantization });
  if (options.quantization !== undefined) return [first];
  return [first, ...variants.filter((v) => v.bytes < first.bytes && v.quantization !== undefined)];
}

function contextsOf(headers: readonly GgufHeader[], options: PlanOptions): number[] {
  const trained = headers[0]?.contextLength ?? LEAST_CONTEXT;
  if (options.contextLength !== undefined) return [Math.min(options.contextLength, trained)];
  const contexts = [Math.min(trained, options.maxContextLength ?? USUAL_CONTEXT)];
  for (let next = Math.floor((contexts[0] ?? 0) / 2); next >= LEAST_CONTEXT; next = Math.floor(next / 2)) {
    contexts.push(next);
  }
  return contexts;
}

/** The weights of another variant are in proportion to its size; all else is the same. */
function scaled(estimate: MemoryEstimate, variant: ModelVariant, headers: readonly GgufHeader[]): MemoryEstimate {
  const measured = headers.reduce((bytes, { tensors }) => bytes + tensors.reduce((n, t) => n + (t.bytes ?? 0), 0), 0);
  const factor = measured > 0 ? variant.bytes / measured : 1;
  const weights = { cpu: estimate.weights.cpu * factor, gpu: estimate.weights.gpu * factor };
  const { kvCache, compute } = estimate;
  const total = {
    cpu: weights.cpu + kvCache.cpu + compute.cpu,
    gpu: weights.gpu + kvCache.gpu + compute.gpu,
  };
  return { ...estimate, weights, total };
}

function fits({ total }: MemoryEstimate, room: MemorySplit): boolean {
  return total.cpu <= room.cpu && total.gpu <= room.gpu;
}

function bitsOf(variant: ModelVariant): number {
  return quantization(variant.quantization ?? "")?.bits ?? 0;
}

function told(
  plan: Omit<ModelPlan, "fits" | "why">,
  fit: boolean,
  machine: Machine,
  [first]: readonly ModelVariant[],
  [wanted = 0]: readonly number[],
): ModelPlan {
  const { variant, contextLength, gpuLayers, estimate } = plan;
  const { weights, kvCache, total, layers } = estimate;
  const name = variant.quantization ?? "The file";
  const tokens = contextLength.toLocaleString("en-US");
  const needs = `${size(weights.cpu + weights.gpu)} of weights and ${size(kvCache.cpu + kvCache.gpu)} of cache for ${tokens} tokens`;
  const has = `${size(machine.memory)} of memory${machine.gpuMemory ? ` and ${size(machine.gpuMemory)} on the GPU` : ""} free`;
  if (!fit) {
    const sum = size(total.cpu + total.gpu);
    return {
      ...plan,
      fits: false,
      why: `Nothing fits: even ${name} takes ${sum} (${needs}), and this machine has ${has}. Take a smaller model.`,
    };
  }
  const where =
    gpuLayers > layers
      ? "all of it on the GPU"
      : gpuLayers > 0
        ? `${gpuLayers} of ${layers} layers on the GPU`
        : "on the CPU";
  const smaller = variant !== first ? ` ${first?.quantization ?? DEFAULT_QUANTIZATION} does not fit so.` : "";
  const shorter = contextLength < wanted ? ` More than ${tokens} tokens of context do not fit.` : "";
  return { ...plan, fits: true, why: `${name}, ${where}: ${needs}, with ${has}.${smaller}${shorter}` };
}
