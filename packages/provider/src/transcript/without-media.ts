import type { ContentPart, Message } from "@shedkit/types";

/** An image, audio or a file. */
type MediaPart = Extract<ContentPart, { source: unknown }>;

/** One of a transcript's images, audio and files. */
export interface Medium {
  /** The same in every request: of its message's id and its place there. */
  readonly name: string;
  readonly part: MediaPart;
}

/**
 * A transcript whose images, audio and files are a note of what stood there: all of them, for a model that takes text
 * alone, or those that `unreadable` names. Messages without any stay the same objects.
 */
export function withoutMedia(messages: readonly Message[], unreadable?: ReadonlySet<string>): readonly Message[] {
  if (unreadable?.size === 0) return messages;
  const why = unreadable === undefined ? "which this model cannot see" : "which could not be read";
  return messages.map((message) => {
    const names = mediaOf(message).map(({ name }) => name);
    if (message.type === "assistant" || !names.some((name) => unreadable?.has(name) ?? true)) return message;
    let n = 0;
    const content = message.content.map((part) => {
      if (!isMedia(part)) return part;
      const name = names[n++] ?? "";
      return unreadable === undefined || unreadable.has(name) ? noteFor(part, why) : part;
    });
    return { ...message, content };
  });
}

/** How many images, audio and files {@link withoutMedia} leaves out. */
export function countMedia(messages: readonly Message[], unreadable?: ReadonlySet<string>): number {
  const all = messages.flatMap(mediaOf);
  return unreadable === undefined ? all.length : all.filter(({ name }) => unreadable.has(name)).length;
}

/** The images, audio and files of a message. */
export function mediaOf(message: Message): Medium[] {
  if (message.type === "assistant") return [];
  return message.content.filter(isMedia).map((part, n) => ({ name: `${message.id}#${n}`, part }));
}

function isMedia(part: ContentPart): part is MediaPart {
  return part.type !== "text" && part.type !== "resource";
}

function noteFor(part: MediaPart, why: string): ContentPart {
  const where = part.source.type === "url" ? ` at ${part.source.url}` : "";
  const name = part.name === undefined ? "" : `${part.name} `;
  return { type: "text", text: `[${part.type} ${name}(${part.mediaType})${where}, ${why}]` };
}
