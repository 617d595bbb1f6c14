import { capabilitiesFor, type ToolCapabilities } from "@shedkit/tool";
import type { JsonSchema, JsonValue } from "@shedkit/types";
import { UNREADABLE } from "./mend-lists.js";
import { LIMITS, oneLine, shortData } from "./text.js";

/** A tool as a server lists it. */
export interface ListedTool {
  name: string;
  title?: string | undefined;
  description?: string | undefined;
  inputSchema: object;
  outputSchema?: object | undefined;
  annotations?: ToolHints | undefined;
}

/** What a server says its tool does. Claims, all of them. */
export interface ToolHints {
  title?: string | undefined;
  readOnlyHint?: boolean | undefined;
  destructiveHint?: boolean | undefined;
  idempotentHint?: boolean | undefined;
}

/** A listed tool that was looked through, as it may be shown to a model. */
export interface VettedTool {
  /** As the server calls it. */
  readonly name: string;
  readonly description: string;
  readonly input: JsonSchema;
  readonly output: JsonSchema | undefined;
  readonly hints: ToolHints;
  /** Of all that the server said of it, before anything was taken out. */
  readonly fingerprint: string;
}

/** Definitions are sent with every request to a model; honest ones are far smaller. */
const MAX_DEFINITION = 64_000;
const MAX_NODES = 5000;
const MAX_DEPTH = 48;
const MAX_NAME = 200;

/** A listed tool made fit to be shown, or why it is refused. */
export async function vetTool(tool: ListedTool): Promise<VettedTool | { refused: string }> {
  if (tool.name.trim() === "") return { refused: "it has no name" };
  if (tool.name.length > MAX_NAME) return { refused: `its name is longer than ${MAX_NAME} characters` };
  const unreadable = (tool.inputSchema as { readonly [UNREADABLE]?: unknown })[UNREADABLE];
  if (unreadable !== undefined) return { refused: `its definition is none (${oneLine(String(unreadable), 300)})` };
  const budget = { nodes: MAX_NODES };
  try {
    const whole = JSON.stringify([tool.description ?? "", tool.inputSchema, tool.outputSchema ?? null]);
    if (whole.length > MAX_DEFINITION)
      return { refused: `its definition has ${whole.length} characters; ${MAX_DEFINITION} are taken` };
    const input = cleanSchema(tool.inputSchema, budget) as JsonSchema;
    const output = tool.outputSchema && (cleanSchema(tool.outputSchema, budget) as JsonSchema);
    const description = tool.description?.trim() || tool.title?.trim() || tool.annotations?.title?.trim() || "";
    return {
      name: tool.name,
      description: shortData(description, LIMITS.description) || "The server does not say what it does.",
      input,
      output,
      hints: tool.annotations ?? {},
      fingerprint: await fingerprintOf(tool),
    };
  } catch (fault) {
    if (fault instanceof TooMuch || fault instanceof RangeError) return { refused: "its schemas are too large" };
    throw fault;
  }
}

class TooMuch extends Error {}

/** Texts in a schema are read by models like the description itself. */
function cleanSchema(value: unknown, budget: { nodes: number }, depth = 0): unknown {
  if (--budget.nodes < 0 || depth > MAX_DEPTH) throw new TooMuch();
  if (Array.isArray(value)) return value.map((item) => cleanSchema(item, budget, depth + 1));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).flatMap(([key, item]): [string, unknown][] => {
    if (key === "$comment" && typeof item === "string") return [];
    if ((key === "description" || key === "title") && typeof item === "string")
      return [[key, shortData(item, LIMITS.argument)]];
    return [[key, cleanSchema(item, budget, depth + 1)]];
  });
  return Object.fromEntries(entries);
}

/**
 * SHA-256 of the parts that a person who allows a tool goes by, independent of the order of keys.
 */
async function fingerprintOf(tool: ListedTool): Promise<string> {
  const { name, title, description, inputSchema, outputSchema, annotations } = tool;
  const text = canonical({ name, title, description, inputSchema, outputSchema, annotations } as JsonValue);
  const bytes = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function canonical(value: JsonValue | undefined): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  entries.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonical(item)}`).join(",")}}`;
}

/**
 * What a tool may do. A server's word alone makes a tool no safer: unless it is trusted, only what makes the tool more
 * dangerous is believed.
 */
export function capabilitiesOf(hints: ToolHints, trusted: boolean, timeoutMs: number): ToolCapabilities {
  const readOnly = trusted && hints.readOnlyHint === true;
  return capabilitiesFor("other", {
    readOnly,
    destructive: readOnly ? false : !(trusted && hints.destructiveHint === false),
    idempotent: trusted && (readOnly || hints.idempotentHint === true),
    timeoutMs,
    maxResultBytes: MAX_RESULT_BYTES,
  });
}

const MAX_RESULT_BYTES = 20_000;
