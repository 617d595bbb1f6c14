import { type GgufTensor, type GgufValue, writeGguf } from "./gguf-bytes.js";
import { BOS, byteToken, EOS, tinyTokenizer } from "./gguf-tokenizer.js";
import { checkPieces, generator } from "./tiny-weights.js";

/** What a tiny GGUF file holds. */
export interface TinyGgufOptions {
  /** What the random weights are made from. Default: 1. */
  seed?: number | undefined;
  /** In tokens. Default: 2,048. */
  contextLength?: number | undefined;
  /** Default: {@link tinyChatTemplate}. */
  chatTemplate?: string | undefined;
  /** A template of its own for conversations with tools. Default: none. */
  toolTemplate?: string | undefined;
  /** Whether the file asks for a beginning-of-sequence token. Default: false. */
  addBos?: boolean | undefined;
  /**
   * What the model says after every prompt that ends with a line feed, a token a piece; then it stops. Pieces must be
   * two characters or longer and differ from one another. Default: nothing, it says what random weights say.
   */
  says?: readonly string[] | undefined;
  /** Begins again after the last piece instead of stopping. Default: false. */
  forever?: boolean | undefined;
  /** Of the embeddings, a multiple of 128; for measurements, which want a larger model. Default: 128. */
  width?: number | undefined;
  /** Default: 1. */
  layers?: number | undefined;
  /**
   * In place of `says` and `chatTemplate`: what the model says with no tool result in the prompt, with one, with two ...;
   * with more than that the last of them again. Each is one token, and differs from the others.
   */
  steps?: readonly string[] | undefined;
}

const WIDTH = 128;
const HEADS = 4;

/** ChatML, with tools declared and called as JSON in tags. */
export const tinyChatTemplate = `{%- set first = messages[0] if messages and messages[0].role == "system" else none -%}
{%- if tools or first -%}
{{- "<|im_start|>system\\n" + (first.content if first else "") -}}
{%- if tools -%}
{{- "\\n<tools>" -}}{%- for tool in tools -%}{{- "\\n" + (tool | tojson) -}}{%- endfor -%}{{- "\\n</tools>" -}}
{%- endif -%}
{{- "<|im_end|>\\n" -}}
{%- endif -%}
{%- for message in messages -%}
{%- if message.role == "user" or message.role == "system" and not loop.first -%}
{{- "<|im_start|>" + message.role + "\\n" + message.content + "<|im_end|>\\n" -}}
{%- elif message.role == "assistant" -%}
{{- "<|im_start|>assistant\\n" -}}
{%- if message.content -%}{{- message.content -}}{%- endif -%}
{%- for call in message.tool_calls or [] -%}
{%- if not loop.first or message.content -%}{{- "\\n" -}}{%- endif -%}
{{- '<tool_call>\\n{"name": "' + call.function.name + '", "arguments": ' -}}
{{- call.function.arguments if call.function.arguments is string else call.function.arguments | tojson -}}
{{- "}\\n</tool_call>" -}}
{%- endfor -%}
{{- "<|im_end|>\\n" -}}
{%- elif message.role == "tool" -%}
{{- "<|im_start|>user\\n<tool_response>\\n" + message.content + "\\n</tool_response><|im_end|>\\n" -}}
{%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}{{- "<|im_start|>assistant\\n" -}}{%- endif -%}`;

/** Ends the prompt in a token that tells how many results there are. */
function stepTemplate(steps: number): string {
  const count = '(messages | selectattr("role", "equalto", "tool") | list | length)';
  const last = steps - 1;
  return `${tinyChatTemplate}{{- "<|step" ~ (${count} if ${count} < ${last} else ${last}) ~ "|>" -}}`;
}

/**
 * The bytes of a GGUF file that llama.cpp loads: a tiny llama model (about 700 kB) with a byte-level BPE tokenizer and a
 * chat template. Its weights are random, or say what `says` tells them to, so that a test needs no model file.
 * Throws RangeError where a piece of `says` cannot be a token of its own.
 */
