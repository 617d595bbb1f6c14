import type { MemoryStore } from "@shedkit/store";
import type { JsonValue, Message, SessionId, Usage } from "@shedkit/types";
import type { MemoryConfig } from "../config.js";
import { lineOf } from "../context/compaction.js";
import type { ContextParts } from "../context/context.js";
import { estimateText } from "../context/estimate.js";
import { askInPieces, type SideParts } from "../context/side-model.js";
import { entryText } from "./message.js";

const OBSERVE = `You watch a conversation between a user and an assistant with tools. Note what will matter later: facts, wishes, decisions, names, numbers, what was done and what came of it. Answer with a JSON array of short strings, nothing else.`;
const REFLECT = `You are given notes on a long conversation, and what was concluded from earlier ones. Condense all of it into what will still matter: conclusions, habits, open ends. Answer with a JSON array of short strings, nothing else.`;

export type MemoryParts = SideParts &
  Pick<ContextParts, "log"> & {
    sessionId: SessionId;
    memoryStore: MemoryStore;
    memoryConfig: MemoryConfig;
  };

/** Makes one observation of what was said: a record, the newest also in the memory store. False where none came of it. */
export async function observe(parts: MemoryParts, messages: readonly Message[], signal: AbortSignal): Promise<boolean> {
  const upTo = messages.at(-1)?.id;
  if (upTo === undefined) return false;
  const { texts, usage } = await ask(parts, OBSERVE, messages.map(lineOf), signal);
  if (texts.length === 0) return false;
  const tokenCount = usage.output > 0 ? usage.output : texts.reduce((sum, text) => sum + estimateText(text), 0);
  const observations = texts.map((content) => ({ content }));
  await parts.log.append({ type: "observation", upTo, observations, tokenCount, usage });
  await parts.memoryStore.write(parts.sessionId, "observation", parts.log.state.observation);
  return true;
}

/** Condenses the observations since the last reflection, and that one, into the next. */
export async function reflect(
  parts: MemoryParts,
  observations: readonly (readonly JsonValue[])[],
  signal: AbortSignal,
): Promise<void> {
  const { state } = parts.log;
  const upTo = state.observation?.id;
  if (upTo === undefined) return;
  const notes = [
    ...(state.reflection ? ["Concluded so far:", ...state.reflection.reflections.map(entryText)] : []),
    "Notes:",
    ...observations.flat().map(entryText),
  ];
  const { texts, usage } = await ask(parts, REFLECT, notes, signal);
  if (texts.length === 0) return;
  const reflections = texts.map((summary) => ({ summary }));
  await parts.log.append({ type: "reflection", upTo, reflections, usage });
  await parts.memoryStore.write(parts.sessionId, "reflection", state.reflection);
}

async function ask(
  parts: MemoryParts,
  system: string,
  lines: readonly string[],
  signal: AbortSignal,
): Promise<{ texts: string[]; usage: Usage }> {
  const texts: string[] = [];
  const { usage } = await askInPieces(parts, lines, {
    system,
    say: (piece) => piece,
    join: (_, answer) => {
      texts.push(...parseNotes(answer));
      return answer;
    },
    signal,
  });
  return { texts, usage };
}

/** A JSON array, wherever it stands in the answer; else the lines of a list, or all lines. */
export function parseNotes(answer: string): string[] {
  const [from, to] = [answer.indexOf("["), answer.lastIndexOf("]")];
  if (from >= 0 && to > from) {
    try {
      const value = JSON.parse(answer.slice(from, to + 1)) as JsonValue;
      if (Array.isArray(value)) return value.map(entryText).filter((text) => text.trim() !== "");
    } catch {
      // not JSON after all: the lines are read
    }
  }
  return answer
    .split("\n")
    .map((line) => line.replace(/^\s*(?:[-*•]|\d+[.)])\s+/, "").trim())
    .filter((line) => line !== "" && !line.startsWith("```"));
}
