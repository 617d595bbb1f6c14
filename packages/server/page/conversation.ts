import type { ApprovalCall, ContentPart, SessionRecord, ToolArguments } from "@shedkit/types";
import { imagesOf, type LogImage } from "./images.js";

/** A call of a tool, and what is known of it so far. */
export interface CallEntry {
  kind: "call";
  id: string;
  name: string;
  args: ToolArguments;
  state: "waiting" | "running" | "done" | "failed";
  progress?: string;
  result?: string;
  images?: LogImage[];
  approval?: { id: string; call: ApprovalCall | undefined };
  decision?: string;
}

interface UserEntry {
  kind: "user";
  id: string;
  role: "user" | "system" | "agent";
  text: string;
  /** Names of what was sent along and is not shown. */
  files: string[];
  images: LogImage[];
}

/** One thing in the conversation, as it is shown. `rev` grows when it changes. */
export type Entry = { rev: number } & (
  | UserEntry
  | { kind: "text" | "thinking"; id: string; text: string; live: boolean }
  | CallEntry
  | { kind: "notice"; id: string; tone: "info" | "error"; text: string }
);

/** A search in the shed that the model made, and the tools it was given for it. */
export interface ShedSearch {
  callId: string;
  description: string;
  found: string[];
}

type CallShown = Extract<Entry, { kind: "call" }>;

interface LiveBlock {
  stepId: string;
  block: number;
  kind: "text" | "thinking";
  text: string;
}

/** What the records and the deltas of a session come to. */
export class Conversation {
  readonly entries: Entry[] = [];
  readonly searches: ShedSearch[] = [];
  readonly activated: string[] = [];
  /** Said, and not taken up yet. */
  readonly queued = new Map<string, string>();
  readonly #calls = new Map<string, CallShown>();
  readonly #approvals = new Map<string, CallShown>();
  readonly #seen = new Set<string>();
  #live: LiveBlock[] = [];

