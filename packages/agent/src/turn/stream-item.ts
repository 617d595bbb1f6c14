import type { ToolNotification } from "@shedkit/shed";
import type { JsonValue, SessionRecord } from "@shedkit/types";
import type { AgentProgress } from "./progress.js";

/** What a raw turn stream carries. */
export type StreamItem =
  /** Already in the log. */
  | { type: "record"; record: SessionRecord }
  /** A piece of an answer as it comes; the record with the whole of it follows. */
  | {
      type: "delta";
      stepId: string;
      block: number;
      kind: "text" | "thinking" | "toolCall";
      text: string;
      /** The call that a `toolCall` delta is of. */
      toolCallId?: string | undefined;
    }
  | { type: "toolProgress"; toolCallId: string; text?: string | undefined; data?: JsonValue | undefined }
  /** What a running tool told the host, by `ctx.notify`. */
  | ({ type: "toolNotification" } & ToolNotification)
  | { type: "progress"; progress: AgentProgress };

/** Takes what a turn shows. Never throws and never waits. */
export type Sink = (item: StreamItem) => void;
