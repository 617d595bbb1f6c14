import { assertKeywords, SchemaFault } from "./keywords.js";
import { objectOf, own, type SchemaNode, schemaDraft, subschemas } from "./node.js";

/** Tells whether a text matches; undefined where that cannot be told, and the pattern is not checked. */
export interface Pattern {
  test(text: string): boolean | undefined;
}

/** How much a schema may ask for. Absent: no limit. */
export interface SchemaLimits {
  /** How deep schemas may stand in each other. */
  readonly depth?: number | undefined;
  /** How many schemas there may be in one. */
  readonly schemas?: number | undefined;
  /** How long it may be as JSON text. */
  readonly characters?: number | undefined;
  /** How many values an `enum` may name. */
  readonly choices?: number | undefined;
  /** How many steps one check may take. */
  readonly steps?: number | undefined;
}

/** How a schema is read. */
export interface SchemaReading {
  readonly limits?: SchemaLimits | undefined;
  /** Default: the runtime's own RegExp. */
  readonly pattern?: ((source: string) => Pattern) | undefined;
}

const NO_ID = "schema:/root"; // the base of a schema that names none

/** A schema read once: checked to be one, its references resolved, its patterns made. Throws {@link SchemaFault}. */
export class SchemaDocument {
  readonly root: unknown;
  readonly draft: "7" | "2020-12";
  readonly maxSteps: number;
  /** Whether anything asks what other keywords have looked at. */
  tracks = false;
  readonly #limits: SchemaLimits;
  readonly #makePattern: (source: string) => Pattern;
  readonly #bases = new Map<SchemaNode, string>();
  readonly #resources = new Map<string, SchemaNode>();
  readonly #anchors = new Map<string, SchemaNode>();
  readonly #dynamicAnchors = new Map<string, SchemaNode>();
  readonly #references = new Map<SchemaNode, unknown>();
  readonly #patterns = new Map<string, Pattern>();

