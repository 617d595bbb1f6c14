import type { ModelPlan } from "@shedkit/gguf";
import type { ModelRequest } from "@shedkit/provider";
import { normalizeTranscript } from "@shedkit/provider/transcript";
import { callableTools, thinkingBudget, thinkingOptions } from "@shedkit/text-tools";
import { type ModelTalk, ModelTemplates } from "@shedkit/text-tools/backend";
import { AgenticError } from "@shedkit/types";
import type { Llama, LlamaContext, LlamaEmbeddingContext, LlamaGrammar, LlamaModel, Token } from "node-llama-cpp";
import type { Binding } from "./binding.js";
import { MOST_CONTEXT } from "./machine-plan.js";
import type { LlamaCppOptions } from "./options.js";
import { SequencePool } from "./sequence-pool.js";
import { PromptTokens } from "./special-tokens.js";

const MOST_EMBEDDED = 512; // tokens; a text is evaluated in one piece
const MOST_SEQUENCES = 4;
const MEGABYTE = 1024 * 1024;
const KEPT_GRAMMARS = 16;

/** What a model is loaded from, and with. */
export interface LoadParts {
  binding: Binding;
  llama: Llama;
  file: { path: string; bytes: number };
  options: LlamaCppOptions;
  /** How to run it here. Default: as far as memory goes. */
  plan?: ModelPlan | undefined;
}

/** Where answers are generated. */
export interface Generation {
  context: LlamaContext;
  sequences: SequencePool;
}

/** A model in memory. Contexts, which cost memory of their own, are made when they are first wanted. */
export class LoadedModel {
  readonly model: LlamaModel;
  readonly prompt: PromptTokens;
  readonly #parts: LoadParts;
  readonly #templates: ModelTemplates;
  readonly #grammars = new Map<string, Promise<LlamaGrammar>>();
  #generation: Promise<Generation> | undefined;
  #embeddings: Promise<LlamaEmbeddingContext> | undefined;

  private constructor(model: LlamaModel, parts: LoadParts) {
    this.#parts = parts;
    this.model = model;
    const spaces = model.vocabularyType === parts.binding.LlamaVocabularyType.spm;
    this.prompt = new PromptTokens(model, spaces);
    this.#templates = templatesOf(model, parts.options);
  }

  /** Loads the file. Throws AgenticError `provider` with a line that names the file and what to do. */
  static async load(
    parts: LoadParts,
    progress: { signal: AbortSignal; onProgress(fraction: number): void },
  ): Promise<LoadedModel> {
    const { signal: loadSignal, onProgress: onLoadProgress } = progress;
    const { gpuLayers } = parts.options;
    try {
      const model = await parts.llama.loadModel({
        modelPath: parts.file.path,
        loadSignal,
        onLoadProgress,
        ...(gpuLayers !== undefined && { gpuLayers: gpuLayers === "all" ? "max" : gpuLayers }),
      });
      return new LoadedModel(model, parts);
    } catch (cause) {
      throw loadSignal.aborted ? cause : loadError(parts.file.path, cause);
    }
  }

  /** What speaks against running it here; undefined where it fits. */
  get misfit(): string | undefined {
    const { plan } = this.#parts;
    return plan?.fits === false ? plan.why : undefined;
  }

  /** The model's own way to be talked to. Throws AgenticError `provider` where its chat template cannot be read. */
  talk(request: ModelRequest): ModelTalk {
    return this.#templates.of(request);
  }

  /** How many tokens a text may have that becomes a vector. */
  get embeddedTokens(): number {
    return Math.min(this.model.trainContextSize, MOST_EMBEDDED);
  }

