import { argumentsObject } from "@shedkit/provider/adapter";
import type { ToolCompiler } from "@shedkit/provider/schema";
import { alternateTurns, idRules, WireIds } from "@shedkit/provider/transcript";
import type { AssistantMessage, Message, ToolArguments, ToolResultMessage } from "@shedkit/types";
import { type Item, inputParts } from "./content.js";
import { WIRE } from "./reader.js";

/** What the items of a request depend on. */
export interface ItemOptions {
  names: Pick<ToolCompiler, "toWire">;
  encode(name: string, args: ToolArguments): ToolArguments;
  /** The tools that become available behind the result of a call. */
  reveals(toolCallId: string): readonly Item[];
}

/** A normalised transcript as input items. */
export function inputItems(transcript: readonly Message[], options: ItemOptions): Item[] {
  const ids = new WireIds(idRules.openaiResponses);
  const items: Item[] = [];
  for (const turn of alternateTurns(transcript)) {
    if (turn.role === "assistant") {
      for (const message of turn.messages) items.push(...outputItems(message, ids, options));
      continue;
    }
    const tools: Item[] = [];
    const said: Item[] = [];
    for (const message of turn.messages) {
      if (message.type === "toolResult") {
        items.push(resultItem(message, ids));
        tools.push(...options.reveals(message.toolCallId));
      } else {
        const role = message.role === "user" ? "user" : "developer";
        said.push({ type: "message", role, content: inputParts(message.content) });
      }
    }
    if (tools.length > 0) items.push({ type: "additional_tools", role: "developer", tools });
    items.push(...said);
  }
  return items.filter((item, i) => item.type !== "reasoning" || isFollowed(items, i));
}

/** Reasoning is refused without the item that it led to. */
function isFollowed(items: readonly Item[], at: number): boolean {
  const next = items.slice(at + 1).find((item) => item.type !== "reasoning");
  return (
    next !== undefined &&
    (next.type === "function_call" || next.role === "assistant" || !("role" in next || "output" in next))
  );
}

function outputItems({ output }: AssistantMessage, ids: WireIds, options: ItemOptions): Item[] {
  const data = output.providerData?.[WIRE] as { item?: Item; phase?: string } | undefined;
  const phase = data?.phase === undefined ? {} : { phase: data.phase };
  switch (output.type) {
    case "text":
      return [assistant([{ type: "output_text", text: output.text, annotations: [] }], phase)];
    case "refusal":
      return [assistant([{ type: "refusal", refusal: output.text }], phase)];
    case "thinking":
      return data?.item === undefined ? [] : [data.item];
    case "toolCall": {
      const args = options.encode(output.name, argumentsObject(output));
      const name = options.names.toWire(output.name);
      return [{ type: "function_call", call_id: ids.toWire(output.id), name, arguments: JSON.stringify(args) }];
    }
    case "opaque":
      return output.provider === WIRE ? [output.block as Item] : [];
    case "image":
      return [
        assistant([{ type: "output_text", text: `[image (${output.mediaType}), not shown]`, annotations: [] }], {}),
      ];
  }
}

/** Without an id: nothing is stored, so there is nothing that an id could name. */
function assistant(content: Item[], more: Item): Item {
  return { type: "message", role: "assistant", content, ...more };
}

function resultItem({ content, errorDetail, toolCallId }: ToolResultMessage, ids: WireIds): Item {
  const parts = inputParts(content);
  const plain = parts.every((part) => part.type === "input_text");
  const call_id = ids.toWire(toolCallId);
  if (!plain && errorDetail === undefined) return { type: "function_call_output", call_id, output: parts };
  const texts = parts.filter((part) => part.type === "input_text").map((part) => String(part.text));
  const shown = texts.join("\n") || "(no output)";
  const output = errorDetail === undefined || shown.startsWith("Error: ") ? shown : `Error: ${shown}`;
  return { type: "function_call_output", call_id, output };
}
