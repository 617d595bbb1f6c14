import type { ToolNotification } from "@shedkit/shed";
import type { AccessRequest } from "@shedkit/tool";
import {
  type AgenticError,
  addUsage,
  type ContentPart,
  type JsonValue,
  noUsage,
  type SessionRecord,
  type ToolArguments,
  type Usage,
} from "@shedkit/types";
import type { AgentProgress } from "./progress.js";
import type { StreamItem } from "./stream-item.js";
import { reviveError, type TurnSummary } from "./turn.js";

/** What happens in a turn, for people who show it. `failed` or `done` comes once, last; the union may grow. */
export type TurnEvent =
  | { type: "text"; delta: string }
  | { type: "thinking"; delta: string }
  /** Only with `toolDeltas`: a piece of a call that is being written. */
  | { type: "toolCallDelta"; id: string; json: string }
  /** A call that the model made; it is in the log and will run. */
  | { type: "toolCall"; id: string; name: string; arguments?: ToolArguments | undefined }
  | { type: "toolProgress"; toolCallId: string; text?: string | undefined; data?: JsonValue | undefined }
  /** What a running tool told the host, by `ctx.notify`. */
  | ({ type: "toolNotification" } & ToolNotification)
  | {
      type: "toolResult";
      toolCallId: string;
      name: string;
      content: readonly ContentPart[];
      errorDetail?: string | undefined;
    }
  /** A call waits for leave: `session.approve(approvalId, ...)`. */
  | {
      type: "approvalRequested";
      approvalId: string;
      toolCallId: string;
      name: string;
      arguments?: ToolArguments | undefined;
      access: readonly AccessRequest[];
      /** The call asks a person something (`ask_user`): answer with `{ type: "allow", scope: "once", answer }`. */
      asks?: boolean | undefined;
      /** Why the policy asks, whatever leave there is for the session; absent where it did not say. */
      reason?: string | undefined;
    }
  /** Drop the text shown since the last tool result of this turn: it does not count, a retry follows. */
  | { type: "retract"; reason: string }
  | { type: "progress"; progress: AgentProgress }
  /** Only with `memory`: what the session remembers has changed. */
  | { type: "memory"; record: SessionRecord }
  | { type: "failed"; error: AgenticError; usage: Usage }
  | { type: "done"; summary: TurnSummary };

/** What an event stream shows beside the usual. */
export interface EventOptions {
  /** The arguments of tool calls while they are written. Default: false. */
  toolDeltas?: boolean | undefined;
  /** Changes of the memory tiers. Default: false. */
  memory?: boolean | undefined;
}

/** Turns raw items into events. Text that came as deltas is not said again by its record. */
export class EventMapper {
  readonly #options: EventOptions;
  #stepId = "";
  #shown = { text: 0, thinking: 0 };
  #usage: Usage = noUsage;

  constructor(options: EventOptions = {}) {
    this.#options = options;
  }

  map(item: StreamItem): TurnEvent | undefined {
    switch (item.type) {
      case "record":
        return this.#ofRecord(item.record);
      case "delta":
        return this.#ofDelta(item);
      case "toolProgress":
      case "toolNotification":
      case "progress":
        return item;
    }
  }

  #ofDelta(item: Extract<StreamItem, { type: "delta" }>): TurnEvent | undefined {
    if (item.kind === "toolCall") {
      if (!this.#options.toolDeltas) return undefined;
      return { type: "toolCallDelta", id: item.toolCallId ?? "", json: item.text };
    }
    this.#enter(item.stepId);
    this.#shown[item.kind] += item.text.length;
    return { type: item.kind, delta: item.text };
  }

  #ofRecord(record: SessionRecord): TurnEvent | undefined {
    switch (record.type) {
      case "conversation":
        return this.#ofMessage(record.message);
      case "step":
        this.#usage = addUsage(this.#usage, record.usage);
        return undefined;
      case "approvalRequested": {
        const { approvalId, toolCallId, call } = record;
        const { name = "", access = [], arguments: args, asks, reason } = call ?? {};
        const asked = {
          ...(args && { arguments: args }),
          ...(asks && { asks }),
          ...(reason !== undefined && { reason }),
        };
        return { type: "approvalRequested", approvalId, toolCallId, name, access, ...asked };
      }
      case "workingMemory":
      case "observation":
      case "reflection":
        return this.#options.memory ? { type: "memory", record } : undefined;
      case "retracted":
        return { type: "retract", reason: record.reason };
      case "failedAction":
        return { type: "failed", error: reviveError(record.error), usage: this.#takeUsage() };
      case "summary":
        this.#takeUsage();
        return { type: "done", summary: { messageCount: record.messageCount, usage: record.usage } };
      default:
        return undefined;
    }
  }

  #ofMessage(message: Extract<SessionRecord, { type: "conversation" }>["message"]): TurnEvent | undefined {
    if (message.type === "user") return undefined;
    if (message.type === "toolResult") {
      const { toolCallId, name, content, errorDetail } = message;
      return { type: "toolResult", toolCallId, name, content, ...(errorDetail !== undefined && { errorDetail }) };
    }
    const { output } = message;
    if (output.type === "toolCall") {
      const { id, name, arguments: args } = output;
      return { type: "toolCall", id, name, ...(args !== undefined && { arguments: args }) };
    }
    if (output.type !== "text" && output.type !== "thinking") return undefined;
    this.#enter(message.stepId);
    const shown = Math.min(this.#shown[output.type], output.text.length);
    this.#shown[output.type] -= shown;
    const delta = output.text.slice(shown);
    return delta === "" ? undefined : { type: output.type, delta };
  }

  #enter(stepId: string): void {
    if (stepId === this.#stepId) return;
    this.#stepId = stepId;
    this.#shown = { text: 0, thinking: 0 };
  }

  #takeUsage(): Usage {
    const usage = this.#usage;
    this.#usage = noUsage;
    return usage;
  }
}