  /** The context of answers. Throws AgenticError `provider` where there is no room for it. */
  generation(): Promise<Generation> {
    this.#generation ??= this.#makeGeneration();
    this.#generation.catch(() => {
      this.#generation = undefined; // the next request tries again
    });
    return this.#generation;
  }

  /** The context of vectors. Throws AgenticError `provider` where the model makes none, or there is no room. */
  embeddings(): Promise<LlamaEmbeddingContext> {
    this.#embeddings ??= this.#makeEmbeddings();
    this.#embeddings.catch(() => {
      this.#embeddings = undefined;
    });
    return this.#embeddings;
  }

  /** The prompt of a request, special tokens as text. */
  render(request: ModelRequest): string {
    const { system, tools, params } = request;
    const { family, template } = this.talk(request);
    const messages = normalizeTranscript(request.messages, { model: request.model.name });
    return family.render({ system, messages, tools }, template, {
      ...thinkingOptions(params.thinking),
      protect: (text) => this.prompt.protect(text),
    });
  }

  /** After how many tokens a thought is ended, and with what. */
  thinkingBudget(request: ModelRequest): { budget: number; end: string } {
    const { family, template } = this.talk(request);
    return thinkingBudget(request, family, template);
  }

  /** A grammar, kept for the next time. Undefined where llama.cpp does not take it. */
  async grammar(text: string): Promise<LlamaGrammar | undefined> {
    let grammar = this.#grammars.get(text);
    if (grammar === undefined) {
      grammar = this.#parts.llama.createGrammar({ grammar: text });
      this.#grammars.set(text, grammar);
      const oldest = this.#grammars.keys().next();
      if (this.#grammars.size > KEPT_GRAMMARS && !oldest.done) this.#grammars.delete(oldest.value);
    }
    return grammar.catch(() => undefined);
  }

  /** The grammar that calls must follow, from behind what has begun. */
  callGrammar(request: ModelRequest, begun?: { mark: string; text: string }): string | undefined {
    return this.talk(request).family.grammar(callableTools(request.tools), begun);
  }

  countTokens(request: ModelRequest): number {
    return this.prompt.ofPrompt(this.render(request)).length;
  }

  /** The tokens of a prompt, where `known` tokens stand for the text that it begins with. */
  tokens(text: string, known: { text: string | undefined; tokens: () => readonly Token[] }): Token[] {
    if (known.text !== undefined && known.text !== "" && text.startsWith(known.text)) {
      return [...known.tokens(), ...this.prompt.ofText(text.slice(known.text.length), false)];
    }
    return this.prompt.ofPrompt(text);
  }

  async dispose(): Promise<void> {
    const generation = await this.#generation?.catch(() => undefined);
    const embeddings = await this.#embeddings?.catch(() => undefined);
    await generation?.sequences.idle();
    await generation?.context.dispose();
    await embeddings?.dispose();
    await this.model.dispose();
  }

  async #makeGeneration(): Promise<Generation> {
    const { file, options, plan } = this.#parts;
    const { contextLength, batchSize } = options;
    const most = contextLength ?? Math.min(this.model.trainContextSize, plan?.contextLength ?? MOST_CONTEXT);
    try {
      const context = await this.model.createContext({
        contextSize: contextLength ?? { max: most },
        sequences: options.sequences ?? (await this.#roomFor(most)),
        threads: this.#threads(),
        ...(batchSize !== undefined && { batchSize }),
      });
      return { context, sequences: new SequencePool(context) };
    } catch (cause) {
      throw loadError(file.path, cause);
    }
  }

  async #makeEmbeddings(): Promise<LlamaEmbeddingContext> {
    const size = this.embeddedTokens;
    try {
      return await this.model.createEmbeddingContext({ contextSize: size, batchSize: size, threads: this.#threads() });
    } catch (cause) {
      throw loadError(this.#parts.file.path, cause);
    }
  }

  /** How many contexts of that length take a gigabyte: from one to four. */
  async #roomFor(contextSize: number): Promise<number> {
    const { gpuLayers: modelGpuLayers } = this.model;
    const needs = await this.model.fileInsights.estimateContextResourceRequirementsV2({ contextSize, modelGpuLayers });
    const bytes = Math.max(1, needs.cpuRam + needs.gpuVram);
    return Math.min(MOST_SEQUENCES, Math.max(1, Math.floor((1024 * MEGABYTE) / bytes)));
  }

  #threads(): number {
    const { file, llama, options } = this.#parts;
    return options.threads ?? (file.bytes < 64 * MEGABYTE ? 1 : llama.cpuMathCores);
  }
}

/** What stands in the file, unless the options have one. */
function templatesOf(model: LlamaModel, { chatTemplate, today = new Date() }: LlamaCppOptions): ModelTemplates {
  const tokenizer = model.fileInfo.metadata.tokenizer as { [key: string]: unknown } | undefined;
  const [usual, withTools] = ["chat_template", "chat_template.tool_use"].map((key) => {
    const source = tokenizer?.[key];
    return typeof source === "string" ? source : undefined;
  });
  return new ModelTemplates(chatTemplate === undefined ? { usual, withTools } : { usual: chatTemplate }, {
    bosToken: model.tokens.bosString ?? "",
    eosToken: model.tokens.eosString ?? "",
    today,
  });
}

function loadError(path: string, cause: unknown): AgenticError {
  const reason = cause instanceof Error ? (cause.message.split("\n", 1)[0] ?? "") : String(cause);
  const text = /memory|\bv?ram\b/i.test(reason)
    ? `There is not enough memory for ${path}: ${reason}. Use a smaller quantization or contextLength.`
    : `llama.cpp cannot load ${path}: ${reason}. The file may be damaged or of a kind that it does not know yet.`;
  return new AgenticError("provider", text, { problem: "loadFailed" }, { cause });
}
