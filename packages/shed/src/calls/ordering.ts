import { wrapperKeys } from "@shedkit/tool";
import type { JsonSchema, Tool, ToolArguments, ToolDefinition } from "@shedkit/types";
import type { ToolCallRequest } from "../types.js";
import { cutMember } from "./cut-member.js";

/** The argument by which a model orders the calls of a batch, whose ids it cannot know while it writes them. */
export const AFTER = "_after";

const AFTER_SCHEMA: JsonSchema = {
  type: "array",
  items: { type: "integer", minimum: 0 },
  description: "Positions, from 0, of the calls of this batch that must succeed before this one runs.",
};

/** What was made, for all sessions that have the tool. */
const ordered = new WeakMap<Tool, Tool>();

/** The tool as it is declared where calls can be ordered: every call takes an optional `_after`. */
export function withOrdering(tool: Tool): Tool {
  const before = ordered.get(tool);
  if (before) return before;
  const made: Tool =
    tool.type === "single"
      ? { type: "single", definition: orderedDefinition(tool.definition) }
      : { ...tool, commands: tool.commands.map(orderedDefinition) };
  ordered.set(tool, made);
  return made;
}

/**
 * The request as the tool knows it, whether its arguments came as an object or as text, and what `_after` was. It may stand
 * in an object that names the tool, as models write one now and then.
 */
export function takeAfter(
  request: ToolCallRequest,
  tool: Tool | undefined,
): { request: ToolCallRequest; after?: unknown } {
  const wrappers = tool === undefined ? [] : wrapperKeys(tool);
  if (request.rawArguments !== undefined) {
    const cut = cutMember(request.rawArguments, AFTER, wrappers);
    return cut === undefined
      ? { request }
      : { request: { ...request, rawArguments: cut.rest }, after: readValue(cut.value) };
  }
  const cut = cutKey(request.arguments, wrappers, 3);
  return cut === undefined ? { request } : { request: { ...request, arguments: cut.rest }, after: cut.after };
}

function cutKey(
  args: ToolArguments,
  wrappers: readonly string[],
  levels: number,
): { rest: ToolArguments; after: unknown } | undefined {
  if (Object.hasOwn(args, AFTER)) {
    const { [AFTER]: after, ...rest } = args;
    return { rest, after };
  }
  if (levels === 0) return undefined;
  for (const key of wrappers) {
    const inner = Object.hasOwn(args, key) ? args[key] : undefined;
    if (typeof inner === "string") {
      const cut = cutMember(inner, AFTER, wrappers, levels - 1);
      if (cut) return { rest: { ...args, [key]: cut.rest }, after: readValue(cut.value) };
    } else if (isObject(inner)) {
      const cut = cutKey(inner, wrappers, levels - 1);
      if (cut) return { rest: { ...args, [key]: cut.rest }, after: cut.after };
    }
  }
  return undefined;
}

function isObject(value: unknown): value is ToolArguments {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const NONE = /^(?:none|null|nil|undefined)?$/i;

/**
 * The positions that an `_after` names, in whatever form a model wrote them: one number, numbers as texts, a list as a
 * text. No text, null and "none" name none. Undefined where it names something that is no position.
 */
export function positionsOf(after: unknown): number[] | undefined {
  const value = typeof after === "string" && after.trim().startsWith("[") ? readValue(after) : after;
  const positions: number[] = [];
  for (const entry of Array.isArray(value) ? (value as unknown[]) : [value]) {
    const text = typeof entry === "string" ? entry.trim() : undefined;
    if (entry === null || entry === undefined || (text !== undefined && NONE.test(text))) continue;
    const position = text !== undefined && /^\d+$/.test(text) ? Number(text) : entry;
    if (typeof position !== "number" || !Number.isInteger(position)) return undefined;
    positions.push(position);
  }
  return positions;
}

/** JSON, where a comma may stand before a closing bracket; anything else is a text. */
function readValue(text: string): unknown {
  try {
    return JSON.parse(text.replace(/,(?=\s*\])/g, ""));
  } catch {
    return text;
  }
}

function orderedDefinition(definition: ToolDefinition): ToolDefinition {
  const schema = definition.arguments as { properties?: object };
  return { ...definition, arguments: { ...schema, properties: { ...schema.properties, [AFTER]: AFTER_SCHEMA } } };
}
