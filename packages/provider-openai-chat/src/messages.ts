import type { ModelRequest } from "@shedkit/provider";
import { argumentsObject, withoutRepeats } from "@shedkit/provider/adapter";
import type { ToolCompiler } from "@shedkit/provider/schema";
import {
  alternateTurns,
  idRules,
  normalizeTranscript,
  WireIds,
  wellFormed,
  withoutMedia,
} from "@shedkit/provider/transcript";
import type {
  AssistantMessage,
  BinarySource,
  ContentPart,
  JsonValue,
  ToolArguments,
  ToolResultMessage,
  UserMessage,
} from "@shedkit/types";

/** A message of the request's body. */
export type WireMessage = { [key: string]: JsonValue };

/** What a server wants of messages beyond the documents; known from what it refuses. */
export interface Quirks {
  /** Ids of calls have nine letters and digits: Mistral. */
  readonly shortIds: boolean;
  /** A result names its tool. */
  readonly toolNames: boolean;
  /** The text beside calls is empty, not null. */
  readonly emptyText: boolean;
  /** The assistant says something between results and what the user says: Mistral. */
  readonly answerFirst: boolean;
  /** A conversation with calls declares tools, also where none is to be called. */
  readonly declareTools: boolean;
  /** The model takes text alone. */
  readonly textOnly: boolean;
}

/** What the messages of a request depend on. */
export interface MessageOptions {
  /** The backend's id, which provider data is kept under. */
  provider: string;
  /**
   * Whether messages of any role may stand anywhere, as with OpenAI. Many chat templates want the user and the assistant
   * by turns, and no system message between.
   */
  anyOrder: boolean;
  quirks: Quirks;
  /** Names of images and files that the server cannot read. */
  unreadable: ReadonlySet<string>;
  names: Pick<ToolCompiler, "toWire">;
  encode(name: string, args: ToolArguments): ToolArguments;
}

/** The conversation as the wire takes it. */
export function wireMessages(request: ModelRequest, options: MessageOptions): WireMessage[] {
  const { quirks } = options;
  const ids = new WireIds(quirks.shortIds ? idRules.mistral : idRules.openaiChat);
  const out: WireMessage[] = [];
  if (request.system) out.push({ role: "system", content: wellFormed(request.system) });
  const normal = normalizeTranscript(request.messages, { model: request.model.name });
  const readable = withoutMedia(normal, quirks.textOnly ? undefined : options.unreadable);
  for (const turn of alternateTurns(withoutRepeats(readable, request.tools))) {
    if (turn.role === "assistant") {
      for (const step of steps(turn.messages)) out.push(...assistantMessages(step, ids, options));
    } else {
      if (turn.messages.length === 0 && !options.anyOrder) out.push(EARLIER);
      out.push(...userMessages(turn.messages, ids, options));
    }
  }
  return options.anyOrder ? out : byTurns(out);
}

/** In front of a conversation that was cut. */
const EARLIER: WireMessage = { role: "user", content: "(The conversation began earlier.)" };

/** Neighbours of one role as one message. */
function byTurns(messages: readonly WireMessage[]): WireMessage[] {
  const out: WireMessage[] = [];
  for (const message of messages) {
    const last = out.at(-1);
    if (last === undefined || last.role !== message.role || !(last.role === "user" || last.role === "assistant")) {
      out.push(message);
    } else {
      out[out.length - 1] = { ...last, ...message, content: joined(last.content ?? null, message.content ?? null) };
    }
  }
  return out;
}

function joined(a: JsonValue, b: JsonValue): JsonValue {
  if (a === null || a === "") return b;
  if (b === null || b === "") return a;
  if (typeof a === "string" && typeof b === "string") return `${a}\n\n${b}`;
  return [a, b].flatMap((content) => (typeof content === "string" ? [{ type: "text", text: content }] : content));
}

/** Blocks of one answer are one message. */
function steps(messages: readonly AssistantMessage[]): AssistantMessage[][] {
  const out: AssistantMessage[][] = [];
  for (const message of messages) {
    const last = out.at(-1);
    if (last?.[0]?.stepId === message.stepId) last.push(message);
    else out.push([message]);
  }
  return out;
}