  constructor(schema: object, reading: SchemaReading = {}) {
    this.root = schema;
    this.draft = schemaDraft(schema);
    this.#limits = reading.limits ?? {};
    this.maxSteps = this.#limits.steps ?? MAX_STEPS;
    this.#makePattern = reading.pattern ?? nativePattern;
    if (this.#limits.characters !== undefined) assertLength(schema, this.#limits.characters);
    this.#read(schema, NO_ID, "", 0);
    for (const [node, base] of [...this.#bases]) this.#resolveAll(node, base);
  }

  /** What the `$ref` (or the start of the `$dynamicRef`) of a schema names. */
  reference(node: SchemaNode): unknown {
    return this.#references.get(node);
  }

  /** The schema resource that a schema stands in. */
  baseOf(node: SchemaNode): string {
    return this.#bases.get(node) ?? NO_ID;
  }

  dynamicAnchor(base: string, name: string): SchemaNode | undefined {
    return this.#dynamicAnchors.get(`${base}#${name}`);
  }

  pattern(source: string): Pattern {
    let pattern = this.#patterns.get(source);
    if (pattern === undefined) {
      pattern = this.#makePattern(source);
      this.#patterns.set(source, pattern);
    }
    return pattern;
  }

  #read(schema: unknown, outerBase: string, place: string, depth: number): void {
    if (typeof schema === "boolean") return;
    const node = objectOf(schema);
    if (node === undefined) throw new SchemaFault(place, "must be an object, true or false");
    if (this.#bases.has(node)) return; // the same object used twice, or inside itself
    if (depth > (this.#limits.depth ?? MAX_DEPTH)) throw new SchemaFault(place, "nests too deep");
    if (this.#bases.size >= (this.#limits.schemas ?? Number.POSITIVE_INFINITY))
      throw new SchemaFault("", `holds more than ${this.#limits.schemas} schemas`);
    assertKeywords(node, place, this.#limits.choices);
    const base = this.#name(node, outerBase);
    this.#bases.set(node, base);
    if (Object.hasOwn(node, "unevaluatedProperties") || Object.hasOwn(node, "unevaluatedItems")) this.tracks = true;
    for (const source of patternsOf(node)) {
      try {
        this.pattern(source);
      } catch (e) {
        throw new SchemaFault(
          place,
          `has a pattern that cannot be used: ${e instanceof Error ? e.message : String(e)}`,
        );
      }
    }
    for (const inner of subschemas(node)) this.#read(inner.schema, base, `${place}/${inner.place}`, depth + 1);
  }

  /** Writes down the names a schema gives itself; returns the base for what it refers to. */
  #name(node: SchemaNode, outerBase: string): string {
    let base = outerBase;
    const id = own(node, "$id");
    // In draft-07 a reference hides what stands beside it.
    if (typeof id === "string" && !(this.draft === "7" && typeof own(node, "$ref") === "string")) {
      const [address, fragment] = split(resolve(id, outerBase));
      if (fragment === "") base = address;
      else if (this.draft === "7") this.#anchors.set(`${address}#${fragment}`, node);
    }
    if (!this.#resources.has(base)) this.#resources.set(base, node);
    for (const key of ["$anchor", "$dynamicAnchor"] as const) {
      const anchor = own(node, key);
      if (typeof anchor !== "string") continue;
      this.#anchors.set(`${base}#${anchor}`, node);
      if (key === "$dynamicAnchor") this.#dynamicAnchors.set(`${base}#${anchor}`, node);
    }
    return base;
  }

  #resolveAll(node: SchemaNode, base: string): void {
    for (const key of ["$ref", "$dynamicRef"] as const) {
      const reference = own(node, key);
      if (typeof reference !== "string") continue;
      const target = this.#find(reference, base);
      if (target === undefined) throw new SchemaFault("", `refers to ${JSON.stringify(reference)}, which is not in it`);
      this.#references.set(node, target);
    }
  }

  #find(reference: string, base: string): unknown {
    const [address, fragment] = split(resolve(reference, base));
    const resource = this.#resources.get(address);
    if (fragment === "") return resource;
    if (!fragment.startsWith("/")) return this.#anchors.get(`${address}#${fragment}`);
    let target: unknown = resource;
    let targetBase = address;
    for (const step of fragment.slice(1).split("/")) {
      const key = step.replaceAll("~1", "/").replaceAll("~0", "~");
      target = Array.isArray(target) ? target[Number(key)] : own(objectOf(target), key);
      const node = objectOf(target);
      if (node !== undefined) targetBase = this.#bases.get(node) ?? targetBase;
    }
    const node = objectOf(target);
    // It may stand where no keyword holds schemas.
    if (node !== undefined && !this.#bases.has(node)) {
      this.#read(node, targetBase, fragment, 0);
      this.#resolveAll(node, targetBase);
      for (const inner of subschemas(node)) {
        const innerNode = objectOf(inner.schema);
        if (innerNode !== undefined) this.#resolveAll(innerNode, this.baseOf(innerNode));
      }
    }
    return node ?? (typeof target === "boolean" ? target : undefined);
  }
}

const MAX_DEPTH = 500; // a stack's worth
const MAX_STEPS = 5_000_000; // about a second

function assertLength(schema: object, limit: number): void {
  let length: number;
  try {
    length = JSON.stringify(schema).length;
  } catch {
    throw new SchemaFault("", "is not JSON");
  }
  if (length > limit) throw new SchemaFault("", `is longer than ${limit} characters`);
}

/** By characters, as the specification says; escapes that only the older syntax has are taken too. */
function nativePattern(source: string): Pattern {
  try {
    return new RegExp(source, "u");
  } catch {
    return new RegExp(source);
  }
}

function patternsOf(node: SchemaNode): string[] {
  const pattern = own(node, "pattern");
  const keys = Object.keys(objectOf(own(node, "patternProperties")) ?? {});
  return typeof pattern === "string" ? [pattern, ...keys] : keys;
}

function resolve(reference: string, base: string): string {
  if (reference.startsWith("#")) return `${base}${reference}`;
  try {
    return new URL(reference, base).href;
  } catch {
    return reference;
  }
}

function split(address: string): [address: string, fragment: string] {
  const at = address.indexOf("#");
  if (at < 0) return [address, ""];
  const fragment = address.slice(at + 1);
  try {
    return [address.slice(0, at), decodeURIComponent(fragment)];
  } catch {
    return [address.slice(0, at), fragment];
  }
}
