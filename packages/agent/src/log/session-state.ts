import {
  type ActivatedBy,
  AgenticError,
  type ApprovalDecision,
  type AssistantMessage,
  addUsage,
  type Message,
  noUsage,
  type SessionRecord,
  type ToolCallOutput,
  type ToolResultMessage,
  type Usage,
  type UserMessage,
} from "@shedkit/types";

import { estimateMessage } from "../context/estimate.js";
import { MEMORY_ID } from "../memory/message.js";
import { TakenIds } from "./taken-ids.js";

/** A call whose result is not in the conversation yet. */
export interface OpenCall {
  readonly message: AssistantMessage;
  readonly call: ToolCallOutput;
  result?: ToolResultMessage | undefined;
  /** The attempt that was started last; 0 before the first. */
  attempt: number;
  finished: boolean;
  approval?: Approval | undefined;
}

/** Leave that was asked for. */
export interface Approval {
  readonly approvalId: string;
  readonly toolCallId: string;
  readonly tool: string;
  readonly record: SessionRecord;
  decision?: ApprovalDecision | undefined;
}

/** The ids of summaries begin so. */
export const SUMMARY_ID = "summary:";
/** The ids of messages that say again what was said earlier begin so. */
export const RECALL_ID = "recall:";
/** The ids of notes on how full the context is begin so. */
const PRESSURE_ID = "pressure:";

/** Whether a message is one that the session itself put into the conversation, made of what is elsewhere in the log. */
export function isNote({ id }: Message): boolean {
  return [MEMORY_ID, SUMMARY_ID, RECALL_ID, PRESSURE_ID].some((start) => id.startsWith(start));
}

// What most sessions never have is made when the first comes: until then, these are for all.
const NONE: ReadonlyMap<string, never> = new Map<string, never>();
const NO_IDS: ReadonlySet<string> = new Set();

/** A message that waits to be worked on. */
export interface QueuedMessage {
  queue: "steer" | "followUp";
  message: Message;
}

type ToolStateRecord = Extract<SessionRecord, { type: "toolState" }>;

/**
 * What a log says: the conversation as a model must see it, and all else that outlives a process. Built by the same
 * function from a stored log and from a running turn, so that the two cannot differ.
 */
export class SessionState {
  /** Chronological; grows in place. Results stand behind the calls of their step, in the order of the calls. */
  messages: Message[] = [];
  #activations: Map<string, ActivatedBy> | undefined;
  readonly queue: QueuedMessage[] = [];
  #openCalls: Map<string, OpenCall> | undefined;
  /** The ids of all calls. */
  readonly callIds = new TakenIds();
  /** How many records there are. */
  seq = 0;
  working: Extract<SessionRecord, { type: "workingMemory" }> | undefined;
  observation: Extract<SessionRecord, { type: "observation" }> | undefined;
  reflection: Extract<SessionRecord, { type: "reflection" }> | undefined;
  /** Whether the observation came after the reflection, by its place in the log: clocks may go backwards. */
  observedSince = false;
  /** Tokens used since the last observation. */
  rollingTokens = 0;
  /** Tokens of observations since the last reflection. */
  observedTokens = 0;
  /** The id of the newest message that carries the memory; empty where the conversation has none. */
  memoryTold = "";
  /** Whether the model has been told how full the context is. */
  pressureNoted = false;
  /** Whether anything was said since the last compaction. */
  compactable = false;
  /** The message that the running turn began with. */
  turnFirst: Message | undefined;
  /** What the user said last in the running turn, where nothing has been recalled for it yet. */
  asked: UserMessage | undefined;
  /** The fallback that the session works with, since when. */
  switched: { from: string; to: string; at: number } | undefined;
  #approvals: Map<string, Approval> | undefined;
  /** Leave given for the rest of the session. */
  readonly grants: { tool: string; pattern?: string | undefined }[] = [];
  /** The size of the conversation in tokens: what the last step reported, and an estimate of what came after it. */
  contextTokens = 0;
  #toolStates: Map<string, ToolStateRecord> | undefined;
  #retracted: Set<string> | undefined;
  /** Of the whole session. */
  usage: Usage = noUsage;
  /** The id of the newest record; empty for a new session. */
  lastRecordId = "";
  #estimated = 0;

  get activations(): ReadonlyMap<string, ActivatedBy> {
    return this.#activations ?? NONE;
  }

  /** The calls of the newest step, until all of them have results. */
  get openCalls(): ReadonlyMap<string, OpenCall> {
    return this.#openCalls ?? NONE;
  }

  /** Of the open calls. */
  get approvals(): ReadonlyMap<string, Approval> {
    return this.#approvals ?? NONE;
  }

  /** What tools remember. */
  get toolStates(): ReadonlyMap<string, ToolStateRecord> {
    return this.#toolStates ?? NONE;
  }

  /** The ids of messages that do not count. */
  get retracted(): ReadonlySet<string> {
    return this.#retracted ?? NO_IDS;
  }

