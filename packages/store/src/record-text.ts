import { type SessionRecord, textOfContent } from "@shedkit/types";

const TITLE_LENGTH = 80;

/** What a record says in words: the text of a message, a summary, facts. */
export function textOfRecord(record: SessionRecord): string {
  switch (record.type) {
    case "conversation": {
      const { message } = record;
      if (message.type !== "assistant") return textOfContent(message.content);
      const { output } = message;
      return output.type === "text" || output.type === "refusal" ? output.text : "";
    }
    case "compaction":
      return record.summary;
    case "workingMemory":
      return JSON.stringify(record.facts);
    case "observation":
      return JSON.stringify(record.observations);
    case "reflection":
      return JSON.stringify(record.reflections);
    default:
      return "";
  }
}

/** A session is called by the first line of what its user said first. */
export function titleOf(record: SessionRecord): string | undefined {
  if (record.type !== "conversation" || record.message.type !== "user" || record.message.role !== "user") return;
  const line = textOfContent(record.message.content).trim().split("\n", 1)[0]?.trim();
  if (!line) return undefined;
  return line.length <= TITLE_LENGTH ? line : `${line.slice(0, TITLE_LENGTH - 3).replace(/[\uD800-\uDBFF]$/, "")}...`;
}

/** Whether the text of a record has `text` in it, whatever the case. */
export function hasText(record: SessionRecord, text: string): boolean {
  return textOfRecord(record).toLowerCase().includes(text.toLowerCase());
}

/** The words of a text, each once, in lower case. */
export function wordsOf(text: string): string[] {
  return [...new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])];
}

/** The share of `words` that `text` has. */
export function scoreText(words: readonly string[], text: string): number {
  if (words.length === 0 || text === "") return 0;
  const lower = text.toLowerCase();
  return words.filter((word) => lower.includes(word)).length / words.length;
}
