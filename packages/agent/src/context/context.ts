import type { ModelDescription, ModelProvider, Route } from "@shedkit/provider";
import type { ToolCallManager } from "@shedkit/shed";
import { AgenticError, type ModelIdLike, textOfContent } from "@shedkit/types";
import { untilAborted } from "../abortable.js";
import type { Spending } from "../access.js";
import type { AgentConfig, ContextConfig } from "../config.js";
import type { SessionLog } from "../log/log.js";
import { SUMMARY_ID } from "../log/session-state.js";
import type { LoopEffects } from "../loop/effects.js";
import { memoryMessage } from "../memory/message.js";
import type { Recall } from "../memory/recall.js";
import type { ObservationBody } from "../observer.js";
import type { Sink } from "../turn/stream-item.js";
import type { CompactionBounds } from "./compaction.js";

/** What the context of a session is made of. */
export interface ContextParts {
  log: SessionLog;
  effects: LoopEffects;
  tools: ToolCallManager;
  spending: Spending;
  config: AgentConfig;
  contextConfig: ContextConfig;
  recall: Pick<Recall, "beyond">;
  /** Summarises. */
  memoryModel: ModelIdLike;
  resolve(model: ModelIdLike, signal: AbortSignal): Route | Promise<Route>;
  /** Tells of calls of the memory model. */
  observe: ((body: ObservationBody) => void) | undefined;
}

/** What a compaction came to, in tokens. */
export interface CompactionResult {
  tokensBefore: number;
  tokensAfter: number;
}

/** The tokens that a request may have; undefined where nobody says. */
type Limit = number | undefined;

/** What a backend says of a model. */
interface Described {
  /** Until it has said it. */
  said: Promise<void> | undefined;
  description?: ModelDescription | undefined;
}

/** How many passages may come back for what the user says. */
const RECALLED = 8;
/** No more of the window than this share is filled with them. */
const RECALL_SHARE = 0.1;
/** A question is looked for by so much of its beginning, in characters. */
const LOOKED_FOR = 2000;
/** An embedder that takes longer is not waited for, in milliseconds. */
const RECALL_PATIENCE_MS = 2000;

/** Keeps the conversation within the model's window and the session's budget. Only ever appends to it, or compacts. */
export class AgentContext {
  readonly #parts: ContextParts;
  /** After a compaction that failed: the size from which the next is tried. */
  #notBelow = 0;
  /** Of the models that have answered. */
  #descriptions: Map<string, Described> | undefined;

  constructor(parts: ContextParts) {
    this.#parts = parts;
  }

  /**
   * Makes the conversation ready for a request: memory that changed, a compaction, a word about how full it is.
   * Undefined where there is nothing to do, as before most requests.
   */
  prepare(route: Route, sink: Sink, signal: AbortSignal): Promise<void> | undefined {
    const limit = this.#limit(route, signal);
    const known = limit === undefined || typeof limit === "number";
    return known && !this.#isDue(limit) ? undefined : this.#prepare(limit, sink, signal);
  }

