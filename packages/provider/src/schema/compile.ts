import { functionSpec, type JsonSchema, type JsonValue, type Tool, type ToolArguments } from "@shedkit/types";
import { WireIds } from "../transcript/wire-ids.js";
import { asNode, mapNodes, type SchemaNode } from "./node.js";
import { cleanSchema, type Notes, objectRoot } from "./root.js";
import { strictSchema } from "./strict.js";
import { decodeValue, encodeValue, type KeyNames } from "./values.js";

/** What a wire takes as a schema. */
export interface SchemaDialect {
  /** Whether tools whose schema qualifies are declared strict. */
  strict: boolean;
  /** What a property may be called. Default: anything. */
  key?: RegExp | undefined;
  /** Keywords that a strict schema may not have, beside those of OpenAI; they go into the description. Default: none. */
  hints?: readonly string[] | undefined;
}

/** The dialects of the wires. */
export const schemaDialects = {
  anthropic: { strict: false, key: /^[a-zA-Z0-9_.-]{1,64}$/ },
  /** Anthropic's schema of an answer. */
  anthropicOutput: {
    strict: true,
    hints: [
      "minimum",
      "maximum",
      "exclusiveMinimum",
      "exclusiveMaximum",
      "multipleOf",
      "minItems",
      "maxItems",
      "pattern",
    ],
  },
  openai: { strict: true },
  /** Servers that speak like OpenAI, and may not know strict. */
  compatible: { strict: false },
} as const satisfies { [name: string]: SchemaDialect };

/** A tool as a wire takes it, and the way back. */
export interface CompiledTool {
  /** Its own name. */
  readonly name: string;
  /** Its name on the wire. */
  readonly wireName: string;
  readonly description: string;
  readonly parameters: JsonSchema;
  readonly strict: boolean;
  /** What the wire's schema does not say; it is checked where the tool runs. */
  readonly notes: readonly string[];
  /** Arguments that came over the wire as the tool knows them. */
  decode(args: ToolArguments): ToolArguments;
  /** A past call's arguments as the wire knows them. */
  encode(args: ToolArguments): ToolArguments;
}

/** An answer's schema as a wire takes it. */
export interface CompiledOutput {
  readonly schema: JsonSchema;
  readonly strict: boolean;
  /** True where the wire's JSON is not the answer itself: only `decode` gives it. */
  readonly changed: boolean;
  readonly notes: readonly string[];
  /** The JSON text of the answer from what came over the wire; the same text where it is not JSON. */
  decode(text: string): string;
}

const NAME = { allowed: /[a-zA-Z0-9_-]/, maxLength: 64 };

/**
 * Compiles tools for one wire. Names are mapped in the order in which they are asked for, so a list that only grows
 * keeps its beginning. A tool is compiled once.
 */
export class ToolCompiler {
  readonly #dialect: SchemaDialect;
  readonly #names = new WireIds(NAME);

  constructor(dialect: SchemaDialect) {
    this.#dialect = dialect;
  }

