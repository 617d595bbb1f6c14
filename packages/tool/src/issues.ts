import type { SchemaIssue } from "./schema.js";

const SHOWN = 60;

/** A value as a person would name it in a sentence: its kind and, where it is short, itself. */
export function showValue(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (typeof value === "bigint") return `the integer ${value}`;
  if (typeof value === "string") return `the string ${shorten(JSON.stringify(value.slice(0, SHOWN + 1)))}`;
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === "object") {
    const keys = Object.keys(value);
    return keys.length === 0 ? "an empty object" : `an object with ${shorten(keys.slice(0, 8).join(", "))}`;
  }
  return `the ${typeof value} ${String(value)}`;
}

/** What does not fit, one line each, as a model can act on it. */
export function showIssues(issues: readonly SchemaIssue[]): string {
  const lines = issues
    .slice(0, MAX_LINES)
    .map((issue) => `- ${issue.path === "" ? "the arguments" : issue.path}: ${issue.message}`);
  if (issues.length > MAX_LINES) lines.push(`- and ${issues.length - MAX_LINES} more`);
  return lines.join("\n");
}

const MAX_LINES = 12;

function shorten(text: string): string {
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}...` : text;
}
