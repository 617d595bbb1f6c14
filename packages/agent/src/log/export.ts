import type { Secret } from "@shedkit/provider";
import type { DocumentStore } from "@shedkit/store";
import { AgenticError, type ContentPart, type SessionId, type SessionRecord, textOfContent } from "@shedkit/types";

/** How a session is exported. */
export interface ExportOptions {
  format: "jsonl" | "markdown";
  /** What must not be in the export: keys, passwords. */
  secrets?: readonly (string | Secret)[] | undefined;
}

const MASK = "[secret]";

/** What the keys of well-known services look like, and keys in general where they are named. */
const KEYS: readonly RegExp[] = [
  /\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}/g,
  /\b(?:ghp|gho|ghu|ghs|ghr|github_pat)_[A-Za-z0-9_]{20,}/g,
  /\bhf_[A-Za-z0-9]{20,}/g,
  /\bxox[abprs]-[A-Za-z0-9-]{10,}/g,
  /\bA(?:KIA|SIA)[A-Z0-9]{16}\b/g,
  /\bAIza[A-Za-z0-9_-]{30,}/g,
  /\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}/g,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?-----END [A-Z ]*PRIVATE KEY-----/g,
  /(?<=\bBearer\s)[A-Za-z0-9._~+/-]{16,}=*/g,
];

/** A session's log as text, in pieces that end with a line feed. */
export async function* exportLog(
  store: DocumentStore,
  sessionId: SessionId,
  options: ExportOptions,
): AsyncGenerator<string, void, void> {
  if (options.format !== "jsonl" && options.format !== "markdown") throw unknownFormat(options.format);
  const mask = masker(options.secrets ?? []);
  if (options.format === "markdown") yield `# Session ${sessionId}\n`;
  const retracted = options.format === "markdown" ? await retractedIn(store, sessionId) : new Set<string>();
  for await (const { record } of store.read(sessionId)) {
    const clean = masked(record, mask) as SessionRecord; // before it is written out: that quotes and breaks lines
    if (options.format === "jsonl") yield `${JSON.stringify(clean)}\n`;
    else {
      const text = markdown(clean, retracted);
      if (text !== undefined) yield `\n${text}\n`;
    }
  }
}

function unknownFormat(format: unknown): AgenticError {
  const message = `A session is exported as "jsonl" or "markdown", not as ${JSON.stringify(format)}.`;
  return new AgenticError("session", message, { reason: "unknown format" });
}

function masker(secrets: readonly (string | Secret)[]): (text: string) => string {
  // A text may be JSON, and hold the secret as JSON writes it. The longest first: one may be the beginning of another.
  const known = secrets
    .map((secret) => (typeof secret === "string" ? secret : secret.reveal()))
    .filter((secret) => secret !== "")
    .flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)])
    .sort((a, b) => b.length - a.length);
  return (text) => {
    let clean = text;
    for (const secret of known) clean = clean.replaceAll(secret, MASK);
    for (const pattern of KEYS) clean = clean.replace(pattern, MASK);
    return clean;
  };
}

/** The same value with every text in it masked, keys included; what is not text stays as it is. */
function masked(value: unknown, mask: (text: string) => string): unknown {
  if (typeof value === "string") return mask(value);
  if (Array.isArray(value)) return value.map((item) => masked(item, mask));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [mask(key), masked(item, mask)]));
}

async function retractedIn(store: DocumentStore, sessionId: SessionId): Promise<Set<string>> {
  const ids = new Set<string>();
  for await (const { record } of store.read(sessionId)) {
    if (record.type === "retracted") for (const id of record.messageIds) ids.add(id);
  }
  return ids;
}

function markdown(record: SessionRecord, retracted: ReadonlySet<string>): string | undefined {
  switch (record.type) {
    case "conversation":
      return retracted.has(record.message.id) ? undefined : messageMarkdown(record.message);
    case "failedAction":
      return `> **Failed:** ${record.error.message}`;
    case "compaction":
      return `> **Compacted.** ${quoted(record.summary)}`;
    case "modelSwitched":
      return `> Model: ${record.from} -> ${record.to} (${record.reason})`;
    default:
      return undefined;
  }
}

function messageMarkdown(message: Extract<SessionRecord, { type: "conversation" }>["message"]): string | undefined {
  switch (message.type) {
    case "user":
      return `## ${message.role === "user" ? "User" : message.role === "system" ? "System" : "Program"}\n\n${contentMarkdown(message.content)}`;
    case "toolResult":
      return `**${message.name}**${message.errorDetail === undefined ? "" : " (failed)"}\n\n${fenced(contentMarkdown(message.content))}`;
    case "assistant": {
      const { output } = message;
      if (output.type === "text" || output.type === "refusal") return `## Assistant\n\n${output.text}`;
      if (output.type === "thinking") return output.text === "" ? undefined : `> *Thinking:* ${quoted(output.text)}`;
      if (output.type !== "toolCall") return `*${output.type}*`;
      const args = output.rawArguments ?? JSON.stringify(output.arguments ?? {}, null, 2);
      return `**Call ${output.name}**\n\n${fenced(args, "json")}`;
    }
  }
}

function contentMarkdown(content: readonly ContentPart[]): string {
  const others = content.flatMap((part) =>
    part.type === "text" || part.type === "resource" ? [] : [`*${part.type}*`],
  );
  return [textOfContent(content), ...others].filter((text) => text !== "").join("\n\n");
}

/** A fence longer than any in the text, so that the text cannot end it. */
function fenced(text: string, language = ""): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((run) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}

function quoted(text: string): string {
  return text.replaceAll("\n", "\n> ");
}
