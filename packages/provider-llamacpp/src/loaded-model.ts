import type { ModelRequest } from "@shedkit/provider";
import { CHATML, ChatTemplate, callableTools, familyOf, type TextToolFamily } from "@shedkit/text-tools";
import { AgenticError } from "@shedkit/types";
import type { Llama, LlamaContext, LlamaGrammar, LlamaModel, Token } from "node-llama-cpp";
import type { Binding } from "./binding.js";
import type { LlamaCppOptions } from "./options.js";
import { SequencePool } from "./sequence-pool.js";
import { PromptTokens } from "./special-tokens.js";

const MOST_CONTEXT = 16_384; // without being told; a longer one takes memory from everything else
const MEGABYTE = 1024 * 1024;
const KEPT_GRAMMARS = 16;

/** A model in memory, ready to generate. */
export class LoadedModel {
  readonly model: LlamaModel;
  readonly context: LlamaContext;
  readonly sequences: SequencePool;
  readonly template: ChatTemplate;
  readonly family: TextToolFamily;
  readonly prompt: PromptTokens;
  readonly #llama: Llama;
  readonly #grammars = new Map<string, Promise<LlamaGrammar>>();

  private constructor(llama: Llama, model: LlamaModel, context: LlamaContext, today: Date, spaces: boolean) {
    this.#llama = llama;
    this.model = model;
    this.context = context;
    this.sequences = new SequencePool(context);
    this.prompt = new PromptTokens(model, spaces);
    const tokenizer = model.fileInfo.metadata.tokenizer as { chat_template?: unknown } | undefined;
    const source = tokenizer?.chat_template;
    this.template = new ChatTemplate(typeof source === "string" ? source : CHATML, {
      bosToken: model.tokens.bosString ?? "",
      eosToken: model.tokens.eosString ?? "",
      today,
    });
    this.family = familyOf(this.template);
  }

  /** Loads the file. Throws AgenticError `provider` with a line that names the file and what to do. */
  static async load(
    binding: Binding,
    llama: Llama,
    file: { path: string; bytes: number },
    options: LlamaCppOptions,
    progress: { signal: AbortSignal; onProgress(fraction: number): void },
  ): Promise<LoadedModel> {
    const { signal: loadSignal, onProgress: onLoadProgress } = progress;
    let model: LlamaModel | undefined;
    try {
      model = await llama.loadModel({
        modelPath: file.path,
        loadSignal,
        onLoadProgress,
        ...(options.gpuLayers !== undefined && { gpuLayers: options.gpuLayers === "all" ? "max" : options.gpuLayers }),
      });
      const context = await model.createContext({
        contextSize: options.contextLength ?? { max: Math.min(model.trainContextSize, MOST_CONTEXT) },
        sequences: options.sequences ?? (file.bytes < 256 * MEGABYTE ? 4 : file.bytes < 4096 * MEGABYTE ? 2 : 1),
        threads: options.threads ?? (file.bytes < 64 * MEGABYTE ? 1 : llama.cpuMathCores),
        createSignal: loadSignal,
        ...(options.batchSize !== undefined && { batchSize: options.batchSize }),
      });
      const spaces = model.vocabularyType === binding.LlamaVocabularyType.spm;
      return new LoadedModel(llama, model, context, options.today ?? new Date(), spaces);
    } catch (cause) {
      void model?.dispose().catch(() => undefined); // may wait for the context that could not be made
      if (loadSignal.aborted || AgenticError.is(cause)) throw cause;
      throw loadError(file.path, cause);
    }
  }

  /** The prompt of a request, special tokens as text. */
  render(request: ModelRequest): string {
    const { system, messages, tools, params } = request;
    return this.family.render({ system, messages, tools }, this.template, {
      thinking: params.thinking === undefined ? undefined : params.thinking !== "off",
      protect: (text) => this.prompt.protect(text),
    });
  }

  /** A grammar, kept for the next time. Undefined where llama.cpp does not take it. */
  async grammar(text: string): Promise<LlamaGrammar | undefined> {
    let grammar = this.#grammars.get(text);
    if (grammar === undefined) {
      grammar = this.#llama.createGrammar({ grammar: text });
      this.#grammars.set(text, grammar);
      const oldest = this.#grammars.keys().next();
      if (this.#grammars.size > KEPT_GRAMMARS && !oldest.done) this.#grammars.delete(oldest.value);
    }
    return grammar.catch(() => undefined);
  }

  /** The grammar that calls must follow, from behind what has begun. */
  callGrammar(request: ModelRequest, begun?: { mark: string; text: string }): string | undefined {
    return this.family.grammar(callableTools(request.tools), begun);
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
    await this.sequences.idle();
    await this.context.dispose();
    await this.model.dispose();
  }
}

function loadError(path: string, cause: unknown): AgenticError {
  const reason = cause instanceof Error ? (cause.message.split("\n", 1)[0] ?? "") : String(cause);
  const text = /memory|vram/i.test(reason)
    ? `There is not enough memory for ${path}: ${reason}. Use a smaller quantization or contextLength.`
    : `llama.cpp cannot load ${path}: ${reason}. The file may be damaged or of a kind that it does not know yet.`;
  return new AgenticError("provider", text, { problem: "loadFailed" }, { cause });
}
