/** What backends say when a conversation is too long for the model. */
const OVERFLOW: readonly RegExp[] = [
  /context[_ ]length[_ ]exceeded/i, // OpenAI and those that speak like it
  /(prompt|input) (is )?too long/i, // Anthropic, Bedrock, Ollama
  /input length and `?max_tokens`? exceed/i, // Anthropic, where the answer would not fit
  /exceed(s|ed)? (the )?(model's )?(max(imum)? )?context (window|length|size|limit)/i, // OpenAI Responses, vLLM, Ollama
  /input token count.*exceeds the maximum/is, // Gemini
  /maximum (prompt|context) length is [\d,]+/i, // xAI, OpenRouter, OpenAI
  /too large for model with [\d,]+ maximum context length/i, // Mistral
  /reduce the length of (the|your) (messages|prompt|input)/i, // Groq
  /exceeds the limit of [\d,]+/i, // Copilot
  /exceeds the available context size/i, // llama.cpp
  /greater than the context length/i, // LM Studio
  /context window exceeds limit/i, // MiniMax
  /exceeded model token limit/i, // Kimi
  /`inputs` tokens \+ `max_new_tokens` must be/i, // Text Generation Inference
  /(token|context)[ _-]?(limit|length)[ _-]exceeded|too many tokens\b(?! per)/i,
  /model_context_window_exceeded/i,
];

/** Words that make the same texts mean a quota. */
const QUOTA = /rate.?limit|too many requests|per (minute|day|hour)|\b(TPM|RPM|TPD)\b|quota/i;

/** Whether an error's text says that the context is too small. */
export function isOverflowText(text: string): boolean {
  return OVERFLOW.some((pattern) => pattern.test(text)) && !QUOTA.test(text);
}
