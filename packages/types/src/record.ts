import type { SerializedError } from "./error.js";
import type { JsonValue, ToolArguments } from "./json.js";
import type { Message } from "./message.js";
import type { FinishReason, Usage } from "./model.js";
import type { ActivatedBy } from "./tool.js";

/** What a person decided about a call that asked for leave. */
export type ApprovalDecision =
  /** `answer`: to a call that asks a person. */
  | {
      type: "allow";
      scope: "once" | "session";
      pattern?: string | undefined;
      answer?: JsonValue | undefined;
    }
  | { type: "deny"; reason?: string | undefined };

/** A call that asks for leave. */
export interface ApprovalCall {
  /** Where a running tool makes it: its own id; the record's `toolCallId` is the call of that tool. */
  id?: string | undefined;
  name: string;
  /** It waits for an answer, not for leave alone: its arguments hold what is asked. */
  asks?: boolean | undefined;
  /** Why it is asked for each time; for people. */
  reason?: string | undefined;
  arguments: ToolArguments;
  access: readonly {
    action: "read" | "write" | "execute" | "network";
    target: string;
    detail?: JsonValue | undefined;
  }[];
}

/** What a record says; see {@link SessionRecord}. */
export type SessionRecordBody =
  | { type: "conversation"; message: Message }
  /** A model call that ended, with what it cost. */
  | { type: "step"; turnId: string; stepId: string; model: string; finish: FinishReason; usage: Usage }
  | { type: "toolStarted"; toolCallId: string; attempt: number }
  | {
      type: "toolFinished";
      toolCallId: string;
      attempt: number;
      outcome: "ok" | "error" | "cancelled" | "skipped" | "interrupted";
    }
  /** `call` is what a person needs to decide: the tool, its arguments, and what it will access. */
  | { type: "approvalRequested"; approvalId: string; toolCallId: string; call?: ApprovalCall | undefined }
  | { type: "approvalDecided"; approvalId: string; decision: ApprovalDecision }
  | { type: "activated"; tools: readonly string[]; by: ActivatedBy }
  | { type: "deactivated"; tools: readonly string[] }
  | { type: "toolState"; key: string; version: number; value: JsonValue }
  | { type: "queued"; queue: "steer" | "followUp"; message: Message }
  | { type: "dequeued"; messageId: string }
  | { type: "modelSwitched"; from: string; to: string; reason: string }
  /** The messages named were shown and do not count: a retry follows. */
  | { type: "retracted"; reason: string; messageIds: readonly string[] }
  /** An error that ended a turn. */
  | { type: "failedAction"; turnId: string; error: SerializedError }
  | { type: "workingMemory"; version: number; facts: readonly JsonValue[] }
  /** `usage` is what the memory model took to make it; likewise below. */
  | {
      type: "observation";
      upTo: string;
      observations: readonly JsonValue[];
      tokenCount: number;
      usage?: Usage | undefined;
    }
  | { type: "reflection"; upTo: string; reflections: readonly JsonValue[]; usage?: Usage | undefined }
  | {
      type: "compaction";
      firstKept: string;
      summary: string;
      tokensBefore: number;
      tokensAfter: number;
      usage?: Usage | undefined;
    }
  | { type: "forkedFrom"; session: string; record: string }
  /** A turn that completed. */
  | { type: "summary"; turnId: string; messageCount: number; usage: Usage };

/**
 * One entry of a session's append-only log. `id` sorts by time, `at` is milliseconds since the epoch, `v` the format:
 * a reader refuses a newer one by name.
 */
export type SessionRecord = { readonly id: string; readonly v: 1; readonly at: number } & SessionRecordBody;