function assistantMessages(step: readonly AssistantMessage[], ids: WireIds, options: MessageOptions): WireMessage[] {
  const calls: JsonValue[] = [];
  let text = "";
  let thinking: WireMessage = {};
  for (const { output } of step) {
    if (output.type === "text" || output.type === "refusal") text += output.text;
    else if (output.type === "thinking")
      thinking = { ...thinking, ...thinkingFields(output, thinking, options.provider) };
    else if (output.type === "toolCall") {
      const args = options.encode(output.name, argumentsObject(output));
      const name = options.names.toWire(output.name);
      const id = ids.toWire(output.id);
      calls.push({ id, type: "function", function: { name, arguments: JSON.stringify(args) } });
    }
  }
  if (text === "" && calls.length === 0) return [];
  const content = text === "" && !options.quirks.emptyText ? null : text;
  if (calls.length === 0) return [{ role: "assistant", content }];
  // What was thought before calls goes back with them; servers that want none of it ignore it.
  return [{ role: "assistant", content, ...thinking, tool_calls: calls }];
}

/** Thinking in the field it came in; none where it came in the text. */
function thinkingFields(
  output: Extract<AssistantMessage["output"], { type: "thinking" }>,
  before: WireMessage,
  provider: string,
): WireMessage {
  const data = output.providerData?.[provider] as { field?: string; details?: JsonValue[] } | undefined;
  if (data?.details !== undefined) {
    return { reasoning_details: [...((before.reasoning_details as JsonValue[] | undefined) ?? []), ...data.details] };
  }
  if (data?.field === undefined) return {};
  return { [data.field]: `${(before[data.field] as string | undefined) ?? ""}${output.text}` };
}

function userMessages(
  messages: readonly (UserMessage | ToolResultMessage)[],
  ids: WireIds,
  options: MessageOptions,
): WireMessage[] {
  const results: WireMessage[] = [];
  const said: WireMessage[] = [];
  for (const message of messages) {
    if (message.type === "toolResult") {
      const name = options.quirks.toolNames ? { name: options.names.toWire(message.name) } : {};
      results.push({
        role: "tool",
        tool_call_id: ids.toWire(message.toolCallId),
        ...name,
        content: resultText(message),
      });
      const rest = message.content.filter((part) => isMedia(part));
      if (rest.length > 0) {
        // A tool message takes text alone, so what a tool showed comes as the user's, behind the whole batch.
        const note = { type: "text", text: `From the result of ${message.name}:` };
        said.push({ role: "user", content: [note, ...rest.map(wirePart)] });
      }
    } else {
      const role = message.role === "user" || !options.anyOrder ? "user" : "system";
      said.push({ role, content: wireContent(message.content) });
    }
  }
  const between = results.length > 0 && said.length > 0 && options.quirks.answerFirst ? [SEEN] : [];
  return [...results, ...between, ...said];
}

const SEEN: WireMessage = { role: "assistant", content: "I have the results." };

function resultText({ content, errorDetail }: ToolResultMessage): string {
  const text = content
    .filter((part) => !isMedia(part))
    .map(plainText)
    .join("\n");
  const shown = text === "" ? (content.length > 0 ? "(see below)" : "(no output)") : text;
  return errorDetail === undefined || shown.startsWith("Error: ") ? shown : `Error: ${shown}`;
}

function wireContent(content: readonly ContentPart[]): JsonValue {
  if (content.every((part) => !isMedia(part)) && content.length === 1) return content.map(plainText).join("");
  return content.map(wirePart);
}

function wirePart(part: ContentPart): JsonValue {
  if (part.type === "image") {
    const url = urlOf(part.source, part.mediaType);
    if (url !== undefined) return { type: "image_url", image_url: { url } };
  } else if (part.type === "audio" && part.source.type === "base64") {
    const format = /wav/.test(part.mediaType) ? "wav" : "mp3";
    return { type: "input_audio", input_audio: { data: part.source.data, format } };
  } else if (part.type === "file" && part.source.type === "base64") {
    const file_data = `data:${part.mediaType};base64,${part.source.data}`;
    return { type: "file", file: { filename: part.name ?? "file", file_data } };
  }
  return { type: "text", text: plainText(part) };
}

function urlOf(source: BinarySource, mediaType: string): string | undefined {
  if (source.type === "url") return source.url;
  return source.type === "base64" ? `data:${mediaType};base64,${source.data}` : undefined;
}

/** Whether a part goes over the wire as something else than text. */
function isMedia(part: ContentPart): boolean {
  if (part.type === "image") return part.source.type !== "blob";
  return (part.type === "audio" || part.type === "file") && part.source.type === "base64";
}

function plainText(part: ContentPart): string {
  if (part.type === "text") return part.text;
  if (part.type === "resource") return part.text ?? `[resource ${part.uri}]`;
  const where = part.source.type === "url" ? ` at ${part.source.url}` : "";
  return `[${part.type} ${part.name ?? ""}(${part.mediaType})${where}, not shown]`;
}
