import type { ModelParams } from "@shedkit/provider";

/** The limits of the loop, and what every request is sent with. */
export interface AgentConfig {
  /** Model calls that may lead to tool calls, for each message worked on. Then the model sums up. Default: 25. */
  maxInnerIterations: number;
  /** Messages (the prompt and follow-ups) that one turn works on; the rest waits for the next. Default: 10. */
  maxOuterIterations: number;
  /** Tool calls that run at the same time. Default: 8. */
  toolConcurrency: number;
  /** Default: the backend's own. */
  modelParams: ModelParams;
}

export const defaultConfig: AgentConfig = {
  maxInnerIterations: 25,
  maxOuterIterations: 10,
  toolConcurrency: 8,
  modelParams: {},
};
