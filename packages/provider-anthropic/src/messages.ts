import type { ModelRequest } from "@shedkit/provider";
import { argumentsObject } from "@shedkit/provider/adapter";
import type { ToolCompiler } from "@shedkit/provider/schema";
import { alternateTurns, idRules, normalizeTranscript, WireIds, withoutMedia } from "@shedkit/provider/transcript";
import type { AssistantMessage, Message, ToolArguments, ToolResultMessage, UserMessage } from "@shedkit/types";
import { type Block, contentBlocks, textBlock } from "./content.js";

/** A message of the request's body. */
export interface WireMessage {
  role: "user" | "assistant" | "system";
  content: Block[];
}

/** What the messages of a request depend on. */
export interface MessageOptions {
  /** System messages behind the user's; without them they are the user's. */
  midSystem: boolean;
  /** Whether thinking without a signature goes back: local servers send none, the real API refuses it. */
  unsigned: boolean;
  names: Pick<ToolCompiler, "toWire">;
  encode(name: string, args: ToolArguments): ToolArguments;
  /** Names, as on the wire, of the tools that the result of a call reveals. */
  reveals(toolCallId: string): readonly string[];
}

/** The transcript that a request's messages are made of. */
export function transcriptOf(
  request: ModelRequest,
  media: boolean,
  unreadable: ReadonlySet<string>,
): readonly Message[] {
  const normal = normalizeTranscript(request.messages, { model: request.model.name });
  return withoutMedia(normal, media ? unreadable : undefined);
}

/** The transcript as the wire takes it: turns that alternate, results first. */
export function wireMessages(transcript: readonly Message[], options: MessageOptions): WireMessage[] {
  const ids = new WireIds(idRules.anthropic);
  const out: WireMessage[] = [];
  const turns = alternateTurns(transcript);
  for (const [i, turn] of turns.entries()) {
    if (turn.role === "assistant") {
      const blocks = turn.messages.flatMap((one) => assistantBlocks(one, ids, options));
      add(out, "assistant", withoutLoneServerTools(blocks, i === turns.length - 1));
    } else addUserTurn(out, turn.messages, ids, options);
  }
  return out;
}

/**
 * A server's tool and its result go together: one alone, where a stream broke between them, is refused. The last turn
 * may end in one that still runs.
 */
function withoutLoneServerTools(blocks: readonly Block[], last: boolean): readonly Block[] {
  const results = new Set(blocks.map((block) => (isServerResult(block) ? block.tool_use_id : undefined)));
  const uses = new Set(blocks.map((block) => (block.type === "server_tool_use" ? block.id : undefined)));
  return blocks.filter((block) => {
    if (block.type === "server_tool_use") return last || results.has(block.id);
    return !isServerResult(block) || uses.has(block.tool_use_id);
  });
}

function isServerResult({ type }: Block): boolean {
  return type !== "tool_result" && String(type).endsWith("_tool_result");
}

function addUserTurn(
  out: WireMessage[],
  messages: readonly (UserMessage | ToolResultMessage)[],
  ids: WireIds,
  options: MessageOptions,
): void {
  const results: Block[] = [];
  const beside: Block[] = [];
  const said: Block[] = [];
  const system: Block[] = [];
  for (const message of messages) {
    if (message.type === "toolResult") results.push(resultBlock(message, ids, options, beside));
    else if (message.role !== "user" && options.midSystem) system.push(...contentBlocks(message.content));
    else said.push(...contentBlocks(message.content));
  }
  const blocks = [...results, ...beside, ...said];
  // A turn must have something: a conversation that was cut, or a user who said nothing that can be sent.
  if (blocks.length === 0)
    blocks.push(textBlock(out.length === 0 ? "(The conversation began earlier.)" : "(Nothing was said.)"));
  add(out, "user", blocks);
  add(out, "system", system);
}

/** Adds a message, or to the last one where it is of the same role; nothing where it is empty. */
function add(out: WireMessage[], role: WireMessage["role"], content: readonly Block[]): void {
  if (content.length === 0) return;
  const last = out.at(-1);
  if (last?.role === role) last.content.push(...content);
  else out.push({ role, content: [...content] });
}

function assistantBlocks({ output }: AssistantMessage, ids: WireIds, options: MessageOptions): Block[] {
  switch (output.type) {
    case "text":
    case "refusal": {
      if (output.text.trim() === "") return [];
      const citations = output.type === "text" && output.citations ? { citations: [...output.citations] } : {};
      return [{ type: "text", text: output.text, ...citations }];
    }
    case "thinking":
      if (output.redacted) return [{ type: "redacted_thinking", data: output.redacted }];
      if (!output.signature && !options.unsigned) return [];
      return [{ type: "thinking", thinking: output.text, signature: output.signature ?? "" }];
    case "toolCall": {
      const input = options.encode(output.name, argumentsObject(output));
      return [{ type: "tool_use", id: ids.toWire(output.id), name: options.names.toWire(output.name), input }];
    }
    case "opaque":
      return output.provider === "anthropic" ? [output.block as Block] : [];
    case "image":
      return [textBlock(`[image (${output.mediaType}), not shown]`)];
  }
}

/** A call's result. What of it cannot stand in it is added to `beside`, which comes behind all results of the turn. */
function resultBlock(message: ToolResultMessage, ids: WireIds, options: MessageOptions, beside: Block[]): Block {
  const all = contentBlocks(message.content);
  const failed = message.errorDetail !== undefined;
  const result = { type: "tool_result", tool_use_id: ids.toWire(message.toolCallId) };
  const references = options.reveals(message.toolCallId).map((tool_name) => ({ type: "tool_reference", tool_name }));
  if (references.length > 0) {
    // References stand alone in a result, and one with references is no error: what it says stands behind it.
    const label = textBlock(`The result of ${options.names.toWire(message.name)} (${result.tool_use_id}):`);
    if (all.length > 0) beside.push(label, ...(failed ? asError(all) : all));
    return { ...result, content: references };
  }
  // An error takes text, and text alone.
  const texts = failed ? all.filter((block) => block.type === "text") : all;
  const content = failed && texts.length === 0 ? [textBlock("(no output)")] : texts;
  return { ...result, ...(content.length > 0 && { content }), ...(failed && { is_error: true }) };
}

function asError([first, ...rest]: readonly Block[]): Block[] {
  if (first?.type !== "text") return [textBlock("Error"), ...(first === undefined ? [] : [first]), ...rest];
  const text = String(first.text);
  return [{ ...first, text: text.startsWith("Error: ") ? text : `Error: ${text}` }, ...rest];
}
