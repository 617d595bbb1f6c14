import { tinyChatTemplate } from "./gguf.js";
import { BOS, byteToken, EOS, tinyTokenizer } from "./gguf-tokenizer.js";
import { type OnnxGraph, type OnnxTensor, writeOnnx } from "./onnx-bytes.js";
import { checkPieces, type Generator, generator } from "./tiny-weights.js";

/** What a tiny ONNX model holds. */
export interface TinyOnnxOptions {
  /** What the random weights are made from. Default: 1. */
  seed?: number | undefined;
  /** In tokens. Default: 2,048. */
  contextLength?: number | undefined;
  /** Default: `tinyChatTemplate`. */
  chatTemplate?: string | undefined;
  /** As of `tinyGguf`: what the model says after every prompt that ends with a line feed. */
  says?: readonly string[] | undefined;
  /** Begins again after the last piece instead of stopping. Default: false. */
  forever?: boolean | undefined;
  /** A model that answers, or one that makes vectors of texts. Default: `"text"`. */
  kind?: "text" | "vectors" | undefined;
  /** What stands in the weights' file name, e.g. `"_q4"`. Default: nothing. */
  suffix?: string | undefined;
}

const WIDTH = 128;
const TAGS = ["<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>", "<think>", "</think>"];

/**
 * The files, by path, of a tiny model in the layout that transformers.js loads (about 400 kB): ONNX weights, tokenizer,
 * configuration. It says what `says` tells it to, or what random weights say. Throws RangeError where a piece of `says`
 * cannot be a token of its own.
 */
export function tinyOnnx(options: TinyOnnxOptions = {}): { [path: string]: Uint8Array } {
  const { seed = 1, contextLength = 2048, says = [], kind = "text", suffix = "" } = options;
  checkPieces(says);
  const { tokens, types, merges } = tinyTokenizer([...TAGS, ...says]);
  const random = generator(seed);
  const graph =
    kind === "vectors"
      ? vectorGraph(tokens.length, random)
      : textGraph(
          tokens.length,
          random,
          says.map((piece) => tokens.indexOf(piece)),
          options.forever ?? false,
        );
  const config = {
    model_type: kind === "vectors" ? "bert" : "llama",
    architectures: [kind === "vectors" ? "BertModel" : "LlamaForCausalLM"],
    hidden_size: WIDTH,
    num_attention_heads: 1,
    num_key_value_heads: 1,
    num_hidden_layers: 1,
    head_dim: WIDTH,
    vocab_size: tokens.length,
    max_position_embeddings: contextLength,
    bos_token_id: BOS,
    eos_token_id: EOS,
  };
  const tokenizerConfig = {
    tokenizer_class: "PreTrainedTokenizerFast",
    eos_token: tokens[EOS],
    pad_token: tokens[BOS],
    model_max_length: contextLength,
    chat_template: options.chatTemplate ?? tinyChatTemplate,
  };
  return {
    "config.json": json(config),
    "generation_config.json": json({ bos_token_id: BOS, eos_token_id: EOS }),
    "tokenizer_config.json": json(tokenizerConfig),
    "tokenizer.json": json(tokenizerFile(tokens, types, merges)),
    [`onnx/model${suffix}.onnx`]: writeOnnx(graph),
  };
}

/** What follows a token depends on that token alone; keys and values are kept, so that a cache has something to hold. */
function textGraph(vocabulary: number, random: Generator, script: readonly number[], forever: boolean): OnnxGraph {
  const embedding = signs("embedding", [vocabulary, WIDTH], random);
  const output = new Float32Array(WIDTH * vocabulary);
  if (script.length === 0) for (let i = 0; i < output.length; i++) output[i] = (random() - 0.5) * 0.4;
  else {
    const path = [byteToken(10), ...script, forever ? (script[0] ?? EOS) : EOS];
    for (let i = 1; i < path.length; i++) {
      const [from = 0, to = 0] = path.slice(i - 1);
      for (let d = 0; d < WIDTH; d++) {
        const at = d * vocabulary + to;
        output[at] = (output[at] ?? 0) + Number(embedding.values[from * WIDTH + d]);
      }
    }
  }
  const past = (name: string) => ({ name, type: "float" as const, shape: ["batch", 1, "past", WIDTH] });
  const present = (name: string) => ({ name, type: "float" as const, shape: ["batch", 1, "all", WIDTH] });
  const concat = (which: string) => ({
    op: "Concat",
    inputs: [`past_key_values.0.${which}`, "kept"],
    outputs: [`present.0.${which}`],
    attributes: { axis: 2 },
  });
  return {
    nodes: [
      { op: "Gather", inputs: ["embedding", "input_ids"], outputs: ["hidden"] },
      { op: "MatMul", inputs: ["hidden", "output"], outputs: ["logits"] },
      { op: "Unsqueeze", inputs: ["hidden", "axes"], outputs: ["kept"] },
      concat("key"),
      concat("value"),
    ],
    tensors: [
      embedding,
      { name: "output", shape: [WIDTH, vocabulary], values: output },
      { name: "axes", shape: [1], values: BigInt64Array.of(1n) },
    ],
    inputs: [
      { name: "input_ids", type: "int64", shape: ["batch", "tokens"] },
      { name: "attention_mask", type: "int64", shape: ["batch", "all"] },
      past("past_key_values.0.key"),
      past("past_key_values.0.value"),
    ],
    outputs: [
      { name: "logits", type: "float", shape: ["batch", "tokens", vocabulary] },
      present("present.0.key"),
      present("present.0.value"),
    ],
  };
}

function vectorGraph(vocabulary: number, random: Generator): OnnxGraph {
  return {
    nodes: [{ op: "Gather", inputs: ["embedding", "input_ids"], outputs: ["last_hidden_state"] }],
    tensors: [signs("embedding", [vocabulary, WIDTH], random)],
    inputs: [
      { name: "input_ids", type: "int64", shape: ["batch", "tokens"] },
      { name: "attention_mask", type: "int64", shape: ["batch", "tokens"] },
    ],
    outputs: [{ name: "last_hidden_state", type: "float", shape: ["batch", "tokens", WIDTH] }],
  };
}

/** Random signs: rows are nearly orthogonal. */
function signs(name: string, shape: readonly [number, number], random: Generator): OnnxTensor {
  return { name, shape, values: Float32Array.from({ length: shape[0] * shape[1] }, () => (random() < 0.5 ? -1 : 1)) };
}

function tokenizerFile(tokens: readonly string[], types: readonly number[], merges: readonly string[]): object {
  const added = tokens.flatMap((content, id) => {
    if (types[id] === 1) return [];
    const special = types[id] === 3;
    return [{ id, content, special, single_word: false, lstrip: false, rstrip: false, normalized: false }];
  });
  const byteLevel = { type: "ByteLevel", add_prefix_space: false, trim_offsets: true, use_regex: true };
  return {
    version: "1.0",
    truncation: null,
    padding: null,
    added_tokens: added,
    normalizer: null,
    pre_tokenizer: byteLevel,
    post_processor: null,
    decoder: byteLevel,
    model: {
      type: "BPE",
      vocab: Object.fromEntries(tokens.flatMap((token, id) => (types[id] === 1 ? [[token, id]] : []))),
      merges,
    },
  };
}

function json(value: object): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value));
}
