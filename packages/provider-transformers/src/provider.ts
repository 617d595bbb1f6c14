import type { ModelFetchEvent } from "@shedkit/gguf";
import {
  cancelledFailure,
  type ModelDescription,
  type ModelEvent,
  type ModelProvider,
  type ModelRequest,
  thrownFailure,
} from "@shedkit/provider";
import { type LoadProgress, ModelLoads, RunningAnswers, raceAbort, reported } from "@shedkit/text-tools/backend";
import { AgenticError, type Embedder, type ModelId, type ModelIdLike, modelId } from "@shedkit/types";
import { generate } from "./generate.js";
import { LoadedModel, type LoadParts } from "./loaded-model.js";
import { parseModelName } from "./model-name.js";
import type { TransformersOptions } from "./options.js";
import { onnxResolver } from "./resolve.js";
import { importRuntime, type Runtime } from "./runtime.js";
import { VectorModel } from "./vector-model.js";

/**
 * Runs ONNX models in this process, by transformers.js and ONNX Runtime. A model is named by a folder (`./model`) or by a
 * repository of the hub (`owner/repo`, `owner/repo:q4`); the first request fetches and loads it, further ones share it.
 * Sessions keep what was evaluated: a step that goes on evaluates only what is new.
 *
 * Needs `@huggingface/transformers` (`npm i @huggingface/transformers`), which is imported on first use.
 */
export class TransformersProvider implements ModelProvider {
  readonly id: string;
  readonly #options: TransformersOptions;
  readonly #models: ModelLoads<LoadedModel>;
  readonly #vectors: ModelLoads<VectorModel>;
  readonly #closing = new AbortController();
  readonly #running = new RunningAnswers();
  #runtime: Promise<Runtime> | undefined;

  constructor(options: TransformersOptions = {}) {
    this.id = options.id ?? "transformers";
    this.#options = options;
    this.#models = this.#loads((parts) => LoadedModel.load(parts));
    this.#vectors = this.#loads((parts) => VectorModel.load(parts));
  }

  /** `"yes"` for the path of a folder, `"unknown"` for what may be a repository. */
  serves(model: ModelId): "yes" | "no" | "unknown" {
    if (this.#models.ready(model.name)) return "yes";
    try {
      return parseModelName(model.name).type === "folder" ? "yes" : "unknown";
    } catch {
      return this.#options.resolve ? "unknown" : "no";
    }
  }

  async *stream(request: ModelRequest): AsyncGenerator<ModelEvent, void, void> {
    const left = new AbortController(); // the reader may leave before the end
    const signal = this.#signal(left.signal, request.signal);
    const end = this.#running.begin(request.model.name);
    try {
      signal.throwIfAborted();
      const loading = reported<LoadProgress, LoadedModel>((report) =>
        this.#models.get(request.model.name, signal, report),
      );
      let step = await loading.next();
      for (; !step.done; step = await loading.next()) yield { type: "loading", ...step.value };
      const seed = Math.floor((this.#options.random ?? Math.random)() * 2 ** 31);
      yield* generate({ loaded: step.value, request, providerId: this.id, signal, seed });
    } catch (error) {
      const context = { provider: this.id, model: request.model.name, signal };
      yield { type: "failure", error: signal.aborted ? cancelledFailure(signal) : thrownFailure(error, context) };
    } finally {
      left.abort();
      end();
    }
  }

  /** Loads the model where it is not yet. Throws AgenticError `provider`, `auth` or `cancelled`. */
  async describe(model: ModelId): Promise<ModelDescription> {
    const { contextLength } = await this.#models.get(model.name, this.#closing.signal, () => undefined);
    return { contextWindow: contextLength, input: ["text"], tools: true };
  }

  /** How many tokens the request's prompt has. Loads the model where it is not yet. */
  async countTokens(request: ModelRequest): Promise<number> {
    const signal = this.#signal(request.signal);
    return (await this.#models.get(request.model.name, signal, () => undefined)).countTokens(request);
  }

  /** Turns texts into vectors of length one with a model made for it, loaded on first use. */
  embedder(model: ModelIdLike): Embedder {
    const { name } = modelId(model);
    return {
      id: `${this.id}:${name}`,
      embed: async (texts, { signal } = {}) => {
        const stop = this.#signal(signal);
        stop.throwIfAborted();
        const end = this.#running.begin(name);
        try {
          const loaded = await this.#vectors.get(name, stop, () => undefined);
          const vectors: Float32Array[] = [];
          for (const text of texts) {
            stop.throwIfAborted();
            vectors.push(await raceAbort(loaded.vector(text), stop)); // who frees the model waits for the text in work
          }
          return vectors;
        } finally {
          end();
        }
      },
    };
  }

  /** Frees a model's memory once nothing uses it; the next request loads it again. Unknown ones are passed over. */
  async unload(model: ModelIdLike): Promise<void> {
    const { name } = modelId(model);
    const free = () => this.#running.over(name);
    await Promise.all([this.#models.unload(name, free), this.#vectors.unload(name, free)]);
  }

  /** Ends what runs, and frees the models. The provider cannot be used any more. */
  async close(): Promise<void> {
    this.#closing.abort(new AgenticError("cancelled", `The provider "${this.id}" was closed.`, {}));
    await this.#running.over();
    await Promise.all([this.#models.clear(), this.#vectors.clear()]);
  }

  #signal(...signals: readonly (AbortSignal | undefined)[]): AbortSignal {
    return AbortSignal.any([this.#closing.signal, ...signals.filter((signal) => signal !== undefined)]);
  }

  #loads<T extends { dispose(): Promise<void> }>(read: (parts: LoadParts) => Promise<T>): ModelLoads<T> {
    const load = async (name: string, signal: AbortSignal, report: (progress: LoadProgress) => void): Promise<T> => {
      const resolve = this.#options.resolve ?? onnxResolver(this.#options);
      const onEvent = (event: ModelFetchEvent): void => {
        if (event.type !== "downloading") return;
        report({ what: "download", bytesDone: event.bytesDone, bytesTotal: event.bytesTotal });
      };
      const found = await resolve(name, { signal, onEvent });
      const runtime = await this.#start();
      signal.throwIfAborted();
      report({ what: "load", bytesDone: 0, bytesTotal: found.bytes });
      const loaded = await read({ runtime, found, options: this.#options });
      report({ what: "load", bytesDone: found.bytes, bytesTotal: found.bytes });
      return loaded;
    };
    return new ModelLoads({ load, dispose: (model) => model.dispose() });
  }

  /** Imports transformers.js once; a failed import is tried again by the next request. */
  #start(): Promise<Runtime> {
    this.#runtime ??= importRuntime();
    const runtime = this.#runtime;
    runtime.catch(() => {
      if (this.#runtime === runtime) this.#runtime = undefined;
    });
    return runtime;
  }
}
