import type { ModelRequest } from "@shedkit/provider";
import {
  type AgenticError,
  type FinishReason,
  type ModelOutput,
  noUsage,
  type ToolArguments,
  type Usage,
} from "@shedkit/types";
import type { Gate } from "./gate.js";

/** A piece of an answer. A string is text; pieces of text next to each other are one block. */
export type ScriptedPart =
  | string
  | { thinking: string; signature?: string | undefined }
  /** A tool call. `raw` is sent as the arguments' text instead of `arguments`: for what is not JSON. */
  | {
      call: string;
      arguments?: ToolArguments | undefined;
      raw?: string | undefined;
      id?: string | undefined;
    }
  /** A finished block with no deltas: an image, a refusal, an opaque block. */
  | { output: ModelOutput }
  /** Waits until the test opens the gate, or the request is aborted. */
  | { wait: Gate }
  /** What was begun is closed, and the answer ends in this failure. */
  | { fail: AgenticError; retracted?: boolean | undefined }
  | { loading: number; total?: number | undefined }
  /** So many of `total` tokens of the prompt are read. */
  | { evaluating: number; total: number };

/** An answer with more to say than its parts. */
export interface ScriptedStep {
  parts: readonly ScriptedPart[];
  /** Default: 10 tokens of input and one of output for each chunk. */
  usage?: Partial<Usage> | undefined;
  /** Default: `toolUse` when there is a call, else `stop`. */
  finish?: FinishReason | undefined;
  warnings?: readonly { tool?: string | undefined; message: string }[] | undefined;
}

/** One answer. */
export type ScriptedAnswer = ScriptedPart | readonly ScriptedPart[] | ScriptedStep;

/** The answer to request number `index` (from 0). */
export type ScriptedReply = (request: ModelRequest, index: number) => ScriptedAnswer | Promise<ScriptedAnswer>;

/** Any answer as a step. */
export function toStep(answer: ScriptedAnswer): ScriptedStep {
  if (isParts(answer)) return { parts: answer };
  if (typeof answer === "object" && "parts" in answer) return answer;
  return { parts: [answer] };
}

/** The text of a call's arguments, as a model would write it. */
export function argumentsText(part: { arguments?: ToolArguments | undefined; raw?: string | undefined }): string {
  return part.raw ?? JSON.stringify(part.arguments ?? {});
}

/** What an answer reports: what the script says, else 10 tokens of input and `deltas` of output. */
export function usageOf(given: Partial<Usage> | undefined, deltas: number): Usage {
  const usage: Usage = { ...noUsage, input: 10, output: deltas, ...given };
  return { ...usage, total: given?.total ?? usage.input + usage.output + usage.cacheRead + usage.cacheWrite };
}

/** Splits a text into pieces of `size` UTF-16 units, never within a code point. */
export function chunks(text: string, size: number): string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length; ) {
    let end = Math.min(text.length, at + Math.max(1, size));
    if (end < text.length && isLowSurrogate(text.charCodeAt(end))) end++;
    pieces.push(text.slice(at, end));
    at = end;
  }
  return pieces;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

function isParts(answer: ScriptedAnswer): answer is readonly ScriptedPart[] {
  return Array.isArray(answer);
}
