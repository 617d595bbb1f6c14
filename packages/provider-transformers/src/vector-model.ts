import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { FeatureExtractionPipeline } from "@huggingface/transformers";
import { loadError } from "./load-error.js";
import { type LoadParts, modelOptions } from "./loaded-model.js";

/** Where a model says how the vectors of its tokens become one. */
export const POOLING_FILE = "1_Pooling/config.json";

type Pooling = "mean" | "cls" | "last_token";

/** A model in memory that makes vectors of texts. */
export class VectorModel {
  readonly #pipeline: FeatureExtractionPipeline;
  readonly #pooling: Pooling;
  #working: Promise<unknown> = Promise.resolve();

  private constructor(pipeline: FeatureExtractionPipeline, pooling: Pooling) {
    this.#pipeline = pipeline;
    this.#pooling = pooling;
  }

  /** Loads a folder. Throws AgenticError `provider` with a line that names it and what to do. */
  static async load(parts: LoadParts): Promise<VectorModel> {
    const { folder } = parts.found;
    try {
      const pipeline = await parts.runtime.pipeline("feature-extraction", folder, modelOptions(parts));
      return new VectorModel(pipeline, await poolingOf(folder));
    } catch (cause) {
      throw loadError(folder, cause);
    }
  }

  /** A vector of length one; zeros for a text without tokens. A text beyond the model's length is cut there. */
  async vector(text: string): Promise<Float32Array> {
    const run = this.#pipeline(text, { pooling: this.#pooling, normalize: true });
    this.#working = Promise.all([this.#working, run.catch(() => undefined)]);
    const { data } = await run;
    return Float32Array.from(data as Float32Array, (value) => (Number.isFinite(value) ? value : 0));
  }

  async dispose(): Promise<void> {
    await this.#working;
    await this.#pipeline.dispose();
  }
}

async function poolingOf(folder: string): Promise<Pooling> {
  const text = await readFile(join(folder, POOLING_FILE), "utf8").catch(() => "{}");
  const config = JSON.parse(text) as { pooling_mode_cls_token?: boolean; pooling_mode_lasttoken?: boolean };
  if (config.pooling_mode_cls_token) return "cls";
  return config.pooling_mode_lasttoken ? "last_token" : "mean";
}
