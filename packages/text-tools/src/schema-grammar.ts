import { GbnfRules, literal, repeated } from "./gbnf.js";
import { integerRange } from "./integer-range.js";
import { JSON_NOTATION, type Notation } from "./notation.js";
import { mergeAllOf, type Schema, type SchemaObject, withAlternative } from "./schema-merge.js";

const MAX_REPEAT = 200; // llama.cpp writes repetitions out
const MAX_RULES = 2000;

/**
 * Turns JSON Schemas into GBNF rules. Every text that the rules accept is JSON that fits the schema, as far as the
 * keywords are known: type, enum, const, properties, required, additionalProperties, items, prefixItems, minItems,
 * maxItems, minLength, maxLength, minimum, maximum of integers, anyOf, oneOf (as anyOf), allOf, local $ref. Others
 * loosen the rules: what they accept may then not fit. Properties come in the schema's order; optional ones may be left out.
 */
export class SchemaGrammar {
  readonly rules = new GbnfRules();
  readonly notation: Notation;
  readonly #refs = new Map<SchemaObject, string>();

  constructor(notation: Notation = JSON_NOTATION) {
    this.notation = notation;
    this.rules.set("ws", notation.space);
    notation.addString(this.rules);
    this.rules.set("integer", '"-"? ( "0" | [1-9] [0-9]{0,17} )');
    this.rules.set("number", '"-"? ( "0" | [1-9] [0-9]{0,14} ) ( "." [0-9]{1,17} )? ( [eE] [-+]? [0-9]{1,2} )?');
    const member = `${notation.anyKey} ":" ws value`;
    this.rules.set("object", `"{" ws ( ${member} ( "," ws ${member} )* )? ws "}"`);
    this.rules.set("array", '"[" ws ( value ( "," ws value )* )? ws "]"');
    this.rules.set("value", 'object | array | string | number | "true" | "false" | "null"');
  }

  /** The rule, or expression, of a schema. A schema that would take too many rules accepts any value of its type. */
  schema(schema: Schema, hint: string, root: Schema = schema): string {
    const before = this.rules.size;
    return new Compiler(this, root, this.#refs, before + MAX_RULES).value(schema, hint, new Set());
  }

  /**
   * The members of an object, each written by `member`, with `between` between them: in the schema's order, optional
   * ones left out or not. A chain with two rules a property, linear in their number.
   */
  members(
    schema: SchemaObject,
    hint: string,
    member: (name: string, schema: Schema, hint: string) => string,
    between: string,
  ): string {
    const required = new Set(schema.required ?? []);
    const properties = propertiesOf(schema);
    if (properties.length === 0) return '""';
    if (this.notation.sorted) properties.sort(([a], [b]) => (a < b ? -1 : 1));
    // From the last to the first: what may follow when a member was written, and when none was.
    let after = "";
    let atStart = "";
    for (const [name, property] of properties.reverse()) {
      const optional = !required.has(name);
      const written = `${member(name, property, `${hint}-${name}`)} ${after}`.trimEnd();
      const next = `${between} ${written}`.trimStart();
      atStart = this.rules.add(`${hint}-from-${name}`, optional ? `${written} | ${atStart || '""'}` : written);
      after = this.rules.add(`${hint}-then-${name}`, optional ? `${next} | ${after || '""'}` : next);
    }
    return atStart;
  }
}

/** The properties, also those that are required without being described. */
function propertiesOf(schema: SchemaObject): [name: string, schema: Schema][] {
  const known = schema.properties ?? {};
  const undescribed = (schema.required ?? []).filter((name) => !(name in known));
  return [...Object.entries(known), ...undescribed.map((name): [string, Schema] => [name, true])];
}

class Compiler {
  readonly #grammar: SchemaGrammar;
  readonly #root: Schema;
  readonly #rules: GbnfRules;
  readonly #refs: Map<SchemaObject, string>;
  readonly #limit: number;

  constructor(grammar: SchemaGrammar, root: Schema, refs: Map<SchemaObject, string>, limit: number) {
    this.#grammar = grammar;
    this.#root = root;
    this.#rules = grammar.rules;
    this.#refs = refs;
    this.#limit = limit;
  }

