import type { AssistantMessage, ContentPart, Message, ToolResultMessage } from "@shedkit/types";
import { beginningOf } from "./call-events.js";
import type { TemplateCall, TemplateMessage } from "./chat-template.js";

/** How the parts of a conversation become texts. */
export interface TextOptions {
  protect(text: string): string;
  /** The text of a result, protected; or a value, for templates that take one. */
  result(message: ToolResultMessage): string | object;
  /** The template wants arguments as JSON text. Default: as an object. */
  argumentsAsText?: boolean | undefined;
  /** The template fails on arguments that are no object: of those it gets what can be read. Default: the text. */
  objectsOnly?: boolean | undefined;
  /** The id that a call has for its template, from its own and how many calls came before it. Default: its own. */
  callId?:
    | ((call: { id: string; name: string; providerCallId?: string | undefined }, index: number) => string)
    | undefined;
  /** The template takes one call a message: each is followed by its own result. */
  oneCallEach?: boolean | undefined;
}

/**
 * The conversation as chat templates take it: one system message, at the front; the blocks of a step as one assistant
 * message; what the host or the program says later as the user's, and neighbouring user messages as one, since many
 * templates want turns to alternate.
 */
export function templateMessages(
  system: string | undefined,
  messages: readonly Message[],
  options: TextOptions,
): TemplateMessage[] {
  const out: TemplateMessage[] = [];
  const systems = system === undefined || system === "" ? [] : [options.protect(system)];
  const ids = new Map<string, string>();
  let step: string | undefined;
  for (const message of messages) {
    const last = out.at(-1);
    if (message.type === "assistant") {
      if (last?.role !== "assistant" || step !== message.stepId) out.push({ role: "assistant", content: "" });
      step = message.stepId;
      addBlock(out.at(-1) as TemplateMessage, message, options, ids);
    } else if (message.type === "toolResult") {
      const id = ids.get(message.toolCallId) ?? message.toolCallId;
      const result = options.result(message);
      const said =
        typeof result === "string" ? { content: result } : { content: JSON.stringify(result), response: result };
      out.push({ role: "tool", ...said, name: message.name, tool_call_id: id });
    } else {
      const content = options.protect(contentText(message.content));
      if (message.role === "system" && out.length === 0) systems.push(content);
      else if (last?.role === "user") last.content += `\n\n${content}`;
      else out.push({ role: "user", content });
    }
  }
  if (systems.length > 0) out.unshift({ role: "system", content: systems.join("\n\n") });
  return options.oneCallEach ? oneCallEach(out) : out;
}

/** The text of content parts; one that is not text leaves a note, since these models read text only. */
export function contentText(content: readonly ContentPart[]): string {
  return content
    .map((part) => {
      if (part.type === "text") return part.text;
      if (part.type === "resource") return part.text ?? `[resource ${part.uri}: no text]`;
      return `[${part.type} (${part.mediaType}) left out: this model reads text only]`;
    })
    .join("\n");
}

function addBlock(
  into: TemplateMessage,
  { output }: AssistantMessage,
  { protect, argumentsAsText, objectsOnly, callId }: TextOptions,
  ids: Map<string, string>,
): void {
  if (output.type === "text" || output.type === "refusal") {
    into.content += (into.content === "" ? "" : "\n\n") + protect(output.text);
  } else if (output.type === "thinking") {
    into.reasoning_content = (into.reasoning_content ?? "") + protect(output.text);
  } else if (output.type === "toolCall") {
    const id = callId ? callId(output, ids.size) : output.id;
    ids.set(output.id, id);
    const { rawArguments: raw, arguments: whole = {} } = output;
    const args = protectDeep(raw === undefined ? whole : objectsOnly ? beginningOf(raw) : raw, protect);
    const text = argumentsAsText && typeof args !== "string" ? JSON.stringify(args) : args;
    const call: TemplateCall = { id, type: "function", function: { name: output.name, arguments: text } };
    into.tool_calls = [...(into.tool_calls ?? []), call];
  }
}

/** The value with each of its texts protected, keys too. */
export function protectDeep(value: unknown, protect: (text: string) => string): unknown {
  if (typeof value === "string") return protect(value);
  if (Array.isArray(value)) return value.map((item) => protectDeep(item, protect));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [protect(key), protectDeep(item, protect)]));
}

function oneCallEach(messages: readonly TemplateMessage[]): TemplateMessage[] {
  const called = new Set(messages.flatMap((message) => (message.tool_calls ?? []).map((call) => call.id)));
  const results = new Map(
    messages.flatMap((message) => (message.role === "tool" ? [[message.tool_call_id, message]] : [])),
  );
  return messages.flatMap((message): TemplateMessage[] => {
    if (message.role === "tool") return called.has(message.tool_call_id ?? "") ? [] : [message];
    const calls = message.tool_calls ?? [];
    if (calls.length === 0) return [message];
    return calls.flatMap((call, i) => {
      const own: TemplateMessage = i === 0 ? message : { role: "assistant", content: "" };
      const result = results.get(call.id);
      return [{ ...own, tool_calls: [call] }, ...(result ? [result] : [])];
    });
  });
}