  #isDue(limit: number | undefined): boolean {
    const { log, config } = this.#parts;
    const share = limit === undefined ? 0 : log.state.contextTokens / limit;
    const full = over(share, config.preflightCompressionThreshold) || over(share, config.contextPressureThreshold);
    return full || log.state.asked !== undefined || memoryMessage(log.state) !== undefined;
  }

  async #prepare(asked: Limit | Promise<Limit>, sink: Sink, signal: AbortSignal): Promise<void> {
    const { log, effects, config } = this.#parts;
    const limit = await asked;
    const pressing = limit !== undefined && over(log.state.contextTokens / limit, config.preflightCompressionThreshold);
    if (pressing && log.state.contextTokens >= this.#notBelow) await this.#relieve(limit, sink, signal);
    const memory = memoryMessage(log.state);
    if (memory) await log.append({ type: "conversation", message: memory });
    if (log.state.asked) await this.#recall(limit, signal);
    const pressed = limit !== undefined && over(log.state.contextTokens / limit, config.contextPressureThreshold);
    if (pressed && !log.state.pressureNoted) {
      const percent = Math.round((log.state.contextTokens / limit) * 100);
      const text = `The context is ${percent}% full. Be brief, and look only at what you need.`;
      await log.append({
        type: "conversation",
        message: { type: "user", id: `pressure:${effects.newId()}`, role: "system", content: [{ type: "text", text }] },
      });
    }
  }

  /** Where part of the conversation is not in the context any more: what of it has to do with what the user just said. */
  async #recall(limit: number | undefined, signal: AbortSignal): Promise<void> {
    const { log, effects, recall, config, contextConfig } = this.#parts;
    const { asked, messages, contextTokens } = log.state;
    log.state.asked = undefined; // once, also where nothing is found
    let tokens = contextConfig.recallBudgetTokens;
    if (limit !== undefined) {
      // It must not be what presses the window.
      const room = limit * (config.contextPressureThreshold || 1) - contextTokens;
      tokens = Math.min(tokens, limit * RECALL_SHARE, room);
    }
    if (!asked || tokens <= 0 || !messages[0]?.id.startsWith(SUMMARY_ID)) return;
    const question = textOfContent(asked.content).slice(0, LOOKED_FOR);
    const late = new AbortController();
    const done = new AbortController();
    const timer = effects.sleep(RECALL_PATIENCE_MS, done.signal).then(
      () => late.abort(),
      () => undefined, // it was found in time
    );
    try {
      const search = () => recall.beyond(question, messages, RECALLED, AbortSignal.any([signal, late.signal]));
      const hits = await effects.recall(search, signal);
      const { recallMessage } = await import("../memory/recall-message.js");
      const message = recallMessage(asked, question, hits, tokens);
      if (message) await log.append({ type: "conversation", message });
    } finally {
      done.abort();
      await timer;
    }
  }

  /** A compaction before it is needed: where it fails and the request still fits, the turn goes on. */
  async #relieve(limit: number, sink: Sink, signal: AbortSignal): Promise<void> {
    const size = this.#parts.log.state.contextTokens;
    if (!this.#parts.log.state.compactable) return;
    try {
      await this.#compact({ limit, window: limit }, sink, signal);
      this.#notBelow = 0;
    } catch (error) {
      if (!AgenticError.is(error, "compaction") || size > limit) throw error;
      this.#notBelow = size * 1.05;
    }
  }

  /** Makes the conversation smaller. Throws AgenticError `compaction` where it cannot be. */
  async reduce(route: Route | undefined, sink: Sink, signal: AbortSignal): Promise<CompactionResult> {
    // What overflowed did not fit, whatever the backend says of its window.
    const size = this.#parts.log.state.contextTokens;
    const limit = route && (await this.#limit(route, signal));
    return this.#compact({ limit: Math.min(size, limit ?? size), window: limit }, sink, signal);
  }

  async #compact(bounds: CompactionBounds, sink: Sink, signal: AbortSignal): Promise<CompactionResult> {
    const { log } = this.#parts;
    sink({ type: "progress", progress: { type: "compacting", tokens: log.state.contextTokens } });
    const { compact } = await import("./compaction.js");
    return compact(this.#parts, bounds, this.#parts.contextConfig, signal);
  }

  /**
   * The model has answered: now it can be asked what it is. Not before, since a backend may have to fetch a model to
   * describe it, and only its stream tells how that gets on.
   */
  answered({ provider, model }: Route): void {
    const key = keyOf(provider, model.name);
    if (this.#descriptions?.has(key)) return;
    // A backend that cannot describe its model answers all the same.
    const asked = provider.describe?.({ name: model.name }).catch(() => undefined);
    if (!asked) return;
    const entry: Described = { said: undefined };
    entry.said = asked.then((description) => {
      entry.description = description;
      entry.said = undefined;
    });
    this.#descriptions ??= new Map();
    this.#descriptions.set(key, entry);
  }

  #limit({ provider, model }: Route, signal: AbortSignal): Limit | Promise<Limit> {
    const { window } = this.#parts.contextConfig;
    if (window !== undefined) return this.#within(window);
    const entry = this.#descriptions?.get(keyOf(provider, model.name));
    if (!entry?.said) return this.#within(entry?.description?.contextWindow);
    return untilAborted(entry.said, signal, cancelled).then(() => this.#within(entry.description?.contextWindow));
  }

  #within(window: Limit): Limit {
    const { budget } = this.#parts.spending;
    if (window === undefined) return budget;
    return budget === undefined ? window : Math.min(window, budget);
  }
}

function keyOf(provider: ModelProvider, model: string): string {
  return `${provider.id} ${model}`;
}

function over(share: number, threshold: number): boolean {
  return threshold > 0 && share > threshold;
}

function cancelled(): AgenticError {
  return new AgenticError("cancelled", "The turn was aborted.", { reason: "aborted" });
}