  /** The tool as the wire takes it. */
  compile(tool: Tool): CompiledTool {
    const compiled = compileTool(tool, this.#dialect);
    const wireName = this.toWire(compiled.name);
    return wireName === compiled.wireName ? compiled : { ...compiled, wireName };
  }

  /** A tool's name on the wire, also of one that is no longer declared. */
  toWire(name: string): string {
    return this.#names.toWire(name);
  }

  /** A tool's own name; what came where no tool is called that. */
  fromWire(name: string): string {
    return this.#names.fromWire(name);
  }
}

const compiledTools = new WeakMap<SchemaDialect, WeakMap<Tool, CompiledTool>>();

function compileTool(tool: Tool, dialect: SchemaDialect): CompiledTool {
  const known = compiledTools.get(dialect) ?? new WeakMap<Tool, CompiledTool>();
  compiledTools.set(dialect, known);
  const compiled = known.get(tool) ?? freshTool(tool, dialect);
  known.set(tool, compiled);
  return compiled;
}

function freshTool(tool: Tool, dialect: SchemaDialect): CompiledTool {
  const { name, description, parameters: schema } = functionSpec(tool);
  const notes: Notes = [];
  const own = objectRoot(cleanSchema(schema, notes), notes);
  const keys = keyNames(own, dialect.key);
  if (keys.size > 0) notes.push(`renamed on the wire: ${[...keys].map(([from, to]) => `${from} -> ${to}`).join(", ")}`);
  const loose = renameKeys(own, keys);
  const strict = dialect.strict ? strictSchema(loose, notes, dialect.hints) : undefined;
  return {
    name,
    wireName: name,
    description,
    parameters: strict ?? loose,
    strict: strict !== undefined,
    notes,
    decode: (args) => decodeValue(args, own, keys, strict !== undefined) as ToolArguments,
    encode: (args) => encodeValue(args, keys) as ToolArguments,
  };
}

/** Compiles the schema of an answer. A root that is not a plain object is wrapped as `{ value: ... }`. */
export function compileOutput(schema: JsonSchema, dialect: SchemaDialect): CompiledOutput {
  const notes: Notes = [];
  const clean = cleanSchema(schema, notes);
  const plain = clean.type === "object" && !("anyOf" in clean || "oneOf" in clean || "allOf" in clean);
  const own = plain ? clean : wrapped(clean);
  const strict = dialect.strict ? strictSchema(own, notes, dialect.hints) : undefined;
  const decode = (text: string): string => {
    if (plain && strict === undefined) return text;
    try {
      const value = decodeValue(JSON.parse(text) as JsonValue, own, new Map(), strict !== undefined);
      return JSON.stringify(plain ? value : ((asNode(value)?.value ?? value) as JsonValue));
    } catch {
      return text; // not JSON: the one who asked for it says so
    }
  };
  const changed = !plain || (strict !== undefined && JSON.stringify(strict) !== JSON.stringify(own));
  return { schema: strict ?? own, strict: strict !== undefined, changed, notes, decode };
}

/** Definitions stay at the root; a reference to anything else of the schema follows it to its new place. */
function wrapped(schema: SchemaNode): SchemaNode {
  const { $defs, definitions, ...rest } = mapNodes(schema, (node) => {
    if (typeof node.$ref !== "string" || /^#\/(\$defs|definitions)\//.test(node.$ref)) return node;
    return { ...node, $ref: `#/properties/value${node.$ref.slice(1)}` };
  });
  return {
    type: "object",
    properties: { value: rest as JsonValue },
    required: ["value"],
    additionalProperties: false,
    ...($defs === undefined ? {} : { $defs }),
    ...(definitions === undefined ? {} : { definitions }),
  };
}

function keyNames(schema: SchemaNode, legal: RegExp | undefined): KeyNames {
  const names = new Map<string, string>();
  if (legal === undefined) return names;
  const wire = new WireIds({ allowed: /[a-zA-Z0-9_.-]/, maxLength: 64 });
  const all: string[] = [];
  mapNodes(schema, (node) => {
    all.push(...Object.keys(asNode(node.properties) ?? {}));
    return node;
  });
  for (const key of all) if (legal.test(key)) wire.toWire(key); // legal names are taken first, by themselves
  for (const key of all) if (!legal.test(key)) names.set(key, wire.toWire(key));
  return names;
}

function renameKeys(schema: SchemaNode, keys: KeyNames): SchemaNode {
  if (keys.size === 0) return schema;
  return mapNodes(schema, (node) => {
    const properties = asNode(node.properties);
    if (properties === undefined) return node;
    const out: SchemaNode = {
      ...node,
      properties: Object.fromEntries(Object.entries(properties).map(([key, inner]) => [keys.get(key) ?? key, inner])),
    };
    if (Array.isArray(node.required)) out.required = node.required.map((key) => keys.get(String(key)) ?? key);
    return out;
  });
}
