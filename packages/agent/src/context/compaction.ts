import { AgenticError, type Message, textOfContent, type Usage } from "@shedkit/types";
import type { ContextConfig } from "../config.js";
import { SUMMARY_ID } from "../log/session-state.js";
import { inTime } from "../time-limit.js";
import type { CompactionResult, ContextParts } from "./context.js";
import { estimateMessage, estimateText } from "./estimate.js";
import { askInPieces, type SideParts } from "./side-model.js";

const INSTRUCTIONS = `You summarise a conversation between a user and an assistant with tools, so that it can go on from your summary alone.
Keep: what the user wants, in their words where that matters; decisions and their reasons; names, paths, numbers and identifiers exactly; what was found, changed and tried; what is still to do.
Leave out pleasantries and the text of files that can be read again. Write plain notes, nothing else.`;

/** In tokens. */
export interface CompactionBounds {
  /** What the conversation must get below a share of. */
  limit: number;
  /** What a request may have, where somebody says. */
  window?: number | undefined;
}

/**
 * Replaces the older part of the conversation by a summary, as a record. Results stay with their calls, and the first
 * message of the running turn stays. Throws AgenticError `compaction` where the outcome would not be below the target,
 * or where nothing new has been said since the last one; the conversation is as it was then.
 */
export async function compact(
  parts: SideParts & Pick<ContextParts, "log" | "tools">,
  { limit, window }: CompactionBounds,
  config: ContextConfig,
  signal: AbortSignal,
): Promise<CompactionResult> {
  const { log, tools } = parts;
  const { state } = log;
  const tokensBefore = state.contextTokens;
  if (!state.compactable) throw cannot("nothing was said since the last compaction", tokensBefore, tokensBefore);
  if (state.openCalls.size > 0) throw cannot("calls wait for leave", tokensBefore, tokensBefore);
  const target = limit * config.compactionTarget;
  const sizes = state.messages.map(estimateMessage);
  const all = Math.max(1, sum(sizes));
  const scale = Math.max(1, tokensBefore / all); // what the provider counted, over what was estimated
  const room = Math.min(config.keepRecentTokens, target / 2) / scale;
  const cut = cutAt(state.messages, sizes, room, (target * 0.75) / scale);
  const dropped = state.messages.slice(0, cut);
  const pinned = state.turnFirst && dropped.includes(state.turnFirst) ? state.turnFirst : undefined;
  const gone = dropped.filter((message) => message !== pinned);
  const kept = sum(sizes.slice(cut)) + (pinned ? estimateMessage(pinned) : 0);
  const least = Math.ceil(kept * scale);
  const question = state.turnFirst ? Math.ceil(estimateMessage(state.turnFirst) * scale) : 0;
  if (question > target) throw tooLong(question, window, tokensBefore);
  if (gone.length === 0 || kept * scale > target) throw cannot("what must stay is too long", tokensBefore, least);
  if (gone.every((message) => message.id.startsWith(SUMMARY_ID))) {
    throw cannot("there is nothing to leave out but the summary", tokensBefore, tokensBefore);
  }
  const longest = Math.min(config.summaryTokens, Math.floor(target / scale - kept));
  const { summary, usage } = await summarise(parts, gone, { longest, timeoutMs: config.summaryTimeoutMs, signal });
  const tokensAfter = Math.ceil((kept + estimateText(summary)) * scale);
  if (tokensAfter > target) throw cannot("the summary is too long", tokensBefore, tokensAfter);
  const firstKept = state.messages[cut]?.id ?? "";
  await log.append({ type: "compaction", firstKept, summary, tokensBefore, tokensAfter, ...(usage && { usage }) });
  const deactivated = tools.trimActive(); // the prefix is new anyway
  if (deactivated.length > 0) await log.append({ type: "deactivated", tools: deactivated });
  return { tokensBefore, tokensAfter };
}

/**
 * Where the part begins that stays: the earliest place within `room` that parts no call from its result. The newest
 * step may take up to `lastRoom`.
 */
function cutAt(messages: readonly Message[], sizes: readonly number[], room: number, lastRoom: number): number {
  let cut = messages.length;
  let size = 0;
  for (let i = messages.length - 1; i > 0; i--) {
    size += sizes[i] ?? 0;
    if (size > (cut === messages.length ? lastRoom : room)) break;
    if (beginsStep(messages[i], messages[i - 1])) cut = i;
  }
  return cut;
}

function beginsStep(message: Message | undefined, before: Message | undefined): boolean {
  if (message?.type === "user") return true;
  return message?.type === "assistant" && !(before?.type === "assistant" && before.stepId === message.stepId);
}

/** What the memory model makes of it; where it fails, what can be said without one. */
async function summarise(
  parts: SideParts,
  messages: readonly Message[],
  { longest, timeoutMs, signal }: { longest: number; timeoutMs: number; signal: AbortSignal },
): Promise<{ summary: string; usage?: Usage }> {
  const lines = messages.map(lineOf);
  const options = {
    system: INSTRUCTIONS,
    maxTokens: longest,
    say: (piece: string, soFar: string) =>
      soFar === "" ? piece : `The summary so far:\n${soFar}\n\nWhat came then:\n${piece}`,
    join: (_: string, summary: string) => summary.trim(),
  };
  try {
    const { answer, usage } = await inTime(parts.effects, timeoutMs, signal, "The summary", (signal) =>
      askInPieces(parts, lines, { ...options, signal }),
    );
    if (answer !== "") return { summary: cutText(answer, longest), usage };
  } catch (error) {
    if (signal.aborted) throw error;
  }
  const text = `No summary could be made. What was said, shortened:\n${lines.map(short).join("\n")}`;
  return { summary: cutText(text, longest) };
}

/** A message as a line of a transcript. */
export function lineOf(message: Message): string {
  if (message.type === "user") return `${message.role}: ${textOfContent(message.content)}`;
  if (message.type === "toolResult") return `${message.name} returned: ${textOfContent(message.content)}`;
  const { output } = message;
  if (output.type === "toolCall") {
    return `assistant called ${output.name} ${output.rawArguments ?? JSON.stringify(output.arguments ?? {})}`;
  }
  return "text" in output ? `assistant (${output.type}): ${output.text}` : `assistant: [${output.type}]`;
}

function short(line: string): string {
  const flat = line.replace(/\s+/g, " ");
  return flat.length > 160 ? `${flat.slice(0, 157)}...` : flat;
}

function cutText(text: string, tokens: number): string {
  const longest = Math.max(0, tokens * 4);
  return text.length <= longest ? text : text.slice(0, longest).replace(/[\uD800-\uDBFF]$/, "");
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, number) => all + number, 0);
}

/** Nothing else matters then: no conversation around it could be short enough. */
function tooLong(question: number, window: number | undefined, before: number): AgenticError {
  const short = window !== undefined && window < question;
  const most = short ? `and the model takes ${window} at once` : "more than the model's window has room for";
  return new AgenticError(
    "compaction",
    `The question is too long for the model: it has about ${question} tokens, ${most}. Ask about less, or take a model with a larger window.`,
    { before, after: question },
  );
}

function cannot(why: string, before: number, after: number): AgenticError {
  return new AgenticError(
    "compaction",
    `The conversation of ${before} tokens cannot be made smaller: ${why}. Begin a new session, or take a model with a larger window.`,
    { before, after },
  );
}
