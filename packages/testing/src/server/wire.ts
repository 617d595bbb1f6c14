import type { JsonValue } from "@shedkit/types";
import type { Gate } from "../gate.js";
import type { ScriptedStep } from "../scripted-answer.js";

/** The wires that the server speaks. */
export type WireName = "anthropic" | "openai-chat" | "openai-responses";

/** A request's body: any JSON object. */
export type WireBody = { readonly [key: string]: JsonValue | undefined };

/** What a wire needs to speak an answer. */
export interface Speech {
  step: ScriptedStep;
  body: WireBody;
  /** Number of the request, from 1: part of the ids that the server makes. */
  request: number;
  /** Length of a delta in UTF-16 units. */
  chunkSize: number;
}

/** One wire: its path, how it frames events, how it speaks, and what it refuses. */
export interface Wire {
  readonly name: WireName;
  /** The end of the path of a generation. */
  readonly path: string;
  /** One JSON event as it goes over the wire. */
  frame(json: string): string;
  /** What a recorded stream ends with. */
  readonly end: string;
  /** An answer as frames; a gate holds the rest back. */
  speak(speech: Speech): Generator<string | Gate, void, void>;
  /** The body of an error response, or of an error event. */
  error(code: string, message: string): JsonValue;
  /** Why the real API would answer 400; undefined where it would not. */
  refuse(body: WireBody): string | undefined;
}

/** A value of a request as an object; an empty one where it is none. */
export function object(value: JsonValue | undefined): WireBody {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as WireBody) : {};
}

/** A value of a request as a list of objects; an empty one where it is none. */
export function objects(value: JsonValue | undefined): WireBody[] {
  return Array.isArray(value) ? value.map(object) : [];
}

/** Why a tool's declaration would be refused. `lists`: every list has to say what is in it, as OpenAI wants it. */
export function refuseFunction(
  name: JsonValue | undefined,
  schema: JsonValue | undefined,
  lists: boolean,
): string | undefined {
  if (typeof name !== "string" || !/^[a-zA-Z0-9_-]{1,64}$/.test(name)) {
    return `tool name ${JSON.stringify(name)} does not match ^[a-zA-Z0-9_-]{1,64}$`;
  }
  const root = object(schema);
  if (root.type !== "object") return `schema of ${name} must have type "object" at the top`;
  const union = ["oneOf", "anyOf", "allOf", "enum", "not"].find((key) => key in root);
  if (union !== undefined) return `schema of ${name} must not have ${union} at the top`;
  const invalid = refuseSchema(root, lists, []);
  return invalid === undefined ? undefined : `Invalid schema for function '${name}': ${invalid}`;
}

/** What of a schema is not JSON Schema of 2020-12, or says of a list nothing of what is in it. */
function refuseSchema(node: WireBody, lists: boolean, path: readonly string[]): string | undefined {
  const at = `In context=(${path.map((key) => `'${key}'`).join(", ")})`;
  const types = Array.isArray(node.type) ? node.type : [node.type];
  if (lists && types.includes("array") && node.items === undefined) return `${at}, array schema missing items.`;
  if (Array.isArray(node.items)) return `${at}, items is not of type 'object', 'boolean'.`;
  if (typeof node.exclusiveMinimum === "boolean") return `${at}, exclusiveMinimum is not of type 'number'.`;
  if (node.required !== undefined && !Array.isArray(node.required)) return `${at}, required is not of type 'array'.`;
  if (Array.isArray(node.properties)) return `${at}, properties is not of type 'object'.`;
  const inner = [
    ...Object.entries(object(node.properties)).map(([key, value]) => [["properties", key], value] as const),
    ...Object.entries(object(node.$defs)).map(([key, value]) => [["$defs", key], value] as const),
    ...objects(node.anyOf).map((value, i) => [["anyOf", `${i}`], value] as const),
    ...("items" in node ? [[["items"], node.items] as const] : []),
  ];
  for (const [keys, value] of inner) {
    const problem = refuseSchema(object(value), lists, [...path, ...keys]);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** Every keyword that strict mode knows. */
const STRICT: ReadonlySet<string> = new Set([
  ...["type", "description", "title", "properties", "required", "additionalProperties", "items", "enum", "const"],
  ...["anyOf", "$ref", "$defs", "definitions", "pattern", "format", "multipleOf", "minimum", "maximum"],
  ...["exclusiveMinimum", "exclusiveMaximum", "minItems", "maxItems"],
]);

/** The first name that stands twice. */
export function repeated(names: readonly (JsonValue | undefined)[]): JsonValue | undefined {
  return names.find((name, i) => names.indexOf(name) !== i);
}

/** Why a schema that is declared strict would be refused by OpenAI. */
export function refuseStrict(schema: JsonValue | undefined, path = ""): string | undefined {
  const node = object(schema);
  const at = path === "" ? "the top" : path;
  if (node.type === "object" || "properties" in node) {
    const keys = Object.keys(object(node.properties));
    if (node.additionalProperties !== false) return `strict schema: additionalProperties must be false at ${at}`;
    const required = Array.isArray(node.required) ? node.required : [];
    const missing = keys.find((key) => !required.includes(key));
    if (missing !== undefined) return `strict schema: "${missing}" must be in required at ${at}`;
  }
  const unknown = Object.keys(node).find((key) => !STRICT.has(key));
  if (unknown !== undefined) return `strict schema: '${unknown}' is not permitted at ${at}`;
  for (const key of ["properties", "$defs", "definitions"]) {
    for (const [name, inner] of Object.entries(object(node[key]))) {
      const problem = refuseStrict(inner, `${path}/${key}/${name}`);
      if (problem !== undefined) return problem;
    }
  }
  const inner = [...objects(node.anyOf), ...("items" in node ? [node.items] : [])];
  for (const item of inner) {
    const problem = refuseStrict(item as JsonValue, `${path}/*`);
    if (problem !== undefined) return problem;
  }
  return undefined;
}
