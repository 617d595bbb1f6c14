import type { AssistantMessage, ContentPart, Message, ToolResultMessage } from "@shedkit/types";
import { wellFormedMessage } from "./well-formed.js";

/** What a transcript is normalised for. */
export interface NormalizeOptions {
  /** Ids of messages that do not count: retracted ones, those of a failed attempt. */
  exclude?: ReadonlySet<string> | undefined;
  /**
   * The model that reads it: what another model thought, signed or sealed, and the sources of its texts, whose form is
   * its wire's, are left out. Default: nothing is.
   */
  model?: string | undefined;
}

/**
 * A transcript that every provider accepts, with the same messages in it where they were in order:
 *
 * - each run of an assistant's blocks is followed by the results of its calls, one each, in the order of the calls;
 *   what was said between a call and its result comes after them
 * - a call without a result gets one that says so; a result without its call is left out, as is a second one
 * - excluded messages, empty texts and empty thinking are left out, thinking that nothing follows too
 * - no lone surrogates
 *
 * Applied twice it does nothing more. It runs in linear time and copies only the messages that it changes.
 */
export function normalizeTranscript(messages: readonly Message[], options: NormalizeOptions = {}): Message[] {
  const kept: Message[] = [];
  const called = new Set<string>();
  const results = new Map<string, ToolResultMessage>();
  for (const message of messages) {
    if (options.exclude?.has(message.id)) continue;
    const clean = wellFormedMessage(message);
    if (clean.type === "toolResult") {
      if (!results.has(clean.toolCallId)) results.set(clean.toolCallId, clean);
    } else if (clean.type === "user") {
      const content = withoutEmptyText(clean.content);
      if (content.length > 0) kept.push(content === clean.content ? clean : { ...clean, content });
    } else if (!isEmptyOutput(clean) && isFor(clean, options.model)) {
      if (isCall(clean)) {
        if (called.has(clean.output.id)) continue;
        called.add(clean.output.id);
      }
      kept.push(withoutForeignSources(clean, options.model));
    }
  }
  return withResults(withoutLooseThinking(kept), results);
}

/** A message that is a tool call. */
type Call = AssistantMessage & { output: { type: "toolCall" } };

/** The result that stands for one that never came. */
export function interruptedResult(call: Call): ToolResultMessage {
  const { id, turnId, stepId, output } = call;
  const text = "The call was interrupted before it had a result. It may have taken effect.";
  return {
    type: "toolResult",
    id: `${id}-interrupted`, // of the call's own id, so that every request says the same
    turnId,
    stepId,
    toolCallId: output.id,
    name: output.name,
    content: [{ type: "text", text }],
    errorDetail: "interrupted",
  };
}

/** A run of assistant's blocks may not end in thinking: what it led to was lost. */
function withoutLooseThinking(messages: readonly Message[]): Message[] {
  const kept: Message[] = [];
  for (const message of messages.toReversed()) {
    const next = kept.at(-1);
    if (isThinking(message) && stepOf(message) !== stepOf(next)) continue;
    kept.push(message);
  }
  return kept.reverse();
}

function withResults(messages: readonly Message[], results: ReadonlyMap<string, ToolResultMessage>): Message[] {
  const out: Message[] = [];
  let calls: Call[] = [];
  const close = (): void => {
    for (const call of calls) out.push(results.get(call.output.id) ?? interruptedResult(call));
    calls = [];
  };
  let step: string | undefined;
  for (const message of messages) {
    if (stepOf(message) !== step) close();
    step = stepOf(message);
    if (isCall(message)) calls.push(message);
    out.push(message);
  }
  close();
  return out;
}

function stepOf(message: Message | undefined): string | undefined {
  return message?.type === "assistant" ? message.stepId : undefined;
}

function isCall(message: Message): message is Call {
  return message.type === "assistant" && message.output.type === "toolCall";
}

function isThinking(message: Message): boolean {
  return message.type === "assistant" && message.output.type === "thinking";
}

function isEmptyOutput({ output }: AssistantMessage): boolean {
  if (output.type === "text") return output.text === "" && output.signature === undefined;
  if (output.type === "refusal") return output.text === "";
  if (output.type !== "thinking") return false;
  return !output.text.trim() && !output.signature && !output.redacted && output.providerData === undefined;
}

/** Thinking belongs to the model that thought it: its signature is checked, and its text would read as an answer. */
function isFor(message: AssistantMessage, model: string | undefined): boolean {
  if (model === undefined || message.model === model) return true;
  return message.output.type !== "thinking" && message.output.type !== "opaque";
}

function withoutForeignSources(message: AssistantMessage, model: string | undefined): AssistantMessage {
  const { output } = message;
  if (model === undefined || message.model === model || output.type !== "text" || !output.citations) return message;
  const { citations: _, ...plain } = output;
  return { ...message, output: plain };
}

function withoutEmptyText(content: readonly ContentPart[]): readonly ContentPart[] {
  const kept = content.filter((part) => part.type !== "text" || part.text !== "");
  return kept.length === content.length ? content : kept;
}
