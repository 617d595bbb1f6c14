import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { DynamicCache, PreTrainedModel, PreTrainedTokenizer, Tensor } from "@huggingface/transformers";
import type { ModelRequest } from "@shedkit/provider";
import { normalizeTranscript } from "@shedkit/provider/transcript";
import { thinkingBudget, thinkingOptions } from "@shedkit/text-tools";
import { type ModelTalk, ModelTemplates } from "@shedkit/text-tools/backend";
import { loadError } from "./load-error.js";
import type { OnnxFolder, TransformersOptions } from "./options.js";
import { type AddedToken, PromptTokens } from "./prompt-tokens.js";
import type { Runtime } from "./runtime.js";
import { SessionCaches } from "./session-caches.js";
import { TokenBytes, type VocabularyFile } from "./token-bytes.js";

const MOST_CONTEXT = 16_384; // without being told

/** What a model is loaded from, and with. */
export interface LoadParts {
  runtime: Runtime;
  found: OnnxFolder;
  options: TransformersOptions;
}

interface TokenizerFile extends VocabularyFile {
  added_tokens?: readonly AddedToken[];
}

/** What a step comes to: the scores of each token to be the next, and all that was evaluated so far. */
export interface Step {
  scores: Float32Array;
  cache: DynamicCache;
}

/** A model in memory that answers. */
export class LoadedModel {
  readonly tokenizer: PreTrainedTokenizer;
  readonly prompt: PromptTokens;
  readonly tokenBytes: TokenBytes;
  readonly caches = new SessionCaches();
  /** In tokens. */
  readonly contextLength: number;
  /** The tokens that end an answer. */
  readonly ends: ReadonlySet<number>;
  readonly #runtime: Runtime;
  readonly #model: PreTrainedModel;
  readonly #templates: ModelTemplates;
  readonly #working = new Set<Promise<unknown>>();

  private constructor(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizer,
    file: TokenizerFile,
    { runtime, options }: LoadParts,
  ) {
    this.#runtime = runtime;
    this.#model = model;
    this.tokenizer = tokenizer;
    this.prompt = new PromptTokens(tokenizer, file.added_tokens ?? []);
    this.tokenBytes = new TokenBytes(file);
    this.#templates = new ModelTemplates(sourcesOf(tokenizer.chat_template, options.chatTemplate), {
      bosToken: tokenizer.bos_token ?? "",
      eosToken: tokenizer.eos_token ?? "",
      today: options.today ?? new Date(),
    });
    this.contextLength = options.contextLength ?? Math.min(trainedLength(model), MOST_CONTEXT);
    const ends = [model.generation_config?.eos_token_id ?? [], tokenizer.eos_token_id ?? []].flat();
    this.ends = new Set(ends.map(Number));
  }

  /** Loads a folder. Throws AgenticError `provider` with a line that names it and what to do. */
  static async load(parts: LoadParts): Promise<LoadedModel> {
    const { runtime, found } = parts;
    try {
      const tokenizer = await runtime.AutoTokenizer.from_pretrained(found.folder, { local_files_only: true });
      const model = await runtime.AutoModelForCausalLM.from_pretrained(found.folder, modelOptions(parts));
      const file = JSON.parse(await readFile(join(found.folder, "tokenizer.json"), "utf8")) as TokenizerFile;
      return new LoadedModel(model, tokenizer, file, parts);
    } catch (cause) {
      throw loadError(found.folder, cause);
    }
  }

  /** The model's own way to be talked to. Throws AgenticError `provider` where its chat template cannot be read. */
  talk(request: ModelRequest): ModelTalk {
    return this.#templates.of(request);
  }

  /** The prompt of a request, special tokens as text. */
  render(request: ModelRequest): string {
    const { model, system, messages: all, tools, params, output } = request;
    const { family, template } = this.talk(request);
    const messages = normalizeTranscript(all, { model: model.name });
    const schema = output && `Answer with JSON of this schema, and nothing else: ${JSON.stringify(output)}`;
    const told = [system, schema].filter((text) => text !== undefined && text !== "").join("\n\n");
    return family.render({ system: told, messages, tools }, template, {
      ...thinkingOptions(params.thinking),
      protect: (text) => this.prompt.protect(text),
    });
  }

  /** After how many tokens a thought is ended, and with what. */
  thinkingBudget(request: ModelRequest): { budget: number; end: string } {
    const { family, template } = this.talk(request);
    return thinkingBudget(request, family, template);
  }

  countTokens(request: ModelRequest): number {
    return this.prompt.of(this.render(request)).length;
  }

  /** Evaluates tokens behind those of the cache, which it changes. Cannot be stopped. */
  step(tokens: readonly number[], cache: DynamicCache | undefined): Promise<Step> {
    return this.work(async () => {
      const { LogitsProcessor, LogitsProcessorList } = this.#runtime;
      let scores: Float32Array | undefined;
      const processors = new LogitsProcessorList();
      processors.push(
        new (class extends LogitsProcessor {
          override _call(_tokens: bigint[][], logits: Tensor) {
            scores = Float32Array.from(logits.data as Float32Array);
            return logits;
          }
        })(),
      );
      const length = (cache?.get_seq_length() ?? 0) + tokens.length;
      const result = await this.#model.generate({
        inputs: this.#tensor(BigInt64Array.from(tokens, BigInt)),
        attention_mask: this.#tensor(new BigInt64Array(length).fill(1n)),
        ...(cache && { past_key_values: cache }),
        logits_processor: processors,
        max_new_tokens: 1,
        do_sample: false,
        return_dict_in_generate: true,
      });
      const { past_key_values: grown } = result as unknown as { past_key_values: DynamicCache };
      return { scores: scores ?? new Float32Array(), cache: grown };
    });
  }

  #tensor(values: BigInt64Array): Tensor {
    return new this.#runtime.Tensor("int64", values, [1, values.length]);
  }

  /** Runs what must be over before the model may be freed. */
  work<T>(run: () => Promise<T>): Promise<T> {
    const promise = run();
    const over = promise.catch(() => undefined).finally(() => this.#working.delete(over));
    this.#working.add(over);
    return promise;
  }

  async dispose(): Promise<void> {
    while (this.#working.size > 0) await Promise.all(this.#working);
    await this.caches.clear();
    await this.#model.dispose();
  }
}

/** A model brings one template, or several with names. */
function sourcesOf(templates: unknown, given: string | undefined): { usual?: string; withTools?: string } {
  if (given !== undefined || typeof templates === "string") return { usual: given ?? (templates as string) };
  if (typeof templates !== "object" || templates === null) return {};
  const named: { [name: string]: unknown } = Array.isArray(templates)
    ? Object.fromEntries(templates.map(({ name, template }) => [name, template]))
    : { ...templates };
  const { default: usual, tool_use: withTools } = named;
  return { ...(typeof usual === "string" && { usual }), ...(typeof withTools === "string" && { withTools }) };
}

/** How the weights of a folder are loaded. */
export function modelOptions({ found, options }: LoadParts) {
  return {
    local_files_only: true,
    dtype: found.dtype,
    device: options.device ?? "cpu",
    session_options: {
      logSeverityLevel: 4 as const, // nothing of its log goes to the program's output
      ...(options.threads !== undefined && { intraOpNumThreads: options.threads }),
    },
  };
}

function trainedLength(model: PreTrainedModel): number {
  const config = model.config as {
    max_position_embeddings?: unknown;
    text_config?: { max_position_embeddings?: unknown };
  };
  const length = config.max_position_embeddings ?? config.text_config?.max_position_embeddings;
  return typeof length === "number" && length > 0 ? length : MOST_CONTEXT;
}
