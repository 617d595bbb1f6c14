import type { JsonValue } from "@shedkit/types";
import { object, objects, refuseFunction, repeated, type WireBody } from "./wire.js";

/** Why the Messages API would answer 400. */
export function refuseAnthropic(body: WireBody): string | undefined {
  if (typeof body.model !== "string" || body.model === "") return "model: Field required";
  if (typeof body.max_tokens !== "number") return "max_tokens: Field required";
  const thinking = object(body.thinking);
  if (thinking.type === "enabled" && Number(thinking.budget_tokens) >= body.max_tokens) {
    return "max_tokens must be greater than thinking.budget_tokens";
  }
  const tools = objects(body.tools);
  const messages = objects(body.messages);
  return (
    refuseTools(tools) ??
    refuseRoles(messages) ??
    refuseBlocks(messages, new Set(tools.map((tool) => tool.name))) ??
    refuseMarks(body)
  );
}

function refuseTools(tools: readonly WireBody[]): string | undefined {
  const twice = repeated(tools.map((tool) => tool.name));
  if (twice !== undefined) return `tools: Tool names must be unique: ${JSON.stringify(twice)}`;
  for (const tool of tools) {
    const problem = refuseFunction(tool.name, tool.input_schema, false);
    if (problem !== undefined) return `tools: ${problem}`;
    if (tool.defer_loading === true && tool.cache_control !== undefined && tool.cache_control !== null) {
      return `tools: ${JSON.stringify(tool.name)} cannot have cache_control and defer_loading`;
    }
  }
  if (tools.length > 0 && tools.every((tool) => tool.defer_loading === true)) {
    return "tools: At least one tool must have defer_loading=false";
  }
  return undefined;
}

/** The user first, turns that alternate; a system message stands behind the user's and before the assistant's. */
function refuseRoles(messages: readonly WireBody[]): string | undefined {
  if (messages.length === 0) return "messages: at least one message is required";
  let previous = "";
  for (const [i, message] of messages.entries()) {
    const role = String(message.role);
    if (!["user", "assistant", "system"].includes(role)) return `messages.${i}.role: no such role`;
    if (i === 0 && role !== "user") return "messages: first message must use the user role";
    if (role === "system" && previous === "assistant")
      return `messages.${i}: a system message must follow a user message`;
    if (role === "user" && previous === "system") return `messages.${i}: a user message cannot follow a system message`;
    if (role === previous && role !== "system") return `messages.${i}: roles must alternate`;
    previous = role;
  }
  return undefined;
}

function refuseBlocks(messages: readonly WireBody[], tools: ReadonlySet<JsonValue | undefined>): string | undefined {
  let due: JsonValue[] = [];
  for (const [i, message] of messages.entries()) {
    const blocks = blocksOf(message.content);
    if (message.role !== "system" && blocks.length === 0) return `messages.${i}: content must not be empty`;
    const empty = blocks.find((block) => block.type === "text" && block.text === "");
    if (empty !== undefined) return `messages.${i}: text content blocks must be non-empty`;
    const lone = i < messages.length - 1 ? loneServerTool(blocks) : undefined;
    if (lone !== undefined) return `messages.${i}: ${lone} was found without its counterpart`;
    if (message.role === "assistant") {
      if (due.length > 0) return `messages.${i}: tool_use ids without tool_result: ${due.join(", ")}`;
      const last = String(blocks.at(-1)?.type);
      if (last === "thinking" || last === "redacted_thinking")
        return `messages.${i}: the final block cannot be thinking`;
      due = blocks.filter((block) => block.type === "tool_use").map((block) => block.id ?? null);
      const bad = due.find((id) => !/^[a-zA-Z0-9_-]+$/.test(String(id)));
      if (bad !== undefined) return `messages.${i}: tool_use.id ${JSON.stringify(bad)} has illegal characters`;
      if (repeated(due) !== undefined) return `messages.${i}: tool_use ids must be unique`;
    } else if (message.role === "user") {
      const results = blocks.filter((block) => block.type === "tool_result");
      const mixed = blocks.slice(0, results.length).some((block) => block.type !== "tool_result");
      if (mixed) return `messages.${i}: tool_result blocks must come first`;
      const orphan = results.find((result) => !due.includes(result.tool_use_id ?? null));
      if (orphan) return `messages.${i}: unexpected tool_use_id ${JSON.stringify(orphan.tool_use_id)} in tool_result`;
      const mixes = results
        .map((result) => blocksOf(result.content))
        .some((content) => new Set(content.map((block) => block.type === "tool_reference")).size > 1);
      if (mixes) return `messages.${i}: tool_reference blocks cannot be mixed with other content in a tool_result`;
      const failed = results.filter((result) => result.is_error === true).map((result) => blocksOf(result.content));
      if (failed.some((content) => content.length === 0))
        return `messages.${i}: content cannot be empty if is_error is true`;
      if (failed.flat().some((block) => block.type !== "text"))
        return `messages.${i}: all content must be type 'text' if is_error is true`;
      if (results.length < due.length) return `messages.${i}: tool_use ids without tool_result: ${due.join(", ")}`;
      due = [];
    }
    const referred = [
      ...blocks,
      ...blocks.flatMap((block) => blocksOf(block.content)),
      ...blocks.map((b) => object(b.tool)),
    ]
      .filter((block) => block.type === "tool_reference")
      .map((block) => block.tool_name ?? block.name);
    const unknown = referred.find((name) => !tools.has(name));
    if (unknown !== undefined)
      return `messages.${i}: tool reference ${JSON.stringify(unknown)} not found in available tools`;
  }
  return due.length > 0 ? `tool_use ids without tool_result: ${due.join(", ")}` : undefined;
}

/** A tool that the server ran, without its result, or the other way round. */
function loneServerTool(blocks: readonly WireBody[]): JsonValue | undefined {
  const uses = blocks.filter((block) => block.type === "server_tool_use").map((block) => block.id);
  const results = blocks
    .filter((block) => block.type !== "tool_result" && String(block.type).endsWith("_tool_result"))
    .map((block) => block.tool_use_id);
  return uses.find((id) => !results.includes(id)) ?? results.find((id) => !uses.includes(id));
}

const MAX_MARKS = 4;

function refuseMarks(body: WireBody): string | undefined {
  const marks = JSON.stringify(body).match(/"cache_control":\{/g)?.length ?? 0;
  return marks > MAX_MARKS
    ? `A maximum of ${MAX_MARKS} blocks with cache_control may be provided. Found ${marks}.`
    : undefined;
}

function blocksOf(content: JsonValue | undefined): WireBody[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  return objects(content);
}
