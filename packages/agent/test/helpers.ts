import type { ModelProvider } from "@shedkit/provider";
import { ToolShed } from "@shedkit/shed";
import { FnTool, metadataOf, type ToolImpl } from "@shedkit/tool";
import { AgenticError, type GenerationErrorKind, type Message, textOfContent } from "@shedkit/types";
import { AgentSession } from "../src/index.js";

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

/** A builder for a session on the model "m", with the tools given active from the start. */
export function sessionOf(provider: ModelProvider, ...tools: ToolImpl[]) {
  const shed = tools.reduce((all, tool) => all.tool(tool), new ToolShed());
  const names = shed.names();
  return AgentSession.builder(provider)
    .withModel("m")
    .withToolshed(names.length > 0 ? shed.pin(...names) : shed);
}

const textArgument = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };

/** Answers "echo: " and its text. */
export function echoTool(): FnTool {
  return new FnTool("echo", "Says a text back.", textArgument, async (args) => `echo: ${args.str("text")}`);
}

/** A tool that hangs until it is cancelled; `started` resolves when it runs. */
export function hangingTool(name = "hang"): { tool: ToolImpl; started: Promise<void>; cancelled: () => boolean } {
  let start: () => void = () => undefined;
  let cancelled = false;
  const started = new Promise<void>((resolve) => {
    start = resolve;
  });
  const tool: ToolImpl = {
    definition: () => ({
      type: "single",
      definition: { name, category: "test", description: "Hangs.", arguments: { type: "object", properties: {} } },
    }),
    execute: (_, ctx) =>
      new Promise((_resolve, reject) => {
        ctx.signal.addEventListener("abort", () => {
          cancelled = true;
          reject(ctx.signal.reason);
        });
        start();
      }),
  };
  return { tool, started, cancelled: () => cancelled };
}

/** The same tool, said to change nothing, so that its calls run side by side. */
export function readOnly(tool: ToolImpl): ToolImpl {
  const metadata = metadataOf(tool);
  return {
    definition: () => tool.definition(),
    execute: (args, ctx) => tool.execute(args, ctx),
    metadata: { ...metadata, capabilities: { ...metadata.capabilities, readOnly: true } },
  };
}

export function generationError(kind: GenerationErrorKind, retryable = false): AgenticError {
  return new AgenticError(
    "generation",
    `It failed: ${kind}.`,
    { kind, provider: "scripted", model: "m" },
    { retryable },
  );
}

/** A conversation in short: who says what. */
export function transcript(messages: readonly Message[]): string[] {
  return messages.map((message) => {
    if (message.type === "user") return `${message.role}: ${textOfContent(message.content)}`;
    if (message.type === "toolResult") return `${message.name} -> ${textOfContent(message.content)}`;
    const { output } = message;
    if (output.type === "toolCall") return `call ${output.name}`;
    return `${output.type}: ${"text" in output ? output.text : ""}`;
  });
}

/** Throws where a call has no result right behind its step, or a result no call. */
export function checkValid(messages: readonly Message[]): void {
  const open: string[] = [];
  for (const message of messages) {
    if (message.type === "toolResult") {
      const expected = open.shift();
      if (expected !== message.toolCallId) throw new Error(`result of ${message.toolCallId}, expected ${expected}`);
    } else if (message.type === "assistant" && message.output.type === "toolCall") open.push(message.output.id);
    else if (open.length > 0) throw new Error(`no result for ${open.join(", ")}`);
  }
  if (open.length > 0) throw new Error(`no result for ${open.join(", ")} at the end`);
}
