import type { ModelEvent, ModelProvider, ModelRequest } from "@shedkit/provider";
import { AgenticError, type FinishReason, type ModelOutput, noUsage, type Usage } from "@shedkit/types";
import { drain } from "../abortable.js";
import type { Sink } from "../turn/stream-item.js";
import { countable } from "./countable.js";
import { GRACE_MS, type LoopEffects } from "./effects.js";

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
  takenIds: { has(id: string): boolean };
  sink: Sink;
  /** Warnings that were shown already; those of this call are added. */
  warned: Set<string>;
}

/** Makes one model call, shows its deltas, and collects its blocks. Never throws: a failure is its end. */
export async function generate(options: GenerateOptions): Promise<Generation> {
  const collector = new Collector(options);
  const { effects, provider, request } = options;
  try {
    await drain(effects.generate(provider, request), request.signal, GRACE_MS, (event) => {
      collector.take(event);
      return collector.ended ? "enough" : "more";
    });
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

/**
 * A text that was put together of deltas takes 32 bytes for each of them, until it is first looked into. Returns it, so
 * that the look is not for nothing.
 */
function inOnePiece(text: string): string {
  return text.charCodeAt(0) >= 0 ? text : "";
}

/** A block with nothing in it that anybody needs back. */
function isEmpty(output: ModelOutput): boolean {
  if (output.providerData !== undefined) return false;
  if (output.type === "thinking") return output.text.trim() === "" && !output.signature && !output.redacted;
  return (
    (output.type === "text" && output.text === "" && !output.signature) || (output.type === "refusal" && !output.text)
  );
}

/** What has come of a block so far. */
interface Block {
  /** Of a block that is not finished. */
  kind: "text" | "thinking" | undefined;
  text: string;
  callId: string | undefined;
  output: ModelOutput | undefined;
}

class Collector {
  ended: Extract<ModelEvent, { type: "finish" | "failure" }> | undefined;
  readonly #options: GenerateOptions;
  readonly #blocks: (Block | undefined)[] = [];
  /** From the provider's ids to ours, where they differ. */
  #renamed: Map<string, string> | undefined;
  #usage: Usage = noUsage;
  #shown = false;

  constructor(options: GenerateOptions) {
    this.#options = options;
  }

  take(event: ModelEvent): void {
    const { sink } = this.#options;
    switch (event.type) {
      case "start":
        this.#warn(event.warnings);
        return;
      case "loading": {
        const { type: _type, ...loading } = event;
        sink({ type: "progress", progress: { type: "loadingModel", ...loading } });
        return;
      }
      case "evaluating": {
        const { tokensDone, tokensTotal } = event;
        sink({ type: "progress", progress: { type: "evaluatingPrompt", tokensDone, tokensTotal } });
        return;
      }
      case "textDelta":
        this.#delta("text", event.block, event.text);
        return;
      case "thinkingDelta":
        this.#delta("thinking", event.block, event.text);
        return;
      case "toolCallStart":
        this.#block(event.block).callId = this.#freeId(event.id);
        sink({ type: "progress", progress: { type: "toolCallRequested", name: event.name } });
        return;
      case "toolCallDelta":
        this.#show(event.block, "toolCall", event.json, this.#blocks[event.block]?.callId);
        return;
      case "output": {
        const block = this.#block(event.block);
        block.kind = undefined;
        block.output = this.#own(block, event.output);
        return;
      }
      case "usage": {
        this.#usage = countable(event.usage);
        const tokensSoFar = this.#usage.total;
        sink({
          type: "progress",
          progress: { type: "generating", model: this.#options.request.model.name, tokensSoFar },
        });
        return;
      }
      case "finish":
        this.#warn(event.warnings ?? []);
        this.ended = event;
        return;
      case "failure":
        this.ended = event;
    }
  }

  #warn(warnings: readonly { tool?: string | undefined; message: string }[]): void {
    const { sink, warned, request } = this.#options;
    for (const warning of warnings) {
      const key = `${request.model.name} ${warning.tool ?? ""} ${warning.message}`;
      if (warned.has(key)) continue;
      warned.add(key);
      sink({ type: "progress", progress: { type: "modelWarning", model: request.model.name, ...warning } });
    }
  }

  finish(): Generation {
    const { stepId, provider, request } = this.#options;
    const ended = this.ended;
    const outputs: ModelOutput[] = [];
    for (const block of this.#blocks) {
      const output = block && outputOf(block);
      if (output && !isEmpty(output)) outputs.push(this.#relink(output));
    }
    const common = { stepId, usage: this.#usage, shown: this.#shown };
    if (ended?.type === "finish" && ended.reason !== "aborted") return { ...common, outputs, end: ended };
    // A call out of a broken answer never ran and never will.
    const kept = outputs.filter((output) => output.type !== "toolCall");
    if (ended?.type === "finish") return { ...common, outputs: kept, end: ended };
    const error = ended?.error ?? brokenOff(provider.id, request.model.name);
    return { ...common, outputs: kept, end: { type: "failure", error, retracted: ended?.retracted ?? false } };
  }

  #block(number: number): Block {
    const known = this.#blocks[number];
    if (known) return known;
    const block: Block = { kind: undefined, text: "", callId: undefined, output: undefined };
    this.#blocks[number] = block;
    return block;
  }

  #delta(kind: "text" | "thinking", number: number, text: string): void {
    const block = this.#block(number);
    block.kind ??= kind;
    block.text += text;
    this.#show(number, kind, text);
  }

  #show(block: number, kind: "text" | "thinking" | "toolCall", text: string, toolCallId?: string): void {
    if (text === "") return;
    this.#shown = true;
    const { stepId, sink } = this.#options;
    if (toolCallId === undefined) sink({ type: "delta", stepId, block, kind, text });
    else sink({ type: "delta", stepId, block, kind, text, toolCallId });
  }

  /** Providers repeat the ids of calls; in a session they are unique. */
  #own(block: Block, output: ModelOutput): ModelOutput {
    if (output.type === "text" || output.type === "thinking") inOnePiece(output.text);
    if (output.type !== "toolCall") return output;
    block.callId ??= this.#freeId(output.id);
    const id = block.callId;
    if (id === output.id) return output;
    this.#renamed ??= new Map();
    this.#renamed.set(output.id, id);
    return { ...output, id, providerCallId: output.providerCallId ?? output.id };
  }

  /** Calls of one batch name each other by the provider's ids. */
  #relink(output: ModelOutput): ModelOutput {
    const renamed = this.#renamed;
    if (output.type !== "toolCall" || !output.dependsOn || !renamed) return output;
    return { ...output, dependsOn: output.dependsOn.map((id) => renamed.get(id) ?? id) };
  }

  #freeId(id: string): string {
    const taken =
      id === "" || this.#options.takenIds.has(id) || this.#blocks.some((block) => block && block.callId === id);
    return taken ? this.#options.effects.newId() : id;
  }
}

/** What a block came to; of one that did not come to its end, what there is of it. */
function outputOf({ output, kind, text }: Block): ModelOutput | undefined {
  if (output) return output;
  return kind && text !== "" ? { type: kind, text } : undefined;
}
