import type { HubSettings, ModelFetchEvent } from "@shedkit/gguf";

/** What of a repository's weights is taken: how exact their numbers are. */
export type OnnxDtype = "fp32" | "fp16" | "q8" | "int8" | "uint8" | "q4" | "q4f16" | "bnb4";

/** How an ONNX model is found, loaded and run. */
export interface TransformersOptions {
  /** Default: `"transformers"`. */
  id?: string | undefined;
  /** Where downloads are kept; wins over the hub's. Default: the shared Hugging Face cache. */
  cacheDir?: string | undefined;
  /** Which weights are meant; wins over those in the model's name. Default: the smallest that lose little, q4 first. */
  dtype?: OnnxDtype | undefined;
  /** What computes. Default `"cpu"`. */
  device?: "cpu" | "webgpu" | "cuda" | "dml" | "coreml" | undefined;
  /** CPU threads. Default: ONNX Runtime's own. */
  threads?: number | undefined;
  /** In tokens. Default: what the model was trained for, up to 16,384. */
  contextLength?: number | undefined;
  /** Jinja, in place of the chat template that comes with the model. Default: that one, else ChatML. */
  chatTemplate?: string | undefined;
  /** Where models of a hub come from. Default: huggingface.co, without a token. */
  hub?: HubSettings | undefined;
  /** Where a model's folder is. Default: a path, or files of the hub's repository. */
  resolve?: OnnxResolver | undefined;
  /** Numbers in [0, 1) for the seeds of requests that name none. Default: `Math.random`. */
  random?: (() => number) | undefined;
  /** The day that chat templates may name. Default: the day on which the model is loaded. */
  today?: Date | undefined;
}

/** Finds the folder of a model, and says how far it is. Throws AgenticError with a line that says what to do. */
export type OnnxResolver = (
  name: string,
  options: { signal: AbortSignal; onEvent(event: ModelFetchEvent): void },
) => Promise<OnnxFolder>;

/** A model in the layout of transformers.js: `config.json`, a tokenizer, `onnx/model*.onnx`. */
export interface OnnxFolder {
  folder: string;
  dtype: OnnxDtype;
  bytes: number;
}
