import type { Usage } from "@shedkit/types";

/** How a turn is getting on. A hint at records to come, never content; the union may grow. */
export type AgentProgress =
  | { type: "initializing"; step: string }
  /** `why`: why this file, or why it is run so on this machine; once for each. */
  | {
      type: "loadingModel";
      what: "download" | "load";
      bytesDone: number;
      bytesTotal?: number | undefined;
      why?: string | undefined;
    }
  /** A model on this machine reads the prompt: so many of the tokens that are new to it. */
  | { type: "evaluatingPrompt"; tokensDone: number; tokensTotal: number }
  /** What a model's backend says of a request: what of a tool's schema it cannot say, what it left out. Once a turn. */
  | { type: "modelWarning"; model: string; tool?: string | undefined; message: string }
  | { type: "generating"; model: string; tokensSoFar?: number | undefined }
  | { type: "toolCallRequested"; name: string }
  | { type: "executingTools"; total: number; completed: number }
  | { type: "toolCallCancelled"; id: string }
  | { type: "processingMemory"; kind: "working" | "observation" | "reflection" }
  /** Before the session ends: so many records are still on their way to the store. */
  | { type: "flushingRecords"; count: number }
  | { type: "compacting"; tokens: number }
  | { type: "steering"; source: string }
  /** The turn has worked on `maxOuterIterations` messages and ends: so many follow-ups wait for the next turn. */
  | { type: "outerLimit"; limit: number; waiting: number }
  | { type: "turnComplete"; usage: Usage }
  | { type: "sessionEnding" };
