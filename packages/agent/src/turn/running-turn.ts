import type { ModelParams } from "@shedkit/provider";
import type { JsonSchema, JsonValue, ModelIdLike, SessionRecord, UserMessage } from "@shedkit/types";
import { configured } from "../config-check.js";
import type { AgentLoop } from "../loop/loop.js";
import type { LoopParts, TurnSpec } from "../loop/state.js";
import type { SessionEngine } from "../settings.js";
import type { Channel } from "./channel.js";
import type { Sink, StreamItem } from "./stream-item.js";
import { recordedError, Turn } from "./turn.js";

/** Settings of one turn. */
export interface TurnOptions {
  /** Aborts the turn. */
  signal?: AbortSignal | undefined;
  /** Instead of the session's model; its fallbacks stay. */
  model?: ModelIdLike | undefined;
  /** Over the session's. */
  params?: ModelParams | undefined;
  /** Instead of `maxInnerIterations`. */
  maxSteps?: number | undefined;
  /** For whoever watches: the observer is told it with the turn's start. The model never sees it. */
  metadata?: { readonly [key: string]: JsonValue } | undefined;
}

/** What starting a turn takes of a session. */
export interface TurnParts extends LoopParts {
  /** The model that answers, and its fallbacks. */
  modelChain: readonly ModelIdLike[];
  engine: SessionEngine | undefined;
  /** Makes the state machine of a turn. */
  loopOf(spec: TurnSpec, sink: Sink): AgentLoop;
}

/** A turn that runs: its loop, what it has shown, and what it will come to. */
export class RunningTurn {
  readonly id: string;
  readonly loop: AgentLoop;
  readonly #parts: TurnParts;
  readonly #show: Sink;
  readonly #channel: Channel<StreamItem> | undefined;
  readonly #signal: AbortSignal | undefined;
  readonly #records: SessionRecord[];
  #over = false;
  #done: Promise<Turn> | undefined;

  constructor(
    parts: TurnParts,
    asked: { prompt: UserMessage | undefined; options: TurnOptions; output: JsonSchema | undefined },
    channel: Channel<StreamItem> | undefined,
    show: Sink,
  ) {
    const { options } = asked;
    const { modelChain } = parts;
    const begun = parts.engine?.turn();
    this.id = begun?.id ?? parts.effects.newId();
    this.#records = [...(begun?.soFar ?? [])];
    this.#over = isEnd(this.#records.at(-1));
    this.#parts = parts;
    this.#show = show;
    this.#channel = channel;
    this.#signal = options.signal;
    const spec: TurnSpec = {
      turnId: this.id,
      prompt: asked.prompt,
      models: options.model === undefined ? modelChain : [options.model, ...modelChain.slice(1)],
      ownModel: options.model !== undefined,
      params: options.params ?? {},
      ...configured({ maxSteps: options.maxSteps ?? parts.config.maxInnerIterations }, undefined, {
        maxSteps: { from: 0 },
      }),
      output: asked.output,
      metadata: options.metadata,
      soFar: begun?.soFar,
    };
    this.loop = parts.loopOf(spec, show);
  }

  /** The finished turn; starts it at the first call. Never rejects. */
  done(onEnd: () => void = () => undefined): Promise<Turn> {
    this.#done ??= this.#run(onEnd);
    return this.#done;
  }

  /** Something was shown while it ran. */
  take(item: StreamItem): void {
    if (item.type === "record") {
      this.#records.push(item.record);
      this.#over = isEnd(item.record);
    }
    this.#channel?.push(item);
  }

  async #run(onEnd: () => void): Promise<Turn> {
    const signal = this.#signal;
    const onAbort = () => this.loop.abort(reasonOf(signal));
    if (signal?.aborted) onAbort();
    else signal?.addEventListener("abort", onAbort, { once: true });
    const outcome = await this.loop.run();
    signal?.removeEventListener("abort", onAbort);
    if (!this.#over && outcome.type === "failed") {
      // The log could not take the failure; it must be shown all the same.
      const error = recordedError(outcome.error);
      this.#show({ type: "record", record: this.#parts.log.stamp({ type: "failedAction", turnId: this.id, error }) });
    }
    onEnd();
    this.#channel?.close();
    return new Turn(this.id, this.#records, outcome);
  }
}

function isEnd(record: SessionRecord | undefined): boolean {
  return record?.type === "failedAction" || record?.type === "summary";
}

function reasonOf(signal: AbortSignal | undefined): string {
  const reason: unknown = signal?.reason;
  return reason instanceof Error ? reason.message : String(reason);
}