  /** False where the record was known. */
  apply(record: SessionRecord): boolean {
    if (this.#seen.has(record.id)) return false;
    this.#seen.add(record.id);
    this.#take(record);
    return true;
  }

  delta(stepId: string, block: number, kind: string, text: string): void {
    if (kind !== "text" && kind !== "thinking") return;
    const open = this.#live.find((live) => live.stepId === stepId && live.block === block);
    if (open) open.text += text;
    else this.#live.push({ stepId, block, kind, text });
  }

  progress(toolCallId: string, text: string): void {
    this.#change(this.#calls.get(toolCallId), { progress: text });
  }

  /** The text that is being written. */
  get live(): Entry[] {
    return this.#live.map(({ stepId, block, kind, text }) => ({
      ...{ kind, text, live: true },
      id: `live-${stepId}-${block}`,
      rev: text.length,
    }));
  }

  get waiting(): CallShown[] {
    return [...this.#approvals.values()].filter(({ approval, state }) => approval && state === "waiting");
  }

  #take(record: SessionRecord): void {
    switch (record.type) {
      case "conversation":
        this.#message(record.message);
        return;
      case "step":
        this.#live = [];
        return;
      case "toolStarted":
        this.#change(this.#calls.get(record.toolCallId), { state: "running" });
        return;
      case "toolFinished": {
        const state = record.outcome === "ok" ? "done" : "failed";
        this.#change(this.#calls.get(record.toolCallId), { state });
        return;
      }
      case "approvalRequested": {
        const call = this.#calls.get(record.toolCallId);
        if (call) this.#approvals.set(record.approvalId, call);
        this.#change(call, { approval: { id: record.approvalId, call: record.call }, state: "waiting" });
        return;
      }
      case "approvalDecided": {
        const { decision } = record;
        const text =
          decision.type === "deny"
            ? `denied${decision.reason ? `: ${decision.reason}` : ""}`
            : decision.scope === "session"
              ? "allowed for this session"
              : decision.answer !== undefined
                ? "answered"
                : "allowed once";
        const call = this.#approvals.get(record.approvalId);
        if (call) delete call.approval;
        this.#change(call, { decision: text, state: "running" });
        return;
      }
      case "activated": {
        this.activated.push(...record.tools.filter((name) => !this.activated.includes(name)));
        const { by } = record;
        const search = typeof by === "object" && this.searches.find(({ callId }) => callId === by.toolCallId);
        if (search) search.found.push(...record.tools);
        return;
      }
      case "deactivated":
        for (const name of record.tools) this.activated.splice(this.activated.indexOf(name) >>> 0, 1);
        return;
      case "queued":
        if (record.message.type === "user") this.queued.set(record.message.id, textOf(record.message.content));
        return;
      case "dequeued":
        this.queued.delete(record.messageId);
        return;
      case "retracted":
        this.#live = [];
        for (const id of record.messageIds) this.#remove(id);
        return;
      case "failedAction": {
        this.#live = [];
        this.#interrupt();
        const { code, message } = record.error;
        if (code === "cancelled") this.#notice(record.id, "info", "Stopped.");
        else this.#notice(record.id, "error", message);
        return;
      }
      case "modelSwitched":
        this.#notice(record.id, "info", `From here ${record.to} answers, not ${record.from}: ${record.reason}`);
        return;
      case "compaction": {
        const { tokensBefore, tokensAfter } = record;
        const size = `about ${tokensBefore.toLocaleString()} tokens became ${tokensAfter.toLocaleString()}`;
        this.#notice(record.id, "info", `What was said before was summed up: ${size}.`);
        return;
      }
      case "forkedFrom":
        this.#notice(record.id, "info", "This is a copy of another session.");
        return;
    }
  }

  #message(message: Extract<SessionRecord, { type: "conversation" }>["message"]): void {
    if (message.type === "user") {
      const { id, role, content } = message;
      const images = imagesOf(content);
      const names = content.flatMap((part) =>
        "mediaType" in part && part.type !== "resource" ? [part.name ?? part.type] : [],
      );
      const files = names.filter((name) => !images.some((image) => image.name === name));
      this.entries.push({ kind: "user", rev: 0, id, role, text: textOf(content), files, images });
      return;
    }
    if (message.type === "toolResult") {
      const state = message.errorDetail === undefined ? "done" : "failed";
      this.#change(this.#calls.get(message.toolCallId), {
        result: textOf(message.content),
        images: imagesOf(message.content),
        state,
      });
      return;
    }
    const { id, output, stepId } = message;
    switch (output.type) {
      case "text":
      case "thinking": {
        // The record holds the whole of what its deltas said.
        const open = this.#live.findIndex((live) => live.stepId === stepId && live.kind === output.type);
        if (open >= 0) this.#live.splice(open, 1);
        if (output.text.trim() !== "") {
          this.entries.push({ kind: output.type, rev: 0, id, text: output.text, live: false });
        }
        return;
      }
      case "refusal":
        this.#notice(id, "error", output.text);
        return;
      case "toolCall": {
        const args = output.arguments ?? (output.rawArguments === undefined ? {} : { "": output.rawArguments });
        const call: CallShown = { kind: "call", rev: 0, id: output.id, name: output.name, args, state: "waiting" };
        this.#calls.set(output.id, call);
        this.entries.push(call);
        if (output.name === "shed") {
          this.searches.push({ callId: output.id, description: String(args.description ?? ""), found: [] });
        }
        return;
      }
      default:
        this.#notice(id, "info", `(${output.type})`);
        return;
    }
  }

  #change(call: CallShown | undefined, change: Partial<CallEntry>): void {
    if (call) Object.assign(call, change, { rev: call.rev + 1 });
  }

  /** No call of a turn that broke off runs any more. */
  #interrupt(): void {
    for (const call of this.#calls.values()) {
      if (call.state === "running" || (call.state === "waiting" && !call.approval))
        this.#change(call, { state: "failed" });
    }
  }

  #notice(id: string, tone: "info" | "error", text: string): void {
    this.entries.push({ kind: "notice", rev: 0, id, tone, text });
  }

  #remove(id: string): void {
    const i = this.entries.findIndex((entry) => entry.id === id);
    if (i >= 0) this.entries.splice(i, 1);
  }
}

function textOf(content: readonly ContentPart[]): string {
  return content
    .flatMap((part) => (part.type === "text" ? [part.text] : part.type === "resource" && part.text ? [part.text] : []))
    .join("\n");
}
