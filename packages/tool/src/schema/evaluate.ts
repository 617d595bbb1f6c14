import { showValue } from "../issues.js";
import type { SchemaIssue } from "../schema.js";
import { describeSchema } from "./describe.js";
import type { SchemaDocument } from "./document.js";
import { allDiffer, jsonEqual } from "./equal.js";
import { SchemaFault } from "./keywords.js";
import { checkNumber, checkText } from "./limits.js";
import { objectOf, own, type SchemaNode, typeOf } from "./node.js";

/** Where in the value a check is. */
interface Path {
  readonly above: Path | undefined;
  readonly key: string | number;
}

/** The schema resources gone through, innermost first: what a dynamic reference looks in. */
interface Scope {
  readonly base: string;
  readonly above: Scope | undefined;
}

/** What of a value keywords have looked at, for the `unevaluated` ones. */
interface Seen {
  readonly keys: Set<string>;
  readonly items: Set<number>;
}

const MAX_DEPTH = 1000; // a schema may refer to itself without end

/** One check of one value. With `issues` it goes on after what does not fit, to find all of it. */
export class Evaluation {
  readonly #doc: SchemaDocument;
  #issues: SchemaIssue[] | undefined;
  #steps = 0;
  #depth = 0;
  /** How often a pattern could not tell. What did not fit since did so for another reason; what fitted may not have. */
  #unsure = 0;

  constructor(doc: SchemaDocument, issues?: SchemaIssue[]) {
    this.#doc = doc;
    this.#issues = issues;
  }

  /** Throws {@link SchemaFault} where the check itself takes too much. */
  fits(schema: unknown, value: unknown): boolean {
    return this.#check(schema, value, undefined, undefined, undefined);
  }

