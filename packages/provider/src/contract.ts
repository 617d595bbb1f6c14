import type {
  AgenticError,
  Embedder,
  FinishReason,
  JsonSchema,
  Message,
  ModelId,
  ModelIdLike,
  ModelOutput,
  SessionId,
  ToolDeclarations,
  Usage,
} from "@shedkit/types";

/** Sampling. What is absent is the backend's own default. */
export interface ModelParams {
  maxTokens?: number | undefined;
  temperature?: number | undefined;
  topP?: number | undefined;
  topK?: number | undefined;
  repeatPenalty?: number | undefined;
  seed?: number | undefined;
  stop?: readonly string[] | undefined;
  thinking?: "off" | "low" | "medium" | "high" | { budgetTokens: number } | undefined;
}

/** Dollars for a million tokens. Absent cache rates are the input's. */
export interface TokenRates {
  inputPerMillion: number;
  outputPerMillion: number;
  cacheReadPerMillion?: number | undefined;
  cacheWritePerMillion?: number | undefined;
}

/** What a model costs, and the day the figures are of (`YYYY-MM-DD`). A price of one's own wins over a backend's. */
export interface ModelPrice extends TokenRates {
  asOf: string;
  /** The rates of a whole request whose prompt, with what came from the cache, has more tokens than this. */
  longPrompt?: (TokenRates & { aboveTokens: number }) | undefined;
}

/** What a model can take. */
export interface ModelDescription {
  /** In tokens. */
  contextWindow: number;
  maxOutput?: number | undefined;
  input: readonly ("text" | "image" | "audio" | "file")[];
  tools: boolean;
  price?: ModelPrice | undefined;
}

/** One generation. */
export interface ModelRequest {
  model: ModelId;
  system?: string | undefined;
  /** Chronological; every call of an earlier step has its result. */
  messages: readonly Message[];
  tools: ToolDeclarations;
  params: ModelParams;
  /** The answer's text must be JSON of this schema. */
  output?: JsonSchema | undefined;
  signal?: AbortSignal | undefined;
  /** Lets a backend keep what it has cached for the session. */
  sessionId?: SessionId | undefined;
}

/**
 * What comes of a generation: `start` once, deltas and finished blocks, `usage`, then exactly one `finish` or
 * `failure`, last. `block` numbers the blocks of the answer from 0.
 *
 * A stream that breaks, or whose `signal` aborts, closes what it has begun: text and thinking get their `output` with
 * what came, a tool call that is not whole gets none; then comes `usage`, where it is known, then `failure`. An abort
 * is AgenticError `cancelled`.
 */
export type ModelEvent =
  | { type: "start"; warnings: readonly { tool?: string | undefined; message: string }[] }
  /**
   * Before `start`: the backend is making the model ready. Bytes of a download, or of a load; `why`, once for each: why
   * this file, or why it is run so on this machine, for people.
   */
  | {
      type: "loading";
      bytesDone: number;
      bytesTotal?: number | undefined;
      what: "download" | "load";
      why?: string | undefined;
    }
  /**
   * After `start`, before the answer begins: how many tokens of the prompt a model on this machine has read, of those that
   * it did not know from before. Not told of a prompt that is read in one go.
   */
  | { type: "evaluating"; tokensDone: number; tokensTotal: number }
  | { type: "textDelta"; block: number; text: string }
  | { type: "thinkingDelta"; block: number; text: string }
  | { type: "toolCallStart"; block: number; id: string; name: string }
  | { type: "toolCallDelta"; block: number; json: string }
  /** A finished block, authoritative. */
  | { type: "output"; block: number; output: ModelOutput }
  /** Cumulative for the request: the last one counts. */
  | { type: "usage"; usage: Usage }
  /** `warnings`: what the end was not clear about, as a reason that nobody knows. */
  | { type: "finish"; reason: FinishReason; warnings?: readonly { message: string }[] | undefined }
  | { type: "failure"; error: AgenticError; retracted?: boolean | undefined };

/** A model backend. */
export interface ModelProvider {
  readonly id: string;
  /** Whether it has the model; `"unknown"` where only a request would tell. */
  serves(model: ModelId): "yes" | "no" | "unknown";
  /** Never rejects: a failure is an event. Ends soon after `request.signal` aborts. */
  stream(request: ModelRequest): AsyncIterable<ModelEvent>;
  describe?(model: ModelId): Promise<ModelDescription>;
  embedder?(model: ModelIdLike): Embedder;
  countTokens?(request: ModelRequest): Promise<number>;
  /** Releases models, connections and processes. */
  close?(): Promise<void>;
}
