import type { ContentPart, Message } from "@shedkit/types";

/**
 * A transcript for a model that takes text alone: images, audio and files become a note of what stood there. Messages
 * without any stay the same objects.
 */
export function withoutMedia(messages: readonly Message[]): Message[] {
  return messages.map((message) => {
    if (message.type === "assistant" || !message.content.some(isMedia)) return message;
    return { ...message, content: message.content.map(noteFor) };
  });
}

/** How many images, audio and files there are in a transcript. */
export function countMedia(messages: readonly Message[]): number {
  let count = 0;
  for (const message of messages) {
    if (message.type !== "assistant") count += message.content.filter(isMedia).length;
  }
  return count;
}

function isMedia(part: ContentPart): boolean {
  return part.type !== "text" && part.type !== "resource";
}

function noteFor(part: ContentPart): ContentPart {
  if (part.type === "text" || part.type === "resource") return part;
  const where = part.source.type === "url" ? ` at ${part.source.url}` : "";
  const name = part.name === undefined ? "" : `${part.name} `;
  return { type: "text", text: `[${part.type} ${name}(${part.mediaType})${where}, which this model cannot see]` };
}