  /** `open`: the schemas being written at this very place, which must not name themselves. */
  value(schema: Schema, hint: string, open: ReadonlySet<SchemaObject>): string {
    if (typeof schema !== "object" || schema === null) return "value";
    if (this.#rules.size > this.#limit) return schema.type === "object" ? "object" : "value";
    if (typeof schema.$ref === "string") return this.#reference(schema.$ref, hint, open);
    if (schema.allOf) {
      const merged = mergeAllOf(schema, (ref) => this.#resolve(ref));
      return this.value(merged, hint, open);
    }
    if ("const" in schema) return this.#literal(schema.const);
    if (Array.isArray(schema.enum) && schema.enum.length > 0)
      return alternatives(schema.enum.map((v) => this.#literal(v)));
    const choices = schema.anyOf ?? schema.oneOf;
    if (Array.isArray(choices) && choices.length > 0) {
      return alternatives(
        choices.map((choice, i) => this.value(withAlternative(schema, choice), `${hint}-${i + 1}`, open)),
      );
    }
    if (Array.isArray(schema.type)) {
      return alternatives(schema.type.map((type) => this.value({ ...schema, type }, `${hint}-${type}`, open)));
    }
    return this.#typed(schema, hint);
  }

  #typed(schema: SchemaObject, hint: string): string {
    switch (schema.type ?? (schema.properties ? "object" : undefined)) {
      case "string":
        return this.#string(schema);
      case "integer":
        return integerRule(schema);
      case "number":
        return (schema.minimum ?? -1) >= 0 ? `( ${NOT_NEGATIVE} )` : "number";
      case "boolean":
        return '( "true" | "false" )';
      case "null":
        return '"null"';
      case "array":
        return this.#array(schema, hint);
      case "object":
        return this.#object(schema, hint);
      default:
        return "value";
    }
  }

  #literal(value: unknown): string {
    return literal(this.#grammar.notation.write(value));
  }

  #string(schema: SchemaObject): string {
    const min = Math.max(0, small(schema.minLength) ?? 0);
    const max = atLeast(min, small(schema.maxLength));
    return min === 0 && max === undefined ? "string" : this.#grammar.notation.string(min, max);
  }

  #array(schema: SchemaObject, hint: string): string {
    const first = (schema.prefixItems ?? []).map((item, i) => this.value(item, `${hint}-${i}`, new Set()));
    const min = Math.max(0, small(schema.minItems) ?? 0);
    const max = atLeast(min, small(schema.maxItems));
    const item = this.value(schema.items ?? true, `${hint}-item`, new Set());
    if (first.length > 0) {
      // Nothing is said of how many more may come: they are left out, unless they must come.
      const count = max === undefined ? first.length : Math.min(max, first.length);
      const items = [...first.slice(0, count), ...Array.from({ length: Math.max(0, min - count) }, () => item)];
      return this.#rules.add(hint, `"[" ws ${items.join(' "," ws ')} ws "]"`);
    }
    if (schema.items === undefined && min === 0 && max === undefined) return "array";
    if (max === 0) return '( "[" ws "]" )';
    const more = repeated(`( "," ws ${item} )`, Math.max(0, min - 1), max === undefined ? undefined : max - 1);
    const body = `${item} ${more}`;
    return this.#rules.add(hint, `"[" ws ${min === 0 ? `( ${body} )?` : body} ws "]"`);
  }

  #object(schema: SchemaObject, hint: string): string {
    if (propertiesOf(schema).length === 0) return this.#map(schema, hint);
    const write = (name: string, property: Schema, own: string) =>
      `${literal(this.#grammar.notation.key(name))} ":" ws ${this.value(property, own, new Set())}`;
    return this.#rules.add(hint, `"{" ws ${this.#grammar.members(schema, hint, write, '"," ws')} ws "}"`);
  }

  #map(schema: SchemaObject, hint: string): string {
    const values = schema.additionalProperties;
    if (values === false) return '( "{" ws "}" )';
    if (values === undefined || values === true) return "object";
    const member = `${this.#grammar.notation.anyKey} ":" ws ${this.value(values, `${hint}-value`, new Set())}`;
    return this.#rules.add(hint, `"{" ws ( ${member} ( "," ws ${member} )* )? ws "}"`);
  }

  #reference(ref: string, hint: string, open: ReadonlySet<SchemaObject>): string {
    const target = this.#resolve(ref);
    if (typeof target !== "object" || target === null || open.has(target)) return "value";
    const known = this.#refs.get(target);
    if (known !== undefined) return known;
    const name = this.#rules.reserve(`${hint}-${ref.split("/").at(-1) ?? ""}`);
    this.#refs.set(target, name);
    this.#rules.set(name, this.value(target, `${name}-of`, new Set([...open, target])));
    return name;
  }

  /** A local reference's schema; undefined where there is none. */
  #resolve(ref: string): Schema | undefined {
    if (!ref.startsWith("#")) return undefined;
    let at: unknown = this.#root;
    for (const part of ref.slice(1).split("/").slice(1)) {
      const key = decodeURIComponent(part).replace(/~1/g, "/").replace(/~0/g, "~");
      if (typeof at !== "object" || at === null || !Object.hasOwn(at, key)) return undefined;
      at = (at as { [key: string]: unknown })[key];
    }
    return at as Schema;
  }
}

const NOT_NEGATIVE = '( "0" | [1-9] [0-9]{0,14} ) ( "." [0-9]{1,17} )?';

function integerRule(schema: SchemaObject): string {
  const above = schema.exclusiveMinimum === undefined ? [] : [Math.floor(schema.exclusiveMinimum) + 1];
  const below = schema.exclusiveMaximum === undefined ? [] : [Math.ceil(schema.exclusiveMaximum) - 1];
  const lows = schema.minimum === undefined ? above : [schema.minimum, ...above];
  const highs = schema.maximum === undefined ? below : [schema.maximum, ...below];
  if (lows.length + highs.length === 0) return "integer";
  const range = integerRange(
    lows.length === 0 ? undefined : Math.max(...lows),
    highs.length === 0 ? undefined : Math.min(...highs),
  );
  return range === "" ? "integer" : `( ${range} )`;
}

/** A schema that nothing fits is loosened to one that something fits. */
function atLeast(min: number, max: number | undefined): number | undefined {
  return max === undefined ? undefined : Math.max(min, max);
}

/** A count that repetitions can be written out for; a larger one counts as none. */
function small(count: number | undefined): number | undefined {
  return count === undefined || count > MAX_REPEAT ? undefined : count;
}

function alternatives(bodies: readonly string[]): string {
  const distinct = [...new Set(bodies)];
  return distinct.length === 1 ? (distinct[0] ?? "value") : `( ${distinct.join(" | ")} )`;
}
