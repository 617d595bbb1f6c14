import { asData } from "@shedkit/tool";

/** How a server's texts are shortened; each is read by a model or shown to a person. */
export const LIMITS = {
  /** A tool's description, in characters. */
  description: 4000,
  /** The description of one argument. */
  argument: 1000,
  /** What a server says of a failure. */
  message: 2000,
  /** A line of progress. */
  progress: 300,
} as const;

/** A server's text as data, and no longer than so many characters. */
export function shortData(text: string, max: number): string {
  if (text.length <= max) return asData(text);
  const head = text.slice(0, max).replace(/[\ud800-\udbff]$/, "");
  return `${asData(head)} [... ${text.length - head.length} characters more]`;
}

/** One line of plain text, for messages to people. */
export function oneLine(text: string, max: number = LIMITS.message): string {
  return shortData(text.slice(0, max * 4), max)
    .replace(/\s+/g, " ")
    .trim();
}
