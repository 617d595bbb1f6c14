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
  sdkFailure,
} from "@shedkit/provider/adapter";
import type { ModelId } from "@shedkit/types";
import type OpenAI from "openai";
import { openaiClient } from "./client.js";
import { EventReader } from "./reader.js";
import { learnRefusal } from "./refusals.js";
import { nothingRefused, type Refused, type ResponsesRequest, responsesRequest } from "./request.js";
import { eventsOf, type WireEvent } from "./wire.js";

const DEFAULT_WINDOW = 128_000;

/**
 * OpenAI Responses, without storage on the server: the log is ours, and reasoning comes and goes sealed. Tools that
 * `shed` activates are declared behind its result, so that the prompt cache survives them, where the model takes it.
 */
export class ResponsesProvider implements ModelProvider {
  readonly id: string;
  readonly #config: CloudProviderConfig;
  #client: Promise<OpenAI> | undefined;
  /** By model: one may take what another refuses. */
  readonly #refused = new Map<string, Refused>();

  private constructor(config: CloudProviderConfig) {
    this.id = config.id ?? "openai-responses";
    this.#config = config;
  }

  static apiKey(key: string): ResponsesProvider {
    return new ResponsesProvider({ apiKey: new Secret(key) });
  }

  /** Reads `OPENAI_API_KEY`. Throws AgenticError `auth` where it is not set. */
  static fromEnv(env?: Environment): ResponsesProvider {
    return new ResponsesProvider({ apiKey: Secret.fromEnv("openai", "OPENAI_API_KEY", env) });
  }

  static withConfig(config: CloudProviderConfig): ResponsesProvider {
    return new ResponsesProvider(config);
  }

  /** Yes to the models that the configuration names and, without a `baseUrl`, to OpenAI's own. */
  serves({ name }: ModelId): "yes" | "no" | "unknown" {
    if (this.#config.models?.[name] !== undefined) return "yes";
    if (!this.#own) return "unknown";
    return isOpenaiModel(name) ? "yes" : "no";
  }

  async describe({ name }: ModelId): Promise<ModelDescription> {
    return { contextWindow: DEFAULT_WINDOW, input: ["text"], tools: true, ...this.#known(name) };
  }

  /** Input tokens, by the API's own count. Rejects with the failures of a generation. */
  async countTokens(request: ModelRequest): Promise<number> {
    const { model, instructions, input, tools, text, reasoning } = this.#build(request).body;
    const given = Object.entries({ model, instructions, input, tools, text, reasoning });
    const body = Object.fromEntries(given.filter(([, value]) => value !== undefined));
    const options = request.signal === undefined ? {} : { signal: request.signal };
    try {
      const client = await this.#sdk();
      return (await client.responses.inputTokens.count(body, options)).input_tokens;
    } catch (error) {
      throw sdkFailure(error, this.#context(request));
    }
  }

  stream(request: ModelRequest): AsyncIterable<ModelEvent> {
    const context = this.#context(request);
    const warnings: ResponsesRequest["warnings"] = [];
    const attempt = (): Attempt<WireEvent> => this.#attempt(request, context, warnings);
    const window = this.#config.models?.[request.model.name]?.contextWindow;
    return drive<WireEvent>({ config: this.#config, context, warnings, window, attempt });
  }

  #attempt(request: ModelRequest, context: FailureContext, warnings: ResponsesRequest["warnings"]): Attempt<WireEvent> {
    const { name } = request.model;
    let built = this.#build(request);
    const price = this.#known(name)?.price;
    const sink = new AnswerSink(
      {
        name: (wireName) => built.compiler.fromWire(wireName),
        decode: (wireName, args) => built.tools.get(wireName)?.decode(args) ?? args,
        declares: (wireName) => built.tools.has(wireName),
      },
      (usage) => priced(usage, price),
    );
    const reader = new EventReader(sink, context);
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
      read: (event) => reader.read(event),
    };
  }

  #build(request: ModelRequest): ResponsesRequest {
    return responsesRequest(request, {
      own: this.#own,
      refused: this.#refused.get(request.model.name) ?? nothingRefused,
      textOnly: this.#config.models?.[request.model.name]?.input?.every((kind) => kind === "text") ?? false,
    });
  }

  async #open(
    body: object,
    signal: AbortSignal,
    context: FailureContext,
  ): Promise<AsyncIterable<readonly WireEvent[]>> {
    const params = body as OpenAI.Responses.ResponseCreateParamsStreaming;
    const client = await this.#sdk();
    const response = await client.responses.create(params, { signal }).asResponse();
    return responseEvents<WireEvent>(response, { context, signal, eventsOf });
  }

  #known(name: string): Partial<ModelDescription> | undefined {
    return knownModel(name, this.#own ? openaiModels : {}, this.#config);
  }

  #sdk(): Promise<OpenAI> {
    this.#client ??= openaiClient(this.#config);
    return this.#client;
  }

  #context({ model, signal }: ModelRequest): FailureContext {
    return { provider: this.id, model: model.name, signal, secret: this.#config.apiKey };
  }

  get #own(): boolean {
    return this.#config.baseUrl === undefined;
  }
}
