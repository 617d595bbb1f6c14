import type { JsonValue } from "@shedkit/types";
import { objects, refuseFunction, refuseStrict, repeated, type WireBody } from "./wire.js";

/** Why the Responses API would answer 400. */
export function refuseResponses(body: WireBody): string | undefined {
  if (typeof body.model !== "string" || body.model === "") return "missing required parameter: model";
  const tools = objects(body.tools);
  const items = typeof body.input === "string" ? [] : objects(body.input);
  if (items.length === 0 && (typeof body.input !== "string" || body.input === "")) return "input must not be empty";
  return refuseTools(tools, "tools") ?? refuseItems(items, tools);
}

const OUTPUT_OF: { [type: string]: string } = {
  function_call_output: "function_call",
  tool_search_output: "tool_search_call",
};

function refuseItems(items: readonly WireBody[], tools: readonly WireBody[]): string | undefined {
  const due = new Map<JsonValue | undefined, string>();
  const declared = new Set(tools.map((tool) => tool.name));
  for (const [i, item] of items.entries()) {
    const type = String(item.type ?? "message");
    const answers = OUTPUT_OF[type];
    if (type === "function_call" || (type === "tool_search_call" && item.execution === "client")) {
      if (due.has(item.call_id)) return `input[${i}]: call_id ${JSON.stringify(item.call_id)} is used twice`;
      if (typeof item.call_id !== "string" || item.call_id.length > 64)
        return `input[${i}].call_id: 1 to 64 characters`;
      if (type === "function_call" && typeof item.arguments !== "string")
        return `input[${i}].arguments must be a string`;
      due.set(item.call_id, type);
    } else if (answers !== undefined) {
      if (due.get(item.call_id) !== answers) {
        return `input[${i}]: no tool call found for ${type} with call_id ${JSON.stringify(item.call_id)}`;
      }
      due.delete(item.call_id);
    } else if (type === "reasoning") {
      const next = items[i + 1];
      const ours = next === undefined ? "" : String(next.type ?? "message");
      const follows =
        ours === "reasoning" || ours in { function_call: 0, tool_search_call: 0 } || next?.role === "assistant";
      if (!follows) return `input[${i}]: item of type 'reasoning' was provided without its required following item`;
    }
    if (type === "tool_search_output" || type === "additional_tools") {
      const problem = refuseTools(objects(item.tools), `input[${i}].tools`);
      if (problem !== undefined) return problem;
      const twice = objects(item.tools).find((tool) => declared.has(tool.name));
      if (twice !== undefined) return `input[${i}].tools: ${JSON.stringify(twice.name)} is declared in tools already`;
    }
  }
  const [open] = due.keys();
  return open === undefined ? undefined : `no tool output found for function call ${JSON.stringify(open)}`;
}

function refuseTools(tools: readonly WireBody[], at: string): string | undefined {
  const functions = tools.filter((tool) => tool.type === "function");
  const odd = tools.find((tool) => typeof tool.type !== "string");
  if (odd !== undefined) return `${at}: missing required parameter: type`;
  const twice = repeated(functions.map((tool) => tool.name));
  if (twice !== undefined) return `${at}: two functions named ${JSON.stringify(twice)}`;
  for (const tool of functions) {
    if ("function" in tool) return `${at}: missing required parameter: name`;
    const problem = refuseFunction(tool.name, tool.parameters, true);
    // Absent counts as true here.
    const strict = tool.strict === false ? undefined : refuseStrict(tool.parameters);
    if (problem !== undefined || strict !== undefined) return `${at}: ${problem ?? strict}`;
  }
  return undefined;
}
