import {
  checkGgufFile,
  type Machine,
  type ModelPlan,
  machineFromOs,
  planModel,
  quantizationOfFile,
} from "@shedkit/gguf";
import type { Llama } from "node-llama-cpp";
import type { LlamaCppOptions } from "./options.js";

/** A longer context without being told would take memory from everything else. */
export const MOST_CONTEXT = 16_384;

/** What this machine has free now, as llama.cpp sees it. */
export async function machineOf(llama: Llama): Promise<Machine> {
  const machine = machineFromOs();
  if (llama.gpu === false) return machine;
  const { free } = await llama.getVramState();
  return { ...machine, gpuMemory: free };
}

/**
 * How the file is to be run on the machine, and why. Undefined where the options say how many layers go to a GPU, or
 * where the file cannot be read: llama.cpp tells of that.
 */
export async function planOf(
  path: string,
  machine: Machine,
  { backend, gpuLayers, contextLength }: LlamaCppOptions,
  signal: AbortSignal,
): Promise<ModelPlan | undefined> {
  const onCpu = backend === "cpu" || machine.gpuMemory === undefined;
  if (!onCpu && gpuLayers !== undefined) return undefined;
  try {
    const { files, bytes, headers } = await checkGgufFile(path, { signal });
    const variant = {
      quantization: quantizationOfFile(path),
      files: files.map((file) => ({ path: file, bytes: 0 })),
      bytes,
    };
    const room = onCpu ? { memory: machine.memory } : machine;
    return planModel([variant], headers, room, { contextLength, maxContextLength: MOST_CONTEXT });
  } catch (error) {
    if (signal.aborted) throw error;
    return undefined;
  }
}
