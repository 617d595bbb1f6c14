import type { ModelEvent, ModelProvider, ModelRequest } from "@shedkit/provider";
import { AgenticError, type FinishReason, type ModelOutput, noUsage, type Usage } from "@shedkit/types";
import type { LoopEffects } from "./effects.js";
import type { Sink } from "./stream-item.js";

/** What came of one model call. */
export interface Generation {
  readonly stepId: string;
  /** In the order of their blocks. Of a broken stream: what there was, without its calls. */
  readonly outputs: readonly ModelOutput[];
  readonly usage: Usage;
  readonly end: { type: "finish"; reason: FinishReason } | { type: "failure"; error: AgenticError; retracted: boolean };
  /** Whether any of it was shown as deltas. */
  readonly shown: boolean;
}

export interface GenerateOptions {
  effects: Pick<LoopEffects, "generate" | "newId">;
  provider: ModelProvider;
  request: ModelRequest;
  stepId: string;
  /** Ids that calls may not have any more. */
  takenIds: ReadonlySet<string>;
  sink: Sink;
}

/** Makes one model call, shows its deltas, and collects its blocks. Never throws: a failure is its end. */
export async function generate(options: GenerateOptions): Promise<Generation> {
  const collector = new Collector(options);
  try {
    for await (const event of options.effects.generate(options.provider, options.request)) {
      collector.take(event);
      if (collector.ended) break;
    }
  } catch (error) {
    collector.take({ type: "failure", error: AgenticError.from(error) });
  }
  return collector.finish();
}

/** The answer ended before it was complete, and nobody said why. */
export function brokenOff(provider: string, model: string): AgenticError {
  return new AgenticError(
    "generation",
    `The answer of "${model}" broke off: its provider "${provider}" ended the stream early.`,
    { kind: "network", provider, model },
    { retryable: true },
  );
}

/** A block with nothing in it that anybody needs back. */
function isEmpty(output: ModelOutput): boolean {
  if (output.providerData !== undefined) return false;
  if (output.type === "thinking") return output.text.trim() === "" && !output.signature && !output.redacted;
  return (
    (output.type === "text" && output.text === "" && !output.signature) || (output.type === "refusal" && !output.text)
  );
}

class Collector {
  ended: Extract<ModelEvent, { type: "finish" | "failure" }> | undefined;
  readonly #options: GenerateOptions;
  readonly #blocks: (ModelOutput | undefined)[] = [];
  /** Text of the blocks that are not finished. */
  readonly #open = new Map<number, { type: "text" | "thinking"; text: string }>();
  readonly #callIds = new Map<number, string>();
  /** From the provider's ids to ours, where they differ. */
  readonly #renamed = new Map<string, string>();
  #usage: Usage = noUsage;
  #shown = false;

  constructor(options: GenerateOptions) {
    this.#options = options;
  }

  take(event: ModelEvent): void {
    const { sink } = this.#options;
    switch (event.type) {
      case "start":
        return;
      case "loading": {
        const { type: _type, ...loading } = event;
        sink({ type: "progress", progress: { type: "loadingModel", ...loading } });
        return;
      }
      case "textDelta":
        this.#delta("text", event.block, event.text);
        return;
      case "thinkingDelta":
        this.#delta("thinking", event.block, event.text);
        return;
      case "toolCallStart":
        this.#callIds.set(event.block, this.#freeId(event.id));
        sink({ type: "progress", progress: { type: "toolCallRequested", name: event.name } });
        return;
      case "toolCallDelta": {
        const toolCallId = this.#callIds.get(event.block);
        this.#show(event.block, "toolCall", event.json, toolCallId);
        return;
      }
      case "output":
        this.#open.delete(event.block);
        this.#blocks[event.block] = this.#own(event.block, event.output);
        return;
      case "usage": {
        this.#usage = event.usage;
        const tokensSoFar = event.usage.total;
        sink({
          type: "progress",
          progress: { type: "generating", model: this.#options.request.model.name, tokensSoFar },
        });
        return;
      }
      case "finish":
      case "failure":
        this.ended = event;
    }
  }

  finish(): Generation {
    const { stepId, provider, request } = this.#options;
    const ended = this.ended;
    for (const [block, { type, text }] of this.#open) if (text !== "") this.#blocks[block] ??= { type, text };
    const outputs = this.#blocks.flatMap((output) => (output && !isEmpty(output) ? [this.#relink(output)] : []));
    const common = { stepId, usage: this.#usage, shown: this.#shown };
    if (ended?.type === "finish" && ended.reason !== "aborted") return { ...common, outputs, end: ended };
    // A call out of a broken answer never ran and never will.
    const kept = outputs.filter((output) => output.type !== "toolCall");
    if (ended?.type === "finish") return { ...common, outputs: kept, end: ended };
    const error = ended?.error ?? brokenOff(provider.id, request.model.name);
    return { ...common, outputs: kept, end: { type: "failure", error, retracted: ended?.retracted ?? false } };
  }

  #delta(type: "text" | "thinking", block: number, text: string): void {
    const open = this.#open.get(block);
    if (open) open.text += text;
    else this.#open.set(block, { type, text });
    this.#show(block, type, text);
  }

  #show(block: number, kind: "text" | "thinking" | "toolCall", text: string, toolCallId?: string): void {
    if (text === "") return;
    this.#shown = true;
    const { stepId, sink } = this.#options;
    sink({ type: "delta", stepId, block, kind, text, ...(toolCallId !== undefined && { toolCallId }) });
  }

  /** Providers repeat the ids of calls; in a session they are unique. */
  #own(block: number, output: ModelOutput): ModelOutput {
    if (output.type !== "toolCall") return output;
    const id = this.#callIds.get(block) ?? this.#freeId(output.id);
    this.#callIds.set(block, id);
    if (id === output.id) return output;
    this.#renamed.set(output.id, id);
    return { ...output, id, providerCallId: output.providerCallId ?? output.id };
  }

  /** Calls of one batch name each other by the provider's ids. */
  #relink(output: ModelOutput): ModelOutput {
    if (output.type !== "toolCall" || !output.dependsOn || this.#renamed.size === 0) return output;
    return { ...output, dependsOn: output.dependsOn.map((id) => this.#renamed.get(id) ?? id) };
  }

  #freeId(id: string): string {
    const taken = id === "" || this.#options.takenIds.has(id) || [...this.#callIds.values()].includes(id);
    return taken ? this.#options.effects.newId() : id;
  }
}