  apply(record: SessionRecord): void {
    if (record.v !== 1) {
      throw new AgenticError(
        "session",
        `The log holds a record of format ${String(record.v)}; this version reads format 1. Update Shedkit.`,
        { reason: "newer record format" },
      );
    }
    this.lastRecordId = record.id;
    this.seq++;
    switch (record.type) {
      case "conversation":
        this.#add(record.message);
        break;
      case "step":
        this.usage = addUsage(this.usage, record.usage);
        this.rollingTokens += record.usage.input + record.usage.output + record.usage.cacheWrite;
        // Half of the estimate is less than any tokenizer makes: what is below it was not counted.
        this.contextTokens = Math.max(record.usage.total, this.#estimated / 2);
        break;
      case "toolStarted": {
        const open = this.openCalls.get(record.toolCallId);
        if (open) open.attempt = record.attempt;
        break;
      }
      case "toolFinished": {
        const open = this.openCalls.get(record.toolCallId);
        if (open) open.finished = true;
        break;
      }
      case "activated":
        this.#activations ??= new Map();
        for (const tool of record.tools) if (!this.#activations.has(tool)) this.#activations.set(tool, record.by);
        break;
      case "deactivated":
        for (const tool of record.tools) this.#activations?.delete(tool);
        break;
      case "toolState":
        this.#toolStates ??= new Map();
        this.#toolStates.set(record.key, record);
        break;
      case "queued":
        this.queue.push({ queue: record.queue, message: record.message });
        break;
      case "dequeued": {
        const at = this.queue.findIndex((entry) => entry.message.id === record.messageId);
        if (at >= 0) this.queue.splice(at, 1);
        break;
      }
      case "approvalRequested": {
        const { approvalId, toolCallId, call } = record;
        const open = this.openCalls.get(toolCallId);
        if (!open) break;
        const approval: Approval = { approvalId, toolCallId, tool: call?.name ?? open.call.name, record };
        this.#approvals ??= new Map();
        this.#approvals.set(approvalId, approval);
        if (call?.id === undefined) open.approval = approval; // else of a call that a running tool makes
        break;
      }
      case "approvalDecided":
        this.#decide(record.approvalId, record.decision);
        break;
      case "workingMemory":
        this.working = record;
        break;
      case "observation":
        this.#spent(record.usage);
        this.observation = record;
        this.observedSince = true;
        this.rollingTokens = 0;
        this.observedTokens += record.tokenCount;
        break;
      case "reflection":
        this.#spent(record.usage);
        this.reflection = record;
        this.observedSince = false;
        this.observedTokens = 0;
        break;
      case "compaction":
        this.#spent(record.usage);
        this.#compact(record);
        break;
      case "modelSwitched":
        this.switched = { from: record.from, to: record.to, at: record.at };
        break;
      case "summary":
      case "failedAction":
        this.turnFirst = undefined;
        this.asked = undefined;
        break;
      case "retracted":
        this.#retract(new Set(record.messageIds));
        break;
    }
  }

  #spent(usage: Usage | undefined): void {
    if (usage) this.usage = addUsage(this.usage, usage);
  }

  #decide(approvalId: string, decision: ApprovalDecision): void {
    const approval = this.approvals.get(approvalId);
    if (!approval) return;
    approval.decision = decision;
    if (decision.type !== "allow" || decision.scope !== "session") return;
    this.grants.push({ tool: approval.tool, pattern: decision.pattern });
  }

  /** Whether calls wait that leave was asked for, given or not: none of them has started. */
  get suspended(): boolean {
    for (const open of this.openCalls.values()) if (!open.result && open.approval && open.attempt === 0) return true;
    return false;
  }

  #add(message: Message): void {
    const tokens = estimateMessage(message);
    this.contextTokens += tokens;
    this.#estimated += tokens;
    this.compactable = true;
    if (message.type === "user") {
      this.turnFirst ??= message;
      if (message.id.startsWith(MEMORY_ID)) this.memoryTold = message.id;
      if (message.id.startsWith(PRESSURE_ID)) this.pressureNoted = true;
      if (message.id.startsWith(RECALL_ID)) this.asked = undefined;
      else if (message.role === "user") this.asked = message;
    }
    if (message.type === "toolResult") {
      const open = this.openCalls.get(message.toolCallId);
      if (open) open.result ??= message;
      for (const { approvalId, toolCallId } of this.approvals.values())
        if (toolCallId === message.toolCallId) this.#approvals?.delete(approvalId);
      this.#closeCalls();
      return;
    }
    this.messages.push(message);
    if (message.type === "assistant" && message.output.type === "toolCall") {
      this.callIds.add(message.output.id);
      this.#openCalls ??= new Map();
      this.#openCalls.set(message.output.id, { message, call: message.output, attempt: 0, finished: false });
    }
  }

  /** Results are stored as they come and join the conversation together, in the order of their calls. */
  #closeCalls(): void {
    const results: ToolResultMessage[] = [];
    for (const open of this.openCalls.values()) {
      if (!open.result) return;
      results.push(open.result);
    }
    for (const result of results) this.messages.push(result);
    this.#openCalls?.clear();
    this.#approvals?.clear();
  }

  /** The summary takes the place of what stood before `firstKept`; the first message of the running turn stays. */
  #compact(record: Extract<SessionRecord, { type: "compaction" }>): void {
    const at = this.messages.findLastIndex((message) => message.id === record.firstKept);
    const cut = at < 0 ? this.messages.length : at;
    const text = `Summary of the conversation so far:\n${record.summary}`;
    const summary: Message = {
      type: "user",
      id: `${SUMMARY_ID}${record.id}`,
      role: "system",
      content: [{ type: "text", text }],
    };
    const pinned = this.messages.slice(0, cut).filter((message) => message === this.turnFirst);
    this.messages = [summary, ...pinned, ...this.messages.slice(cut)];
    this.#estimated = this.messages.reduce((sum, message) => sum + estimateMessage(message), 0);
    this.contextTokens = record.tokensAfter;
    this.compactable = false;
    this.pressureNoted = false;
    if (!this.messages.some((message) => message.id === this.memoryTold)) this.memoryTold = "";
  }

  #retract(ids: ReadonlySet<string>): void {
    if (ids.size === 0) return;
    this.#retracted ??= new Set();
    for (const id of ids) this.#retracted.add(id);
    for (const [id, open] of this.openCalls) if (ids.has(open.message.id)) this.#openCalls?.delete(id);
    this.messages = this.messages.filter((message) => !ids.has(message.id));
  }
}
