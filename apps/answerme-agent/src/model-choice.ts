import type { AgentConfig, ContextConfig, LoopDetectionConfig, MemoryConfig } from "@shedkit/agent";
import type { FilesPresetOptions, RouterPreset } from "@shedkit/harness";
import { demoModelPath } from "@shedkit/model-demo";
import type { ModelNotice } from "./renderer.js";

/** A model to ask, and what it needs of its host. */
export interface ModelChoice {
  readonly notice: ModelNotice;
  /** Absent: a model that follows none. */
  readonly systemPrompt?: string | undefined;
  readonly config: Partial<AgentConfig>;
  readonly context?: Partial<ContextConfig> | undefined;
  readonly memory?: Partial<MemoryConfig> | undefined;
  readonly loopDetection?: Partial<LoopDetectionConfig> | "off" | undefined;
  readonly files: FilesPresetOptions;
  /** File tools that lead the model astray. Default: none. */
  readonly without?: readonly string[] | undefined;
  /** Model calls in a turn. Absent: the agent's own limit. */
  readonly maxSteps?: number | undefined;
  preset(): Promise<RouterPreset>;
}

/**
 * The model that was asked for, else one that the environment has a key for, else the one that ships with the program.
 * `maxSteps` wins over the model's own.
 */
export function chooseModel(
  named: string | null,
  maxSteps: number | null,
  env: Environment = process.env,
): ModelChoice {
  const choice = choose(named, env);
  return maxSteps === null ? choice : { ...choice, maxSteps };
}

type Environment = { readonly [name: string]: string | undefined };

function choose(named: string | null, env: Environment): ModelChoice {
  if (named !== null) {
    const [, cloud, model] = /^(openai):(.+)$/.exec(named) ?? [];
    return cloud === undefined || model === undefined ? localModel(named) : openaiModel(model, env);
  }
  return env.OPENAI_API_KEY ? openaiModel("gpt-4o", env) : demoModel();
}

const SYSTEM_PROMPT =
  "You answer questions about the files in the user's folder. Look up what you need with shed, read the files before " +
  "you answer, and answer from what they say. Be brief. If the files do not say, say so.";

function localModel(name: string): ModelChoice {
  return {
    notice: { model: name, text: `Model: ${name} (local)` },
    systemPrompt: SYSTEM_PROMPT,
    config: {},
    // A local context is 16,384 tokens at most unless it is asked for: one result must not fill it.
    files: { read: { maxTokens: 4000 }, list: { maxChars: 6000 } },
    preset: async () => (await import("@shedkit/harness")).RouterPreset.huggingFace(name),
  };
}

/** OpenAI, or the server at OPENAI_BASE_URL that speaks as it does. */
function openaiModel(model: string, env: Environment): ModelChoice {
  const baseUrl = env.OPENAI_BASE_URL || undefined;
  return {
    notice: { model, text: `Model: ${model} (${baseUrl === undefined ? "OpenAI, OPENAI_API_KEY" : baseUrl})` },
    systemPrompt: SYSTEM_PROMPT,
    config: {},
    files: {},
    preset: async () => {
      const [{ RouterMix }, { OpenAIProvider }, { Secret }] = await Promise.all([
        import("@shedkit/harness"),
        import("@shedkit/provider-openai-chat"),
        import("@shedkit/provider"),
      ]);
      if (baseUrl === undefined) return new RouterMix().primary(OpenAIProvider.fromEnv(env), model).build();
      const apiKey = new Secret(env.OPENAI_API_KEY || "none"); // a server of one's own wants none
      return new RouterMix().primary(OpenAIProvider.withConfig({ apiKey, baseUrl }), model).build();
    },
  };
}

function demoModel(): ModelChoice {
  return {
    notice: {
      model: "shed-demo",
      text:
        "Model: shed-demo, a 2 MB demonstration that comes with the program. It looks up values in files of a dozen " +
        "lines, is often wrong, and knows nothing else. For a real model: --model unsloth/gemma-4-E2B-it-GGUF",
    },
    // It takes nothing to heart that it is told on the way.
    config: { modelParams: { temperature: 0, maxTokens: 160 }, contextPressureThreshold: 0 },
    loopDetection: "off",
    memory: { observationTriggerTokens: 0, reflectionTriggerTokens: 0 },
    // Its window of 2,048 tokens, of about two bytes each, holds the conversation, the tools and what they return;
    // past some 1,200 it errs more.
    context: { window: 1300, keepRecentTokens: 250, summaryTokens: 60 },
    files: { read: { lineNumbers: false, maxTokens: 450 } },
    // A tool that it was not trained on keeps it searching: with `list` 9 of 12 questions of the tour, without all.
    without: ["list"],
    // Eight calls of tools, then the answer: a small model may go round in circles.
    maxSteps: 8,
    preset: async () => (await import("@shedkit/harness")).RouterPreset.huggingfaceCpu(demoModelPath),
  };
}
