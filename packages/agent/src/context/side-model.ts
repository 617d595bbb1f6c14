import type { ModelRequest } from "@shedkit/provider";
import { AgenticError, addUsage, Messages, noUsage, type Usage } from "@shedkit/types";
import { untilAborted } from "../abortable.js";
import { generate } from "../loop/generation.js";
import type { ContextParts } from "./context.js";
import { estimateText } from "./estimate.js";

/** What a memory model is taken to have where nobody says, in tokens. */
const WINDOW = 32_000;

export type SideParts = Pick<ContextParts, "effects" | "spending" | "memoryModel" | "resolve" | "observe">;

/**
 * Asks the memory model about a text that may be longer than its window, a piece at a time; `say` makes the question of
 * a piece and the answer so far, `join` the answer so far of the two. Throws what the model fails with.
 */
export async function askInPieces(
  parts: SideParts,
  lines: readonly string[],
  options: {
    system: string;
    maxTokens?: number | undefined;
    say(piece: string, soFar: string): string;
    join(soFar: string, answer: string): string;
    signal: AbortSignal;
  },
): Promise<{ answer: string; usage: Usage }> {
  const { signal, system, maxTokens } = options;
  const { provider, model } = await parts.resolve(parts.memoryModel, signal);
  await parts.spending.checkModel(model.name);
  const described = provider.describe?.({ name: model.name }).catch(() => undefined) ?? Promise.resolve(undefined);
  const ended = () => AgenticError.from(signal.reason);
  const window = (await untilAborted(described, signal, ended))?.contextWindow ?? WINDOW;
  let soFar = "";
  let usage: Usage = noUsage;
  for (const piece of pieces(lines, Math.max(1000, window / 2) * 4)) {
    const request: ModelRequest = {
      model,
      system,
      messages: [Messages.user(options.say(piece, soFar))],
      tools: { tools: [], activations: [] },
      params: maxTokens === undefined ? {} : { maxTokens },
      signal,
    };
    await parts.spending.checkRequest(estimateText(piece) + (maxTokens ?? 0));
    const stepId = parts.effects.newId();
    parts.observe?.({ type: "modelCallStarted", stepId, provider: provider.id, request });
    const takenIds = new Set<string>();
    const { effects } = parts;
    const { outputs, end, ...made } = await generate({
      effects,
      provider,
      request,
      stepId,
      takenIds,
      sink: () => undefined,
      warned: new Set(),
    });
    usage = addUsage(usage, made.usage);
    const ended = end.type === "finish" ? { finish: end.reason } : { error: end.error };
    parts.observe?.({ type: "modelCallEnded", stepId, outputs, usage: made.usage, ...ended });
    await parts.spending.record(made.usage);
    if (end.type === "failure") throw end.error;
    const text = outputs.map((output) => (output.type === "text" ? output.text : "")).join("");
    signal.throwIfAborted();
    soFar = options.join(soFar, text);
  }
  return { answer: soFar, usage };
}

function* pieces(lines: readonly string[], size: number): Generator<string, void, void> {
  let piece = "";
  for (const line of lines) {
    if (piece !== "" && piece.length + line.length > size) {
      yield piece;
      piece = "";
    }
    piece += `${line.length > size ? `${line.slice(0, size)} ...` : line}\n`;
  }
  if (piece !== "") yield piece;
}
