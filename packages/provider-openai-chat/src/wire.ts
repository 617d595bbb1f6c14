/** The wire as servers really speak it: every field may be missing, and some say more than the documents. */

export interface WireChunk {
  choices?: readonly WireChoice[] | null;
  usage?: WireUsage | null;
  /** Groq's place for usage. */
  x_groq?: { usage?: WireUsage | null } | null;
  /** Perplexity's sources. */
  citations?: readonly string[] | null;
}

interface WireChoice {
  delta?: WireDelta | null;
  /** Where a server answers with the whole message instead of deltas. */
  message?: WireDelta | null;
  finish_reason?: string | null;
  /** Moonshot's place for usage. */
  usage?: WireUsage | null;
}

export interface WireDelta {
  content?: string | readonly WireContent[] | null;
  refusal?: string | null;
  /** DeepSeek, xAI, vLLM, llama-server. */
  reasoning_content?: string | null;
  /** OpenRouter, Groq, newer vLLM, Ollama. */
  reasoning?: string | null;
  /** OpenRouter: what has to come back as it was. */
  reasoning_details?: readonly { [key: string]: unknown }[] | null;
  tool_calls?: readonly WireCall[] | null;
  /** The form before tools. */
  function_call?: WireFunction | null;
  annotations?: readonly unknown[] | null;
  images?: readonly { image_url?: { url?: string } | null }[] | null;
}

/** Mistral's content: text, or thinking that is a list of texts. */
export interface WireContent {
  type?: string;
  text?: string;
  thinking?: string | readonly { text?: string }[];
}

export interface WireCall {
  index?: number | null;
  id?: string | null;
  function?: WireFunction | null;
}

export interface WireFunction {
  name?: string | null;
  /** A text; a few servers send the object. */
  arguments?: string | object | null;
}

export interface WireUsage {
  prompt_tokens?: number | null;
  completion_tokens?: number | null;
  total_tokens?: number | null;
  prompt_tokens_details?: { cached_tokens?: number | null; cache_write_tokens?: number | null } | null;
  completion_tokens_details?: { reasoning_tokens?: number | null } | null;
  /** DeepSeek. */
  prompt_cache_hit_tokens?: number | null;
  /** Moonshot. */
  cached_tokens?: number | null;
}
