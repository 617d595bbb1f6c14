import type Anthropic from "@anthropic-ai/sdk";
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
  knownModel,
  priced,
  responseEvents,
  sdkFailure,
} from "@shedkit/provider/adapter";
import type { ModelId } from "@shedkit/types";
import { anthropicClient } from "./client.js";
import { type Abilities, abilitiesOf, claudeModels } from "./models.js";
import { EventReader } from "./reader.js";
import { learnRefusal, nothingRefused, type Refused } from "./refusals.js";
import { type MessagesRequest, messagesRequest } from "./request.js";
import { eventsOf, type WireEvent } from "./wire.js";

const DEFAULT_WINDOW = 200_000;
const DEFAULT_MAX_OUTPUT = 8192;

/**
 * Anthropic Messages. Tools that `shed` activates are declared deferred and revealed by a reference in its result, so
 * that the prompt cache survives them, where the model and the server take it; else they are declared openly.
 */
export class AnthropicMessagesProvider implements ModelProvider {
  readonly id: string;
  readonly #config: CloudProviderConfig;
  #client: Promise<Anthropic> | undefined;
  /** By model: a newer one may take what an older one refuses. */
  readonly #refused = new Map<string, Refused>();

  private constructor(config: CloudProviderConfig) {
    this.id = config.id ?? "anthropic";
    this.#config = config;
  }

  static apiKey(key: string): AnthropicMessagesProvider {
    return new AnthropicMessagesProvider({ apiKey: new Secret(key) });
  }

  /** Reads `ANTHROPIC_API_KEY`. Throws AgenticError `auth` where it is not set. */
  static fromEnv(env?: Environment): AnthropicMessagesProvider {
    return new AnthropicMessagesProvider({ apiKey: Secret.fromEnv("anthropic", "ANTHROPIC_API_KEY", env) });
  }

  static withConfig(config: CloudProviderConfig): AnthropicMessagesProvider {
    return new AnthropicMessagesProvider(config);
  }

  /** Yes to Claude models and to those that the configuration names. */
  serves({ name }: ModelId): "yes" | "no" | "unknown" {
    if (this.#config.models?.[name] !== undefined || name.startsWith("claude-")) return "yes";
    return this.#config.baseUrl === undefined ? "no" : "unknown";
  }

  async describe({ name }: ModelId): Promise<ModelDescription> {
    const known = this.#known(name);
    return { contextWindow: DEFAULT_WINDOW, input: ["text"], tools: true, ...known };
  }

  /** Input tokens, by the API's own count. Rejects with the failures of a generation. */
  async countTokens(request: ModelRequest): Promise<number> {
    const { model, system, messages, tools, thinking } = this.#build(request).body;
    const options = request.signal === undefined ? {} : { signal: request.signal };
    const body = { model, messages, ...(system && { system }), ...(tools && { tools }), ...(thinking && { thinking }) };
    try {
      const client = await this.#sdk();
      const counted = await client.messages.countTokens(body as unknown as Anthropic.MessageCountTokensParams, options);
      return counted.input_tokens;
    } catch (error) {
      throw sdkFailure(error, this.#context(request));
    }
  }

  stream(request: ModelRequest): AsyncIterable<ModelEvent> {
    const context = this.#context(request);
    const warnings: MessagesRequest["warnings"] = [];
    const attempt = (): Attempt<WireEvent> => this.#attempt(request, context, warnings);
    const window = this.#config.models?.[request.model.name]?.contextWindow;
    return drive<WireEvent>({ config: this.#config, context, warnings, window, attempt });
  }

  #attempt(request: ModelRequest, context: FailureContext, warnings: MessagesRequest["warnings"]): Attempt<WireEvent> {
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
    const reader = new EventReader(sink, () => built.answerTool);
    return {
      sink,
      open: async (signal) => {
        for (;;) {
          try {
            const stream = await this.#open(built, signal, context);
            warnings.splice(0, warnings.length, ...built.warnings);
            sink.decodeText = built.output?.changed ? built.output.decode : undefined;
            return stream;
          } catch (error) {
            const known = this.#refused.get(name) ?? nothingRefused;
            const refused = learnRefusal(error, built.body, request.messages, this.#abilities(name), known);
            if (refused === undefined) throw error;
            this.#refused.set(name, refused);
            built = this.#build(request);
          }
        }
      },
      read: (event) => reader.read(event),
    };
  }

  #build(request: ModelRequest): MessagesRequest {
    const { name } = request.model;
    return messagesRequest(request, {
      abilities: this.#abilities(name),
      refused: this.#refused.get(name)?.params ?? nothingRefused.params,
      unreadable: this.#refused.get(name)?.unreadable ?? nothingRefused.unreadable,
      maxOutput: this.#known(name)?.maxOutput ?? DEFAULT_MAX_OUTPUT,
      own: this.#own,
      betas: Object.entries(this.#config.headers ?? {})
        .filter(([name]) => name.toLowerCase() === "anthropic-beta")
        .map(([, value]) => value),
    });
  }

  #abilities(name: string): Abilities {
    const textOnly = this.#config.models?.[name]?.input?.every((kind) => kind === "text") ?? false;
    return { ...abilitiesOf(name), ...(textOnly && { media: false }), ...this.#refused.get(name)?.abilities };
  }

  /** What is known of a model; its price at the API itself alone, others have their own. */
  #known(name: string): Partial<ModelDescription> | undefined {
    const known = knownModel(name, claudeModels, this.#config);
    if (this.#own || known?.price === undefined) return known;
    const { price: _, ...rest } = known;
    return { ...rest, price: this.#config.models?.[name]?.price };
  }

  get #own(): boolean {
    return this.#config.baseUrl === undefined;
  }

  async #open(
    { body, headers }: MessagesRequest,
    signal: AbortSignal,
    context: FailureContext,
  ): Promise<AsyncIterable<readonly WireEvent[]>> {
    // Not `messages.create`: it writes to the console where a model is going to be retired.
    const options = { body, headers, signal, stream: true };
    const client = await this.#sdk();
    const response = await client.post("/v1/messages", options).asResponse();
    return responseEvents<WireEvent>(response, { context, signal, eventsOf });
  }

  #sdk(): Promise<Anthropic> {
    this.#client ??= anthropicClient(this.#config);
    return this.#client;
  }

  #context({ model, signal }: ModelRequest): FailureContext {
    return { provider: this.id, model: model.name, signal, secret: this.#config.apiKey };
  }
}
