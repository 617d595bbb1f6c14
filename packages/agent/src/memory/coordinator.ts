import type { DocumentStore } from "@shedkit/store";
import type { JsonValue, Message } from "@shedkit/types";
import { inTime } from "../time-limit.js";
import type { Sink } from "../turn/stream-item.js";
import type { MemoryParts } from "./memory.js";

export type MemoryKind = "observation" | "reflection";

/** After a failure, so much of the trigger must come together before the next try. */
const RETRY_SHARE = 0.25;

/** Puts the memory model to work when enough has come together: in the background, one piece of work at a time. */
export class MemoryCoordinator {
  readonly #parts: MemoryParts & { docStore: DocumentStore };
  /** Aborts what runs. */
  #abort: AbortController | undefined;
  #ended = false;
  #running: Promise<void> | undefined;
  /** The place in the log before which all has been observed, as far as this process knows. */
  #observedUpTo = 0;
  /** Tokens below which nothing is tried again after a failure. */
  readonly #notBelow: { [kind in MemoryKind]: number } = { observation: 0, reflection: 0 };

  constructor(parts: MemoryParts & { docStore: DocumentStore }) {
    this.#parts = parts;
  }

  /** Looks whether there is work and begins it. Returns at once. */
  check(sink: Sink): void {
    if (this.#running || this.#ended) return;
    const kind = this.#due();
    if (!kind) return;
    sink({ type: "progress", progress: { type: "processingMemory", kind } });
    this.#running = this.#work(kind).finally(() => {
      this.#running = undefined;
    });
  }

  /** Resolves when nothing is being worked on. */
  async idle(): Promise<void> {
    await this.#running;
  }

  /** Ends what runs: its outcome is not recorded, and a session that resumes does it again. */
  async end(): Promise<void> {
    this.#ended = true;
    this.#abort?.abort();
    await this.#running;
  }

  #due(): MemoryKind | undefined {
    const { log, memoryConfig } = this.#parts;
    const { rollingTokens, observedTokens } = log.state;
    const due = (kind: MemoryKind, tokens: number, trigger: number) =>
      trigger > 0 && tokens >= Math.max(trigger, this.#notBelow[kind]);
    if (due("observation", rollingTokens, memoryConfig.observationTriggerTokens)) return "observation";
    if (due("reflection", observedTokens, memoryConfig.reflectionTriggerTokens)) return "reflection";
    return undefined;
  }

  async #work(kind: MemoryKind): Promise<void> {
    const { log, memoryConfig } = this.#parts;
    const tokens = kind === "observation" ? log.state.rollingTokens : log.state.observedTokens;
    const trigger =
      kind === "observation" ? memoryConfig.observationTriggerTokens : memoryConfig.reflectionTriggerTokens;
    // A model that gives nothing, or fails, is not asked again for the same: no answer waits for the memory.
    this.#notBelow[kind] = tokens + trigger * RETRY_SHARE;
    const abort = new AbortController();
    this.#abort = abort;
    try {
      const { effects } = this.#parts;
      // A model that hangs must not keep the next from being asked.
      await inTime(effects, memoryConfig.timeoutMs, abort.signal, kind, (signal) => this.#make(kind, signal));
      const left = kind === "observation" ? log.state.rollingTokens : log.state.observedTokens;
      if (left < tokens) this.#notBelow[kind] = 0;
    } catch {
      // The conversation does not depend on it.
    }
  }

  async #make(kind: MemoryKind, signal: AbortSignal): Promise<void> {
    const memory = await import("./memory.js");
    if (kind === "reflection") return memory.reflect(this.#parts, await this.#observations(), signal);
    const { messages, upTo } = await this.#unobserved();
    if (await memory.observe(this.#parts, messages, signal)) this.#observedUpTo = upTo;
  }

  /** What was said since the last observation, and the place in the log up to which it is. */
  async #unobserved(): Promise<{ messages: Message[]; upTo: number }> {
    const { docStore, sessionId, log } = this.#parts;
    const { observation } = log.state;
    let messages: Message[] = [];
    let upTo = this.#observedUpTo;
    for await (const { seq, record } of docStore.read(sessionId, { after: upTo })) {
      upTo = seq;
      if (record.type !== "conversation" || log.state.retracted.has(record.message.id)) continue;
      messages.push(record.message);
      if (record.message.id === observation?.upTo) messages = [];
    }
    return { messages, upTo };
  }

  /** The observations since the last reflection. */
  async #observations(): Promise<(readonly JsonValue[])[]> {
    const { docStore, sessionId } = this.#parts;
    let observations: (readonly JsonValue[])[] = [];
    for await (const { record } of docStore.read(sessionId)) {
      if (record.type === "observation") observations.push(record.observations);
      else if (record.type === "reflection") observations = [];
    }
    return observations;
  }
}
