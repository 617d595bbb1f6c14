import type { ContentPart, Message } from "@shedkit/types";

const CHARS_PER_TOKEN = 4;
/** What a picture or a sound is taken for. */
const MEDIA_TOKENS = 1000;

/** Tokens of a text, roughly: four characters each. */
export function estimateText(text: string): number {
  return Math.ceil(text.length / CHARS_PER_TOKEN);
}

/** Tokens of a message, roughly. */
export function estimateMessage(message: Message): number {
  if (message.type !== "assistant") return estimateContent(message.content);
  const { output } = message;
  switch (output.type) {
    case "text":
    case "thinking":
    case "refusal":
      return estimateText(output.text);
    case "toolCall":
      return estimateText(output.name) + estimateText(output.rawArguments ?? JSON.stringify(output.arguments ?? {}));
    case "image":
      return MEDIA_TOKENS;
    case "opaque":
      return estimateText(JSON.stringify(output.block));
  }
}

function estimateContent(content: readonly ContentPart[]): number {
  let chars = Math.max(0, content.length - 1); // what joins them
  let media = 0;
  for (const part of content) {
    if (part.type === "text" || part.type === "resource") chars += part.text?.length ?? 0;
    else media++;
  }
  return Math.ceil(chars / CHARS_PER_TOKEN) + media * MEDIA_TOKENS;
}
