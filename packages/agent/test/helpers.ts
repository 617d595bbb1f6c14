import { FnTool } from "@shedkit/tool";
import { AgenticError, type GenerationErrorKind } from "@shedkit/types";

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

/** Answers "echo: " and its text. */
export function echoTool(): FnTool {
  return new FnTool(
    "echo",
    "Says a text back.",
    { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
    async (args) => `echo: ${args.str("text")}`,
  );
}

export function generationError(kind: GenerationErrorKind, retryable = false): AgenticError {
  return new AgenticError(
    "generation",
    `It failed: ${kind}.`,
    { kind, provider: "scripted", model: "m" },
    { retryable },
  );
}
