import type { ModelParams } from "@shedkit/provider";

/** The limits of the loop, and what every request is sent with. */
export interface AgentConfig {
  /** Model calls that may lead to tool calls, for each message worked on. Then the model sums up. Default: 25. */
  maxInnerIterations: number;
  /** Messages (the prompt and follow-ups) that one turn works on; the rest waits for the next. Default: 10. */
  maxOuterIterations: number;
  /** Failures in a row after which the next model is taken. Default: 3. */
  circuitBreakerThreshold: number;
  /** The share of the window, or of the budget that is left, above which the conversation is compacted. Default: 0.85. 0: never. */
  preflightCompressionThreshold: number;
  /** The share from which the model is told to be brief. Default: 0.7. 0: never. */
  contextPressureThreshold: number;
  /** Tool calls that run at the same time. Default: 8. */
  toolConcurrency: number;
  /** Default: the backend's own. */
  modelParams: ModelParams;
}

export const defaultConfig: AgentConfig = {
  maxInnerIterations: 25,
  maxOuterIterations: 10,
  circuitBreakerThreshold: 3,
  preflightCompressionThreshold: 0.85,
  contextPressureThreshold: 0.7,
  toolConcurrency: 8,
  modelParams: {},
};

/** How a conversation is kept within the window of its model. */
export interface ContextConfig {
  /** In tokens. Default: what the backend says of the model. */
  window: number | undefined;
  /** About how much of the newest part a compaction leaves as it is, in tokens. Default: 20,000. */
  keepRecentTokens: number;
  /** The share of the window that a compaction must get below. Default: 0.5. */
  compactionTarget: number;
  /** How long a summary may be, in tokens. Default: 2,000. */
  summaryTokens: number;
  /**
   * How long the memory model may take to make one, in milliseconds; then what was said is shortened without it.
   * Default: 300,000.
   */
  summaryTimeoutMs: number;
  /**
   * How much of what a compaction has left behind comes back where it has to do with what the user says, in tokens.
   * Default: 4,096. 0: nothing.
   */
  recallBudgetTokens: number;
}

export const defaultContextConfig: ContextConfig = {
  window: undefined,
  keepRecentTokens: 20_000,
  compactionTarget: 0.5,
  summaryTokens: 2000,
  summaryTimeoutMs: 300_000,
  recallBudgetTokens: 4096,
};

/** When the memory model is put to work. */
export interface MemoryConfig {
  /** Tokens used since the last observation. Default: 30,000. 0: never. */
  observationTriggerTokens: number;
  /** Tokens of observations since the last reflection. Default: 40,000. 0: never. */
  reflectionTriggerTokens: number;
  /**
   * How long it may take for one of them, in milliseconds; then it counts as failed, and is tried again with what comes
   * together by and by. Default: 300,000.
   */
  timeoutMs: number;
}

export const defaultMemoryConfig: MemoryConfig = {
  observationTriggerTokens: 30_000,
  reflectionTriggerTokens: 40_000,
  timeoutMs: 300_000,
};

/** When a model is taken to go round in circles, and what is done about it. No language is assumed. */
export interface LoopDetectionConfig {
  /**
   * Steps that must be alike in a row, calls and results, to be a fuzzy loop; those that change something or tell
   * something that was not asked never are. Default: 5.
   */
  windowSize: number;
  /** How alike, from 0 to 1. Default: 0.9. */
  similarityThreshold: number;
  /** The same calls so often in a row, or in the same short order, are a loop. Default: 3. */
  toolCallMaxRepeats: number;
  /** How often the model is told, before another model or a higher temperature is tried, or the turn ends. Default: 3. */
  maxRedirects: number;
  /** By how much the temperature is raised where telling did not help. Default: 0.3. */
  temperatureDelta: number;
  /** Asks again where an answer has nothing in it. Default: true. */
  detectVacuousAnswers: boolean;
  /**
   * Asks again, once, where an answer is a bare number that comes from nowhere: no tool was called, and what the user said
   * has neither a digit nor a question mark, of any script. Needs `detectVacuousAnswers`. Default: true.
   */
  judgeBareNumbers: boolean;
  /** Tools that are meant to be called again and again; those of the kinds that wait for tasks always are. Default: none. */
  pollingTools: readonly string[];
}

export const defaultLoopDetection: LoopDetectionConfig = {
  windowSize: 5,
  similarityThreshold: 0.9,
  toolCallMaxRepeats: 3,
  maxRedirects: 3,
  temperatureDelta: 0.3,
  detectVacuousAnswers: true,
  judgeBareNumbers: true,
  pollingTools: [],
};
