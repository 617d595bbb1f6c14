import type { ModelProvider } from "@shedkit/provider";
import type { Environment, ModelChoice } from "../model-choice.js";
import type { CLOUD_NAMES } from "./cloud-names.js";
import { SYSTEM_PROMPT } from "./system-prompt.js";

interface Cloud {
  readonly prefix: (typeof CLOUD_NAMES)[number];
  readonly label: string;
  readonly key: string;
  /** The address of another server that speaks the same. */
  readonly baseUrl: string;
  /** Answers where no model is named. */
  readonly model: string;
  provider(env: Environment, baseUrl: string | undefined): Promise<ModelProvider>;
}

export const CLOUDS: readonly Cloud[] = [
  {
    prefix: "anthropic",
    label: "Anthropic",
    key: "ANTHROPIC_API_KEY",
    baseUrl: "ANTHROPIC_BASE_URL",
    model: "claude-sonnet-4-6",
    async provider(env, baseUrl) {
      const { AnthropicMessagesProvider } = await import("@shedkit/provider-anthropic");
      if (baseUrl === undefined) return AnthropicMessagesProvider.fromEnv(env);
      return AnthropicMessagesProvider.withConfig({ apiKey: await keyFor(env.ANTHROPIC_API_KEY), baseUrl });
    },
  },
  {
    prefix: "openai",
    label: "OpenAI",
    key: "OPENAI_API_KEY",
    baseUrl: "OPENAI_BASE_URL",
    model: "gpt-4o",
    async provider(env, baseUrl) {
      const { OpenAIProvider } = await import("@shedkit/provider-openai-chat");
      if (baseUrl === undefined) return OpenAIProvider.fromEnv(env);
      return OpenAIProvider.withConfig({ apiKey: await keyFor(env.OPENAI_API_KEY), baseUrl });
    },
  },
  {
    prefix: "openai-responses",
    label: "OpenAI Responses",
    key: "OPENAI_API_KEY",
    baseUrl: "OPENAI_BASE_URL",
    model: "gpt-4o",
    async provider(env, baseUrl) {
      const { ResponsesProvider } = await import("@shedkit/provider-openai-responses");
      if (baseUrl === undefined) return ResponsesProvider.fromEnv(env);
      return ResponsesProvider.withConfig({ apiKey: await keyFor(env.OPENAI_API_KEY), baseUrl });
    },
  },
];

/** The model of a name like `openai:gpt-4o`, the provider's own of `openai:`; undefined for any other name. */
export function cloudModel(name: string, env: Environment): ModelChoice | undefined {
  const [, prefix, model = ""] = /^([a-z-]+):(.*)$/.exec(name) ?? [];
  const cloud = CLOUDS.find((candidate) => candidate.prefix === prefix);
  return cloud && choiceOf(cloud, model || cloud.model, env);
}

/** The model of the first cloud that the environment has a key for. */
export function keyedModel(env: Environment): ModelChoice | undefined {
  const cloud = CLOUDS.find(({ key }) => env[key]);
  return cloud && choiceOf(cloud, cloud.model, env);
}

function choiceOf(cloud: Cloud, model: string, env: Environment): ModelChoice {
  const baseUrl = env[cloud.baseUrl] || undefined;
  return {
    notice: { model, text: `Model: ${model} (${baseUrl ?? `${cloud.label}, ${cloud.key}`})` },
    systemPrompt: SYSTEM_PROMPT,
    config: {},
    files: {},
    preset: async () => {
      const { RouterMix } = await import("@shedkit/harness");
      // The SDKs take long to import: nobody waits for them before there is a question.
      return new RouterMix().primary(() => cloud.provider(env, baseUrl), model).build();
    },
  };
}

/** A server of one's own may want none. */
async function keyFor(key: string | undefined) {
  const { Secret } = await import("@shedkit/provider");
  return new Secret(key || "none");
}
