import { newId } from "./id.js";
import type { JsonValue, ProviderData, ToolArguments } from "./json.js";

/** Where bytes are. Records are JSON, so binary is base64, a URL, or a reference into the store's blobs. */
export type BinarySource =
  | { type: "base64"; data: string }
  | { type: "url"; url: string }
  | { type: "blob"; ref: string; bytes: number };

/** A piece of a user message or of a tool's result. */
export type ContentPart =
  | { type: "text"; text: string; signature?: string | undefined }
  | { type: "image" | "audio" | "file"; source: BinarySource; mediaType: string; name?: string | undefined }
  | { type: "resource"; uri: string; text?: string | undefined; mediaType?: string | undefined };

/** `"sequential"` asks for the calls of its stage to run one after the other. */
export type ExecutionHint = "unspecified" | "sequential";

/** A tool call that a model made. */
export interface ToolCallOutput {
  type: "toolCall";
  /** Ours, unique in the session; providers repeat theirs. */
  id: string;
  providerCallId?: string | undefined;
  name: string;
  arguments?: ToolArguments | undefined;
  /** What came when it was not a JSON object. */
  rawArguments?: string | undefined;
  dependsOn?: readonly string[] | undefined;
  executionHint?: ExecutionHint | undefined;
}

/** One finished block of a model's answer. */
export type ModelOutput = { providerData?: ProviderData | undefined } & (
  | { type: "text"; text: string; signature?: string | undefined; citations?: readonly JsonValue[] | undefined }
  | { type: "thinking"; text: string; signature?: string | undefined; redacted?: string | undefined }
  | { type: "refusal"; text: string }
  | ToolCallOutput
  | { type: "image"; source: BinarySource; mediaType: string }
  /** Server-tool blocks and the like, kept as they came. */
  | { type: "opaque"; provider: string; block: JsonValue }
);

/** What a person (`user`), the host (`system`) or the program (`agent`, as steering) said. */
export interface UserMessage {
  type: "user";
  id: string;
  role: "user" | "system" | "agent";
  content: readonly ContentPart[];
  signature?: string | undefined;
}

/** One block of a model's answer. The blocks of one answer share `stepId`. */
export interface AssistantMessage {
  type: "assistant";
  id: string;
  turnId: string;
  stepId: string;
  model: string;
  output: ModelOutput;
}

/** What a tool call came to. `errorDetail` is present when it failed. */
export interface ToolResultMessage {
  type: "toolResult";
  id: string;
  turnId: string;
  stepId: string;
  toolCallId: string;
  name: string;
  content: readonly ContentPart[];
  errorDetail?: string | undefined;
}

/** One entry of a conversation, the same for every provider. */
export type Message = UserMessage | AssistantMessage | ToolResultMessage;

/** A string is a user's text. */
export type MessageLike = Message | string;

/** Makes messages of one text. */
export const Messages = {
  /** What the person says. */
  user: (text: string): UserMessage => textMessage("user", text),
  /** What the host says. */
  system: (text: string): UserMessage => textMessage("system", text),
  /** What the program says to the model: steering, reminders. */
  agent: (text: string): UserMessage => textMessage("agent", text),
} as const;

/** A {@link MessageLike} as a message: a string becomes a user's text with a new id. */
export function toMessage(message: MessageLike): Message {
  return typeof message === "string" ? Messages.user(message) : message;
}

/** The text of content parts, joined by line feeds; parts that are not text are left out. */
export function textOfContent(content: readonly ContentPart[]): string {
  const [only] = content;
  if (only?.type === "text" && content.length === 1) return only.text;
  return content
    .flatMap((part) => (part.type === "text" ? [part.text] : part.type === "resource" && part.text ? [part.text] : []))
    .join("\n");
}

function textMessage(role: UserMessage["role"], text: string): UserMessage {
  return { type: "user", id: newId(), role, content: [{ type: "text", text }] };
}
