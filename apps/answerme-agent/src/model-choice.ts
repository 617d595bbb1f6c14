import type { AgentConfig, ContextConfig, LoopDetectionConfig, MemoryConfig } from "@shedkit/agent";
import type { FilesPresetOptions, RouterPreset } from "@shedkit/harness";
import { cloudModel, keyedModel } from "./models/cloud.js";
import { LOCAL_NAME } from "./models/cloud-names.js";
import { demoModel } from "./models/demo.js";
import { localModel } from "./models/local.js";
import type { ModelNotice } from "./renderer.js";
import type { ToolGroup } from "./settings.js";

/** A model to ask, and what it needs of its host. */
export interface ModelChoice {
  readonly notice: ModelNotice;
  /** Absent: a model that follows none. */
  readonly systemPrompt?: string | undefined;
  readonly config: Partial<AgentConfig>;
  readonly context?: Partial<ContextConfig> | undefined;
  readonly memory?: Partial<MemoryConfig> | undefined;
  readonly loopDetection?: Partial<LoopDetectionConfig> | undefined;
  readonly files: FilesPresetOptions;
  /** The tools it can use. Default: all there are. */
  readonly groups?: readonly ToolGroup[] | undefined;
  /** Those of them that lead the model astray. Default: none. */
  readonly without?: readonly string[] | undefined;
  /** What a person is told where the model goes round in circles, in place of what the agent says of it. */
  readonly stuck?: string | undefined;
  /** Whether files that a question refers to go along; else the model is told their names. Default: true. */
  readonly attaches?: boolean | undefined;
  /** Model calls in a turn. Absent: the agent's own limit. */
  readonly maxSteps?: number | undefined;
  preset(): Promise<RouterPreset>;
}

export type Environment = { readonly [name: string]: string | undefined };

/**
 * The model that was asked for, else one that the environment has a key for, else the one that ships with the program.
 * `maxSteps` wins over the model's own.
 */
export function chooseModel(
  named: string | null,
  maxSteps: number | null,
  env: Environment = process.env,
): ModelChoice {
  const choice = named === null ? (keyedModel(env) ?? demoModel()) : (cloudModel(named, env) ?? onThisMachine(named));
  return maxSteps === null ? choice : { ...choice, maxSteps };
}

/** A local model by its name, with `local:` before it or without; the one that ships with the program of `local:`. */
function onThisMachine(named: string): ModelChoice {
  const name = named.startsWith(`${LOCAL_NAME}:`) ? named.slice(LOCAL_NAME.length + 1) : named;
  return name === "" ? demoModel() : localModel(name);
}