  #check(
    schema: unknown,
    value: unknown,
    path: Path | undefined,
    scope: Scope | undefined,
    seen: Seen | undefined,
  ): boolean {
    if (schema === true) return true;
    const node = objectOf(schema);
    if (node === undefined) return this.#fail(path, "false", "nothing", value);
    if (++this.#steps > this.#doc.maxSteps) throw new SchemaFault("", "takes too long to check against");
    if (++this.#depth > MAX_DEPTH) throw new SchemaFault("", "refers to itself without end");
    const base = this.#doc.baseOf(node);
    const inner = scope?.base === base ? scope : { base, above: scope };
    // Its own: an `unevaluated` keyword does not see what schemas beside its own have looked at.
    const mine = this.#doc.tracks ? newSeen() : undefined;
    const valid = this.#keywords(node, value, path, inner, mine);
    this.#depth--;
    if (valid && seen !== undefined && mine !== undefined) addSeen(seen, mine);
    return valid;
  }

  #keywords(node: SchemaNode, value: unknown, path: Path | undefined, scope: Scope, seen: Seen | undefined): boolean {
    if (typeof node.$ref === "string") {
      const valid = this.#check(this.#doc.reference(node), value, path, scope, seen);
      if (this.#doc.draft === "7") return valid;
      if (!valid && this.#issues === undefined) return false;
      return this.#plain(node, value, path, scope, seen) && valid;
    }
    return this.#plain(node, value, path, scope, seen);
  }

  #plain(node: SchemaNode, value: unknown, path: Path | undefined, scope: Scope, seen: Seen | undefined): boolean {
    // A wrong type makes whatever else is wrong beside the point.
    if (!this.#type(node, value)) return this.#fail(path, keywordOfType(node), this.#describe(node), value);
    const quick = this.#issues === undefined;
    let valid = this.#limits(node, value, path);
    if (!valid && quick) return false;
    valid = this.#combined(node, value, path, scope, seen) && valid;
    if (!valid && quick) return false;
    if (Array.isArray(value)) return this.#list(node, value, path, scope, seen) && valid;
    const object = objectOf(value);
    if (object !== undefined) return this.#object(node, object, path, scope, seen) && valid;
    return valid;
  }

  #type(node: SchemaNode, value: unknown): boolean {
    const wanted = node.type;
    if (wanted !== undefined) {
      const type = typeof value === "number" && !Number.isFinite(value) ? "no JSON" : typeOf(value);
      const is = (one: unknown): boolean => one === type || (one === "integer" && Number.isInteger(value));
      if (!(Array.isArray(wanted) ? wanted.some(is) : is(wanted))) return false;
    }
    if (Object.hasOwn(node, "const") && !jsonEqual(node.const, value)) return false;
    return !Array.isArray(node.enum) || node.enum.some((choice) => jsonEqual(choice, value));
  }

  #limits(node: SchemaNode, value: unknown, path: Path | undefined): boolean {
    if (typeof value !== "number" && typeof value !== "string") return true;
    let valid = true;
    const report = (keyword: string, wanted: string): void => {
      valid = this.#fail(path, keyword, wanted, value);
    };
    if (typeof value === "number") checkNumber(node, value, report);
    else checkText(node, value, (source, text) => this.#matches(source, text), report);
    return valid;
  }

  #combined(node: SchemaNode, value: unknown, path: Path | undefined, scope: Scope, seen: Seen | undefined): boolean {
    let valid = true;
    const also = (holds: boolean): void => {
      valid = holds && valid;
    };
    if (typeof node.$dynamicRef === "string") also(this.#check(this.#dynamic(node, scope), value, path, scope, seen));
    if (Array.isArray(node.allOf)) for (const part of node.allOf) also(this.#check(part, value, path, scope, seen));
    if (Array.isArray(node.anyOf)) also(this.#some(node, node.anyOf, value, path, scope, seen));
    if (Array.isArray(node.oneOf)) also(this.#one(node, node.oneOf, value, path, scope, seen));
    if (node.not !== undefined && this.#surely(node.not, value, scope, undefined) === true)
      also(this.#fail(path, "not", "a value that does not fit what is excluded", value));
    if (node.if !== undefined) {
      const holds = this.#surely(node.if, value, scope, seen);
      const decided = holds === undefined ? undefined : holds ? node.then : node.else;
      if (decided !== undefined) also(this.#check(decided, value, path, scope, seen));
    }
    return valid;
  }

  /** The outermost schema gone through that gives the anchor another meaning. */
  #dynamic(node: SchemaNode, scope: Scope): unknown {
    const target = this.#doc.reference(node);
    const name = String(node.$dynamicRef).split("#")[1] ?? "";
    if (own(objectOf(target), "$dynamicAnchor") !== name) return target;
    let outermost = target;
    for (let at: Scope | undefined = scope; at !== undefined; at = at.above)
      outermost = this.#doc.dynamicAnchor(at.base, name) ?? outermost;
    return outermost;
  }

  #some(
    node: SchemaNode,
    branches: unknown[],
    value: unknown,
    path: Path | undefined,
    scope: Scope,
    seen: Seen | undefined,
  ) {
    let found = false;
    for (const branch of branches) {
      if (!this.#quietly(branch, value, scope, seen)) continue;
      found = true;
      if (!this.#doc.tracks) break; // every branch that fits may have looked at something
    }
    return found || this.#noBranch(node, branches, value, path, scope);
  }

  #one(
    node: SchemaNode,
    branches: unknown[],
    value: unknown,
    path: Path | undefined,
    scope: Scope,
    seen: Seen | undefined,
  ) {
    let count = 0;
    let unsure = false;
    for (const branch of branches) {
      const holds = this.#surely(branch, value, scope, seen);
      if (holds === true) count++;
      unsure ||= holds === undefined;
    }
    if (count === 1 || (count === 0 && unsure)) return true;
    if (count > 1) return this.#fail(path, "oneOf", "a value that fits only one of the forms", value);
    return this.#noBranch(node, branches, value, path, scope);
  }

  /** No branch fits: where the value is clearly meant as one of them, what is wrong with it as that. */
  #noBranch(node: SchemaNode, branches: unknown[], value: unknown, path: Path | undefined, scope: Scope): false {
    if (this.#issues === undefined) return false;
    const meant = branches.filter((branch) => this.#looksLike(branch, value));
    if (meant.length === 1 && typeof value === "object" && value !== null)
      this.#check(meant[0], value, path, scope, undefined);
    else this.#fail(path, "anyOf", this.#describe(node), value);
    return false;
  }

  /** Whether the type fits, and so does each property that can have one value only. */
  #looksLike(branch: unknown, value: unknown): boolean {
    let node = objectOf(branch);
    if (typeof node?.$ref === "string") node = objectOf(this.#doc.reference(node));
    if (node === undefined || !this.#type(node, value)) return false;
    const object = objectOf(value);
    const properties = Object.entries(objectOf(node.properties) ?? {});
    return (
      object === undefined ||
      properties.every(([key, schema]) => {
        const fixed = objectOf(schema);
        return fixed === undefined || !Object.hasOwn(fixed, "const") || jsonEqual(fixed.const, own(object, key));
      })
    );
  }

  /** A check whose failure is no failure of the whole; what it looked at counts if it fits. */
  #quietly(schema: unknown, value: unknown, scope: Scope, seen: Seen | undefined): boolean {
    const issues = this.#issues;
    const depth = this.#depth;
    this.#issues = undefined;
    const valid = this.#check(schema, value, undefined, scope, seen);
    this.#issues = issues;
    this.#depth = depth;
    return valid;
  }

  /** The same; undefined where a pattern that cannot be checked decides. */
  #surely(schema: unknown, value: unknown, scope: Scope, seen: Seen | undefined): boolean | undefined {
    const before = this.#unsure;
    const valid = this.#quietly(schema, value, scope, seen);
    return valid && this.#unsure > before ? undefined : valid;
  }

  #matches(source: string, text: string): boolean | undefined {
    const matches = this.#doc.pattern(source).test(text);
    if (matches === undefined) this.#unsure++;
    return matches;
  }

  #list(
    node: SchemaNode,
    value: readonly unknown[],
    path: Path | undefined,
    scope: Scope,
    seen: Seen | undefined,
  ): boolean {
    let valid = true;
    const need = (keyword: string, holds: boolean, wanted: string): void => {
      if (!holds) valid = this.#fail(path, keyword, wanted, value);
    };
    const { minItems, maxItems } = node;
    if (typeof minItems === "number") need("minItems", value.length >= minItems, `at least ${minItems} entries`);
    if (typeof maxItems === "number") need("maxItems", value.length <= maxItems, `at most ${maxItems} entries`);
    if (node.uniqueItems === true) need("uniqueItems", allDiffer(value), "entries that differ");
    const heads = Array.isArray(node.prefixItems) ? node.prefixItems : Array.isArray(node.items) ? node.items : [];
    const rest = Array.isArray(node.items) ? node.additionalItems : node.items;
    for (let i = 0; i < value.length; i++) {
      const schema = i < heads.length ? heads[i] : rest;
      if (schema === undefined) continue;
      seen?.items.add(i);
      valid = this.#child(schema, value[i], path, i, scope) && valid;
      if (!valid && this.#issues === undefined) return false;
    }
    if (node.contains !== undefined) valid = this.#contains(node, value, path, scope, seen) && valid;
    if (node.unevaluatedItems !== undefined && seen !== undefined) {
      for (let i = 0; i < value.length; i++) {
        if (seen.items.has(i)) continue;
        seen.items.add(i);
        valid = this.#child(node.unevaluatedItems, value[i], path, i, scope) && valid;
      }
    }
    return valid;
  }

  #contains(
    node: SchemaNode,
    value: readonly unknown[],
    path: Path | undefined,
    scope: Scope,
    seen: Seen | undefined,
  ): boolean {
    const least = typeof node.minContains === "number" && this.#doc.draft !== "7" ? node.minContains : 1;
    const most =
      typeof node.maxContains === "number" && this.#doc.draft !== "7" ? node.maxContains : Number.POSITIVE_INFINITY;
    let count = 0;
    for (const [i, item] of value.entries()) {
      if (!this.#quietly(node.contains, item, scope, undefined)) continue;
      count++;
      if (this.#doc.draft !== "7") seen?.items.add(i);
    }
    if (count < least)
      return this.#fail(path, "contains", `at least ${least} of: ${this.#describe(node.contains)}`, value);
    if (count > most)
      return this.#fail(path, "contains", `at most ${most} of: ${this.#describe(node.contains)}`, value);
    return true;
  }

  #object(node: SchemaNode, value: SchemaNode, path: Path | undefined, scope: Scope, seen: Seen | undefined): boolean {
    const keys = Object.keys(value);
    let valid = this.#objectLimits(node, value, keys, path, scope);
    if (!valid && this.#issues === undefined) return false;
    const properties = objectOf(node.properties);
    const patterns = Object.entries(objectOf(node.patternProperties) ?? {});
    for (const key of keys) {
      const schema = own(properties, key);
      let known = schema !== undefined;
      if (known) valid = this.#child(schema, value[key], path, key, scope) && valid;
      for (const [source, matching] of patterns) {
        const matches = this.#matches(source, key);
        if (matches === false) continue;
        known = true; // or may be: then nothing is asked of it
        if (matches) valid = this.#child(matching, value[key], path, key, scope) && valid;
      }
      if (!known && node.additionalProperties !== undefined) {
        known = true;
        valid = this.#extra(node, node.additionalProperties, value, key, path, scope) && valid;
      }
      if (known) seen?.keys.add(key);
      if (!valid && this.#issues === undefined) return false;
    }
    valid = this.#dependent(node, value, path, scope, seen) && valid;
    if (node.unevaluatedProperties !== undefined && seen !== undefined) {
      for (const key of keys) {
        if (seen.keys.has(key)) continue;
        seen.keys.add(key);
        valid = this.#extra(node, node.unevaluatedProperties, value, key, path, scope) && valid;
      }
    }
    return valid;
  }

  #objectLimits(node: SchemaNode, value: SchemaNode, keys: string[], path: Path | undefined, scope: Scope): boolean {
    let valid = true;
    const { required, minProperties, maxProperties } = node;
    if (Array.isArray(required)) {
      for (const key of required as string[]) {
        if (Object.hasOwn(value, key)) continue;
        valid = this.#fail(
          { above: path, key },
          "required",
          this.#describe(own(objectOf(node.properties), key)),
          undefined,
        );
      }
    }
    if (typeof minProperties === "number" && keys.length < minProperties)
      valid = this.#fail(path, "minProperties", `at least ${minProperties} properties`, value);
    if (typeof maxProperties === "number" && keys.length > maxProperties)
      valid = this.#fail(path, "maxProperties", `at most ${maxProperties} properties`, value);
    if (node.propertyNames !== undefined) {
      for (const key of keys) {
        if (this.#quietly(node.propertyNames, key, scope, undefined)) continue;
        valid = this.#fail(path, "propertyNames", `names that are ${this.#describe(node.propertyNames)}`, key);
      }
    }
    return valid;
  }

  #dependent(
    node: SchemaNode,
    value: SchemaNode,
    path: Path | undefined,
    scope: Scope,
    seen: Seen | undefined,
  ): boolean {
    let valid = true;
    for (const keyword of ["dependentRequired", "dependentSchemas", "dependencies"] as const) {
      for (const [key, needed] of Object.entries(objectOf(node[keyword]) ?? {})) {
        if (!Object.hasOwn(value, key)) continue;
        if (!Array.isArray(needed)) valid = this.#check(needed, value, path, scope, seen) && valid;
        else {
          for (const other of needed as string[])
            if (!Object.hasOwn(value, other))
              valid = this.#fail({ above: path, key: other }, "required", `a value, as ${key} is given`, undefined);
        }
      }
    }
    return valid;
  }

  #extra(
    node: SchemaNode,
    schema: unknown,
    value: SchemaNode,
    key: string,
    path: Path | undefined,
    scope: Scope,
  ): boolean {
    if (schema !== false) return this.#child(schema, value[key], path, key, scope);
    if (this.#issues === undefined) return false;
    const known = Object.keys(objectOf(node.properties) ?? {});
    const expected = known.length === 0 ? "no properties" : `only ${known.slice(0, MAX_NAMES).join(", ")}`;
    const message = `is not known here; there are ${expected}`;
    this.#issues.push({
      path: textOf({ above: path, key }),
      keyword: "additionalProperties",
      expected,
      got: showValue(value[key]),
      message,
    });
    return false;
  }

  #child(schema: unknown, value: unknown, path: Path | undefined, key: string | number, scope: Scope): boolean {
    const at = this.#issues === undefined ? undefined : { above: path, key };
    return this.#check(schema, value, at, scope, undefined);
  }

  #fail(path: Path | undefined, keyword: string, expected: string, value: unknown): false {
    if (this.#issues === undefined) return false;
    const got = showValue(value);
    this.#issues.push({ path: textOf(path), keyword, expected, got, message: `wanted ${expected}, got ${got}` });
    return false;
  }

  #describe(schema: unknown): string {
    return this.#issues === undefined ? "" : describeSchema(schema, (node) => this.#doc.reference(node));
  }
}

const MAX_NAMES = 30;

function keywordOfType(node: SchemaNode): string {
  return ["const", "enum"].find((keyword) => Object.hasOwn(node, keyword)) ?? "type";
}

function newSeen(): Seen {
  return { keys: new Set(), items: new Set() };
}

function addSeen(to: Seen, from: Seen): void {
  for (const key of from.keys) to.keys.add(key);
  for (const item of from.items) to.items.add(item);
}

function textOf(path: Path | undefined): string {
  const steps: (string | number)[] = [];
  for (let at = path; at !== undefined; at = at.above) steps.unshift(at.key);
  return steps.join(".");
}
