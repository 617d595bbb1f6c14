import type { ModelChoice } from "../model-choice.js";
import { SYSTEM_PROMPT } from "./system-prompt.js";

/** A GGUF model of a Hugging Face repo, or the file at a path. */
export function localModel(name: string): ModelChoice {
  return {
    notice: { model: name, text: `Model: ${name} (local)` },
    systemPrompt: SYSTEM_PROMPT,
    config: {},
    // A local context is 16,384 tokens at most unless it is asked for: one result must not fill it.
    files: { read: { maxTokens: 4000 }, list: { maxChars: 6000 } },
    preset: async () => (await import("@shedkit/harness")).RouterPreset.huggingFace(name),
  };
}
