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

/** Why a tool's declaration would be refused, whatever the wire. */
export function refuseFunction(name: JsonValue | undefined, schema: JsonValue | undefined): string | undefined {
  if (typeof name !== "string" || !/^[a-zA-Z0-9_-]{1,64}$/.test(name)) {
    return `tool name ${JSON.stringify(name)} does not match ^[a-zA-Z0-9_-]{1,64}$`;
  }
  const root = object(schema);
  if (root.type !== "object") return `schema of ${name} must have type "object" at the top`;
  const union = ["oneOf", "anyOf", "allOf", "enum", "not"].find((key) => key in root);
  return union === undefined ? undefined : `schema of ${name} must not have ${union} at the top`;
}

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
  for (const key of ["oneOf", "allOf", "not", "patternProperties", "if", "dependentSchemas", "propertyNames"]) {
    if (key in node) return `strict schema: ${key} is not permitted at ${at}`;
  }
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
