import type { ContentPart, JsonValue, Message, ModelOutput } from "@shedkit/types";

/** A text without lone surrogates: each becomes U+FFFD. JSON with them is refused by servers. */
export function wellFormed(text: string): string {
  const self = text as unknown as { isWellFormed(): boolean; toWellFormed(): string }; // ES2024, in Node since 20
  return self.isWellFormed() ? text : self.toWellFormed();
}

/** A JSON value with {@link wellFormed} strings and keys; the same object where nothing had to change. */
export function wellFormedJson<T extends JsonValue | undefined>(value: T): T {
  return mend(value) as T;
}

/** A message with {@link wellFormed} texts; the same object where nothing had to change. */
export function wellFormedMessage(message: Message): Message {
  if (checked.has(message)) return message;
  const mended = mendMessage(message);
  checked.add(mended); // messages of a log do not change, and a long one is sent again and again
  return mended;
}

const checked = new WeakSet<Message>();

function mendMessage(message: Message): Message {
  if (message.type === "assistant") {
    const output = mendOutput(message.output);
    return output === message.output ? message : { ...message, output };
  }
  const content = mendContent(message.content);
  return content === message.content ? message : { ...message, content };
}

function mendContent(content: readonly ContentPart[]): readonly ContentPart[] {
  const mended = content.map((part) => {
    if (part.type !== "text" && part.type !== "resource") return part;
    return mend(part as unknown as JsonValue) as unknown as ContentPart;
  });
  return mended.every((part, i) => part === content[i]) ? content : mended;
}

function mendOutput(output: ModelOutput): ModelOutput {
  // Signed text is sent back as it came or not at all: a changed one would be refused.
  if (output.type === "thinking" || output.type === "opaque" || output.type === "image") return output;
  return mend(output as unknown as JsonValue) as unknown as ModelOutput;
}

function mend(value: JsonValue | undefined): JsonValue | undefined {
  if (typeof value === "string") return wellFormed(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map(mend);
    return items.every((item, i) => item === value[i]) ? value : (items as JsonValue[]);
  }
  let changed = false;
  const entries = Object.entries(value).map(([key, inner]) => {
    const pair = [wellFormed(key), mend(inner)] as const;
    changed ||= pair[0] !== key || pair[1] !== inner;
    return pair;
  });
  return changed ? Object.fromEntries(entries) : value;
}