export function tinyGguf(options: TinyGgufOptions = {}): Uint8Array {
  const { seed = 1, contextLength = 2048, says = [], steps = [], width = WIDTH, layers = 1 } = options;
  checkPieces(says);
  checkPieces(steps);
  const starts = steps.map((_, i) => `<|step${i}|>`);
  const tags = ["<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>", "<think>", "</think>"];
  const { tokens, types, merges } = tinyTokenizer([...tags, ...says, ...starts, ...steps]);
  const template = steps.length > 0 ? stepTemplate(steps.length) : (options.chatTemplate ?? tinyChatTemplate);
  const metadata = new Map<string, GgufValue>([
    ["general.architecture", { type: "string", value: "llama" }],
    ["general.name", { type: "string", value: "tiny" }],
    ["llama.context_length", { type: "u32", value: contextLength }],
    ["llama.embedding_length", { type: "u32", value: width }],
    ["llama.block_count", { type: "u32", value: layers }],
    ["llama.feed_forward_length", { type: "u32", value: width }],
    ["llama.attention.head_count", { type: "u32", value: HEADS }],
    ["llama.attention.head_count_kv", { type: "u32", value: HEADS }],
    ["llama.rope.dimension_count", { type: "u32", value: width / HEADS }],
    ["llama.attention.layer_norm_rms_epsilon", { type: "f32", value: 1e-5 }],
    ["llama.vocab_size", { type: "u32", value: tokens.length }],
    ["tokenizer.ggml.model", { type: "string", value: "gpt2" }],
    ["tokenizer.ggml.pre", { type: "string", value: "tekken" }],
    ["tokenizer.ggml.tokens", { type: "strings", value: tokens }],
    ["tokenizer.ggml.token_type", { type: "i32s", value: types }],
    ["tokenizer.ggml.merges", { type: "strings", value: merges }],
    ["tokenizer.ggml.bos_token_id", { type: "u32", value: BOS }],
    ["tokenizer.ggml.eos_token_id", { type: "u32", value: EOS }],
    ["tokenizer.ggml.padding_token_id", { type: "u32", value: BOS }],
    ["tokenizer.ggml.add_bos_token", { type: "bool", value: options.addBos ?? false }],
    ["tokenizer.chat_template", { type: "string", value: template }],
    ...(options.toolTemplate === undefined
      ? []
      : [["tokenizer.chat_template.tool_use", { type: "string", value: options.toolTemplate }] as const]),
  ]);
  const script = says.map((piece) => tokens.indexOf(piece));
  const paths =
    says.length > 0
      ? [[byteToken(10), ...script, options.forever ? (script[0] ?? EOS) : EOS]]
      : steps.map((piece, i) => [tokens.indexOf(starts[i] ?? ""), tokens.indexOf(piece), EOS]);
  return writeGguf(metadata, weights(tokens.length, seed, paths, { width, layers }));
}

/**
 * With a script, attention and feed-forward are zero, so that a token's embedding alone reaches the output, whose row
 * of a token is the embedding of the token before it. Embeddings are random signs: nearly orthogonal.
 */
function weights(
  vocabulary: number,
  seed: number,
  paths: readonly (readonly number[])[],
  { width, layers }: { width: number; layers: number },
): GgufTensor[] {
  const random = generator(seed);
  const scripted = paths.length > 0;
  const filled = (name: string, shape: number[], value: () => number): GgufTensor => {
    const values = new Float32Array(shape.reduce((a, b) => a * b, 1));
    for (let i = 0; i < values.length; i++) values[i] = value();
    return { name, shape, values };
  };
  const noise = scripted ? () => 0 : () => (random() - 0.5) * 0.4;
  const one = () => 1;
  const embedding = filled("token_embd.weight", [width, vocabulary], () => (random() < 0.5 ? -1 : 1));
  const output = filled("output.weight", [width, vocabulary], noise);
  for (const path of paths) {
    for (let i = 1; i < path.length; i++) {
      const from = (path[i - 1] ?? 0) * width;
      const to = (path[i] ?? 0) * width;
      for (let d = 0; d < width; d++)
        output.values[to + d] = (output.values[to + d] ?? 0) + (embedding.values[from + d] ?? 0);
    }
  }
  return [
    embedding,
    filled("output_norm.weight", [width], one),
    output,
    ...Array.from({ length: layers }, (_, i) => [
      filled(`blk.${i}.attn_norm.weight`, [width], one),
      filled(`blk.${i}.attn_q.weight`, [width, width], noise),
      filled(`blk.${i}.attn_k.weight`, [width, width], noise),
      filled(`blk.${i}.attn_v.weight`, [width, width], noise),
      filled(`blk.${i}.attn_output.weight`, [width, width], noise),
      filled(`blk.${i}.ffn_norm.weight`, [width], one),
      filled(`blk.${i}.ffn_gate.weight`, [width, width], noise),
      filled(`blk.${i}.ffn_up.weight`, [width, width], noise),
      filled(`blk.${i}.ffn_down.weight`, [width, width], noise),
    ]).flat(),
  ];
}
