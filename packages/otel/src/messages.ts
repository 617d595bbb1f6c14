import { type ContentPart, type Message, type ModelOutput, textOfContent } from "@shedkit/types";

/** A message as the GenAI conventions write it. */
interface GenAiMessage {
  role: "user" | "system" | "assistant" | "tool";
  parts: readonly object[];
}

/** The conversation that a model is sent. The blocks of one step are one message, and so are results in a row. */
export function inputMessages(messages: readonly Message[]): GenAiMessage[] {
  const written: { role: GenAiMessage["role"]; step: string; parts: object[] }[] = [];
  for (const message of messages) {
    const role = roleOf(message);
    const step = message.type === "user" ? message.id : message.stepId;
    const last = written.at(-1);
    if (last?.role === role && last.step === step) last.parts.push(...partsOf(message));
    else written.push({ role, step, parts: partsOf(message) });
  }
  return written.map(({ role, parts }) => ({ role, parts }));
}

/** What a model answered. */
export function outputMessages(outputs: readonly ModelOutput[], finish: string): object[] {
  return [{ role: "assistant", parts: outputs.map(outputPart), finish_reason: finish }];
}

function roleOf(message: Message): GenAiMessage["role"] {
  if (message.type === "assistant") return "assistant";
  if (message.type === "toolResult") return "tool";
  return message.role === "user" ? "user" : "system";
}

function partsOf(message: Message): object[] {
  switch (message.type) {
    case "assistant":
      return [outputPart(message.output)];
    case "toolResult":
      return [{ type: "tool_call_response", id: message.toolCallId, response: textOfContent(message.content) }];
    case "user":
      return message.content.map(contentPart);
  }
}

function contentPart(part: ContentPart): object {
  if (part.type === "text") return { type: "text", content: part.text };
  if (part.type === "resource") return { type: "text", content: part.text ?? part.uri };
  return { type: part.type, mime_type: part.mediaType }; // the bytes would be too many for a span
}

function outputPart(output: ModelOutput): object {
  switch (output.type) {
    case "text":
    case "refusal":
      return { type: "text", content: output.text };
    case "thinking":
      return { type: "reasoning", content: output.text };
    case "toolCall":
      return {
        type: "tool_call",
        id: output.id,
        name: output.name,
        arguments: output.rawArguments ?? output.arguments ?? {},
      };
    case "image":
      return { type: "image", mime_type: output.mediaType };
    case "opaque":
      return { type: "opaque" };
  }
}
