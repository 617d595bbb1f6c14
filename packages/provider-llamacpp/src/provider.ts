import { type Machine, type ModelFetchEvent, parseModelReference, resolveModel } from "@shedkit/gguf";
import {
  cancelledFailure,
  type ModelDescription,
  type ModelEvent,
  type ModelProvider,
  type ModelRequest,
  thrownFailure,
} from "@shedkit/provider";
import { type LoadProgress, ModelLoads, RunningAnswers, reported } from "@shedkit/text-tools/backend";
import { AgenticError, type Embedder, type ModelId, type ModelIdLike, modelId } from "@shedkit/types";
import type { Llama } from "node-llama-cpp";
import { type Binding, importBinding, startLlama } from "./binding.js";
import { llamaEmbedder } from "./embedder.js";
import { generate } from "./generate.js";
import { LoadedModel } from "./loaded-model.js";
import { machineOf, planOf } from "./machine-plan.js";
import { checkOptions, type LlamaCppOptions, type ModelResolver } from "./options.js";

const LEAST_PROGRESS = 0.01; // of a load, between two events

interface Runtime {
  binding: Binding;
  llama: Llama;
}

/**
 * Runs GGUF models in this process, by llama.cpp. A model is named by a path (`./model.gguf`) or by a repository of the
 * hub (`owner/repo`, `owner/repo:Q4_K_M`); the first request fetches and loads it, further ones share it. Each session
 * keeps what was evaluated: a step evaluates only what its prompt does not share with the last one.
 *
 * Needs `node-llama-cpp` (`npm i node-llama-cpp`), which is imported on first use.
 */
export class LlamaCppProvider implements ModelProvider {
  readonly id: string;
  readonly #options: LlamaCppOptions;
  readonly #models: ModelLoads<LoadedModel>;
  readonly #closing = new AbortController();
  #runtime: Promise<Runtime> | undefined;
  #loadFailed = false;
  readonly #running = new RunningAnswers();

  /** Throws AgenticError `provider` for a number that cannot be meant. */
  constructor(options: LlamaCppOptions = {}) {
    checkOptions(options);
    this.id = options.id ?? "llamacpp";
    this.#options = options;
    this.#models = new ModelLoads({
      load: (name, signal, report) => this.#load(name, signal, report),
      dispose: (model) => model.dispose(),
    });
  }

  /** `"yes"` for the path of a file, `"unknown"` for what may be a repository. */
  serves(model: ModelId): "yes" | "no" | "unknown" {
    if (this.#models.ready(model.name)) return "yes";
    try {
      return parseModelReference(model.name).type === "file" ? "yes" : "unknown";
    } catch {
      return this.#options.resolve ? "unknown" : "no";
    }
  }

  async *stream(request: ModelRequest): AsyncGenerator<ModelEvent, void, void> {
    const left = new AbortController(); // the reader may leave before the end
    const signals = [this.#closing.signal, left.signal, ...(request.signal ? [request.signal] : [])];
    const signal = AbortSignal.any(signals);
    const end = this.#running.begin(request.model.name);
    try {
      signal.throwIfAborted();
      const loading = reported<LoadProgress, LoadedModel>((report) =>
        this.#models.get(request.model.name, signal, report),
      );
      let step = await loading.next();
      for (; !step.done; step = await loading.next()) yield { type: "loading", ...step.value };
      const { binding } = await this.#start();
      const seed = Math.floor((this.#options.random ?? Math.random)() * 2 ** 31);
      yield* generate({ binding, loaded: step.value, request, providerId: this.id, signal, seed });
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
    const loaded = await this.#models.get(model.name, this.#closing.signal, () => undefined);
    const { context } = await loaded.generation();
    return { contextWindow: context.contextSize, input: ["text"], tools: true };
  }

  /** How many tokens the request's prompt has. Loads the model where it is not yet. */
  async countTokens(request: ModelRequest): Promise<number> {
    const signal = request.signal ? AbortSignal.any([this.#closing.signal, request.signal]) : this.#closing.signal;
    return (await this.#models.get(request.model.name, signal, () => undefined)).countTokens(request);
  }

  /** Turns texts into vectors with a model of any kind, loaded on first use. A text beyond its context is cut there. */
  embedder(model: ModelIdLike): Embedder {
    const { name } = modelId(model);
    return llamaEmbedder({
      id: `${this.id}:${name}`,
      closing: this.#closing.signal,
      load: (signal) => this.#models.get(name, signal, () => undefined),
      begin: () => this.#running.begin(name),
    });
  }

  /**
   * Frees a model's memory once the answers that run on it are over; the next request loads it again. A model that is
   * not loaded is passed over.
   */
  async unload(model: ModelIdLike): Promise<void> {
    const { name } = modelId(model);
    await this.#models.unload(name, () => this.#running.over(name));
  }

  /** Ends what runs, and frees the models and llama.cpp. The provider cannot be used any more. */
  async close(): Promise<void> {
    this.#closing.abort(new AgenticError("cancelled", `The provider "${this.id}" was closed.`, {}));
    await this.#running.over();
    await this.#models.clear();
    const runtime = this.#runtime;
    this.#runtime = undefined;
    const freed = runtime?.then(({ llama }) => llama.dispose()).catch(() => undefined);
    // After a load that failed, node-llama-cpp may wait for that model for ever: then nothing is left to wait for.
    if (!this.#loadFailed) await freed;
  }

  async #load(name: string, signal: AbortSignal, report: (progress: LoadProgress) => void): Promise<LoadedModel> {
    const { binding, llama } = await this.#start();
    signal.throwIfAborted();
    const machine = this.#options.machine ?? (await machineOf(llama));
    const resolve = this.#options.resolve ?? this.#resolver(machine);
    const onEvent = (event: ModelFetchEvent): void => {
      if (event.type === "chosen")
        report({ what: "download", bytesDone: 0, bytesTotal: event.bytes, why: event.reason });
      if (event.type !== "downloading") return;
      report({ what: "download", bytesDone: event.bytesDone, bytesTotal: event.bytesTotal });
    };
    const file = await resolve(name, { signal, onEvent });
    signal.throwIfAborted();
    const plan = await planOf(file.path, machine, this.#options, signal);
    const at = (fraction: number, why?: string): LoadProgress => {
      return { what: "load", bytesDone: Math.round(fraction * file.bytes), bytesTotal: file.bytes, why };
    };
    let told = 0;
    report(at(0, plan?.why));
    try {
      const loaded = await LoadedModel.load(
        { binding, llama, file, options: this.#options, plan },
        {
          signal,
          onProgress: (fraction) => {
            if (fraction >= 1 || fraction - told < LEAST_PROGRESS) return;
            told = fraction;
            report(at(fraction));
          },
        },
      );
      report(at(1));
      return loaded;
    } catch (error) {
      this.#loadFailed = true;
      throw error;
    }
  }

  #resolver(machine: Machine): ModelResolver {
    const { hub: given, cacheDir, quantization, contextLength } = this.#options;
    const hub = cacheDir === undefined ? given : { ...given, cacheDir };
    return (name, wish) => resolveModel(name, { hub, quantization, machine, contextLength, ...wish });
  }

  /** Starts llama.cpp once; a failed start is tried again by the next request. */
  #start(): Promise<Runtime> {
    this.#runtime ??= (async () => {
      const binding = await importBinding();
      return { binding, llama: await startLlama(binding, this.#options.backend) };
    })();
    const runtime = this.#runtime;
    runtime.catch(() => {
      if (this.#runtime === runtime) this.#runtime = undefined;
    });
    return runtime;
  }
}
