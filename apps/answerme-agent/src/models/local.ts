import { type Stats, statSync } from "node:fs";
import path from "node:path";
import { UsageError } from "../exit.js";
import type { ModelChoice } from "../model-choice.js";
import { SYSTEM_PROMPT } from "./system-prompt.js";

/**
 * A GGUF model of a Hugging Face repo, or the file at a path. Throws UsageError where a name is that of a folder, which
 * a person can hardly have meant for a repo.
 */
export function localModel(name: string): ModelChoice {
  const model = fileNamed(name) ?? name;
  return {
    notice: { model: name, text: `Model: ${name} (local)` },
    systemPrompt: SYSTEM_PROMPT,
    config: {},
    // A local context is 16,384 tokens at most unless it is asked for: one result must not fill it.
    files: { read: { maxTokens: 4000 }, list: { maxChars: 6000 } },
    preset: async () => (await import("@shedkit/harness")).RouterPreset.huggingFace(model),
  };
}

/** The path of a file that is there under a name which does not look like a path; undefined for any other name. */
function fileNamed(name: string): string | undefined {
  if (path.isAbsolute(name) || /^\.{1,2}[\\/]|\.gguf$/i.test(name)) return undefined;
  const found = statOf(name);
  if (found?.isDirectory()) {
    throw new UsageError(
      `the model ${name} is a folder; name the .gguf file in it (hf:${name} is the Hugging Face repository of that name)`,
    );
  }
  return found?.isFile() ? `./${name}` : undefined;
}

function statOf(name: string): Stats | undefined {
  try {
    return statSync(name);
  } catch {
    return undefined; // most names are not those of files
  }
}
