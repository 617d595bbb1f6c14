import {
  type Environment,
  type FailureContext,
  type ModelDescription,
  type ModelEvent,
  type ModelProvider,
  type ModelRequest,
  Secret,
} from "@shedkit/provider";
import {
  AnswerSink,
  type Attempt,
  type CloudProviderConfig,
  drive,
  isOpenaiModel,
  knownModel,
  openaiModels,
  priced,
  responseEvents,
} from "@shedkit/provider/adapter";
import { type Embedder, type ModelId, type ModelIdLike, modelId } from "@shedkit/types";
import type OpenAI from "openai";
import { openaiClient } from "./client.js";
import { OpenAIEmbedder } from "./embedder.js";
import { ChunkReader } from "./reader.js";
import { learnRefusal } from "./refusals.js";
import { type ChatRequest, chatRequest, nothingRefused, type Refused } from "./request.js";
import type { WireChunk } from "./wire.js";

const OPENROUTER = "https://openrouter.ai/api/v1";
const DEFAULT_WINDOW = 128_000;

/**
 * OpenAI Chat Completions, and every server that speaks it: give its `baseUrl`. What a server does differently is
 * recognised by what it sends; what it refuses is left out of the next try, and of later requests.
 */
export class OpenAIProvider implements ModelProvider {
  readonly id: string;
  readonly #config: CloudProviderConfig;
  #client: Promise<OpenAI> | undefined;
  /** By model: one may take what another refuses. */
  readonly #refused = new Map<string, Refused>();

  private constructor(config: CloudProviderConfig) {
    this.id = config.id ?? "openai";
    this.#config = config;
  }

  static apiKey(key: string): OpenAIProvider {
    return new OpenAIProvider({ apiKey: new Secret(key) });
  }

  /** Reads `OPENAI_API_KEY`. Throws AgenticError `auth` where it is not set. */
  static fromEnv(env?: Environment): OpenAIProvider {
    return new OpenAIProvider({ apiKey: Secret.fromEnv("openai", "OPENAI_API_KEY", env) });
  }

  /** OpenRouter, as the provider `openrouter`. Reads `OPENROUTER_API_KEY`. Throws as `fromEnv` does. */
  static openrouterFromEnv(env?: Environment): OpenAIProvider {
    const apiKey = Secret.fromEnv("openrouter", "OPENROUTER_API_KEY", env);
    return new OpenAIProvider({ id: "openrouter", apiKey, baseUrl: OPENROUTER });
  }

  static withConfig(config: CloudProviderConfig): OpenAIProvider {
    return new OpenAIProvider(config);
  }

  /** Yes to the models that the configuration names and, without a `baseUrl`, to OpenAI's own. */
  serves({ name }: ModelId): "yes" | "no" | "unknown" {
    if (this.#config.models?.[name] !== undefined) return "yes";
    if (!this.#own) return "unknown";
    return isOpenaiModel(name) ? "yes" : "no";
  }

  async describe({ name }: ModelId): Promise<ModelDescription> {
    const known = knownModel(name, this.#own ? openaiModels : {}, this.#config);
    return { contextWindow: DEFAULT_WINDOW, input: ["text"], tools: true, ...known };
  }

  /** Vectors of a model such as `text-embedding-3-small`. */
  embedder(model: ModelIdLike): Embedder {
    return new OpenAIEmbedder(
      () => this.#sdk(),
      modelId(model).name,
      this.#context(modelId(model), undefined),
      this.#config,
    );
  }

  stream(request: ModelRequest): AsyncIterable<ModelEvent> {
    const context = this.#context(request.model, request.signal);
    const warnings: ChatRequest["warnings"] = [];
    return drive<WireChunk>({
      config: this.#config,
      context,
      warnings,
      window: this.#config.models?.[request.model.name]?.contextWindow,
      attempt: () => this.#attempt(request, context, warnings),
    });
  }

  #attempt(request: ModelRequest, context: FailureContext, warnings: ChatRequest["warnings"]): Attempt<WireChunk> {
    const { name } = request.model;
    let built = this.#build(request);
    const price = knownModel(name, this.#own ? openaiModels : {}, this.#config)?.price;
    const sink = new AnswerSink(
      {
        name: (wireName) => built.compiler.fromWire(wireName),
        decode: (wireName, args) => built.tools.get(wireName)?.decode(args) ?? args,
        declares: (wireName) => built.tools.has(wireName),
      },
      (usage) => priced(usage, price),
    );
    const reader = new ChunkReader(sink, this.id);
    return {
      sink,
      open: async (signal) => {
        for (;;) {
          try {
            const stream = await this.#open(built.body, signal, context);
            warnings.splice(0, warnings.length, ...built.warnings);
            sink.decodeText = built.output?.changed ? built.output.decode : undefined;
            return stream;
          } catch (error) {
            const known = this.#refused.get(name) ?? nothingRefused;
            const refused = learnRefusal(error, built.body, request.messages, known);
            if (refused === undefined) throw error;
            this.#refused.set(name, refused);
            built = this.#build(request);
          }
        }
      },
      read: (chunk) => reader.read(chunk),
      done: () => reader.done(),
    };
  }

  #build(request: ModelRequest): ChatRequest {
    return chatRequest(request, {
      provider: this.id,
      own: this.#own,
      refused: this.#refused.get(request.model.name) ?? nothingRefused,
      textOnly: this.#config.models?.[request.model.name]?.input?.every((kind) => kind === "text") ?? false,
    });
  }

  async #open(
    body: object,
    signal: AbortSignal,
    context: FailureContext,
  ): Promise<AsyncIterable<readonly WireChunk[]>> {
    const params = body as OpenAI.ChatCompletionCreateParamsStreaming;
    const client = await this.#sdk();
    const response = await client.chat.completions.create(params, { signal }).asResponse();
    return responseEvents<WireChunk>(response, { context, signal, eventsOf: (whole) => [whole] });
  }

  #sdk(): Promise<OpenAI> {
    this.#client ??= openaiClient(this.#config);
    return this.#client;
  }

  #context(model: ModelId, signal: AbortSignal | undefined): FailureContext {
    return { provider: this.id, model: model.name, signal, secret: this.#config.apiKey };
  }

  get #own(): boolean {
    return this.#config.baseUrl === undefined;
  }
}
