import { showValue } from "../issues.js";
import type { SchemaIssue } from "../schema.js";
import { describeSchema } from "./describe.js";
import type { SchemaDocument } from "./document.js";
import { jsonEqual } from "./equal.js";
import { checkList } from "./evaluate-list.js";
import { checkObject } from "./evaluate-object.js";
import { SchemaFault } from "./keywords.js";
import { checkNumber, checkText } from "./limits.js";
import { objectOf, own, type SchemaNode, typeOf } from "./node.js";

/** Where in the value a check is. */
export interface Path {
  readonly above: Path | undefined;
  readonly key: string | number;
}

/** The schema resources gone through, innermost first: what a dynamic reference looks in. */
export interface Scope {
  readonly base: string;
  readonly above: Scope | undefined;
}

/** What of a value keywords have looked at, for the `unevaluated` ones. */
export interface Seen {
  readonly keys: Set<string>;
  readonly items: Set<number>;
}

/** Where a check is, and what it has gone through. */
export interface Place {
  readonly path: Path | undefined;
  readonly scope: Scope;
  readonly seen: Seen | undefined;
}

const MAX_DEPTH = 1000; // a schema may refer to itself without end

/** One check of one value. With `issues` it goes on after what does not fit, to find all of it. */
export class Evaluation {
  readonly doc: SchemaDocument;
  #issues: SchemaIssue[] | undefined;
  #steps = 0;
  #depth = 0;
  /** How often a pattern could not tell. What did not fit since did so for another reason; what fitted may not have. */
  #unsure = 0;

  constructor(doc: SchemaDocument, issues?: SchemaIssue[]) {
    this.doc = doc;
    this.#issues = issues;
  }

  /** Whether the first thing that does not fit ends the check. */
  get quick(): boolean {
    return this.#issues === undefined;
  }

  /** Throws {@link SchemaFault} where the check itself takes too much. */
  fits(schema: unknown, value: unknown): boolean {
    return this.check(schema, value, undefined, undefined, undefined);
  }

  check(
    schema: unknown,
    value: unknown,
    path: Path | undefined,
    scope: Scope | undefined,
    seen: Seen | undefined,
  ): boolean {
    if (schema === true) return true;
    const node = objectOf(schema);
    if (node === undefined) return this.fail(path, "false", "nothing", value);
    if (++this.#steps > this.doc.maxSteps) throw new SchemaFault("", "takes too long to check against");
    if (++this.#depth > MAX_DEPTH) throw new SchemaFault("", "refers to itself without end");
    const base = this.doc.baseOf(node);
    const inner = scope?.base === base ? scope : { base, above: scope };
    // Its own: an `unevaluated` keyword does not see what schemas beside its own have looked at.
    const mine = this.doc.tracks ? newSeen() : undefined;
    const valid = this.#keywords(node, value, path, inner, mine);
    this.#depth--;
    if (valid && seen !== undefined && mine !== undefined) addSeen(seen, mine);
    return valid;
  }

  #keywords(node: SchemaNode, value: unknown, path: Path | undefined, scope: Scope, seen: Seen | undefined): boolean {
    if (typeof node.$ref === "string") {
      const valid = this.check(this.doc.reference(node), value, path, scope, seen);
      if (this.doc.draft === "7") return valid;
      if (!valid && this.quick) return false;
      return this.#plain(node, value, path, scope, seen) && valid;
    }
    return this.#plain(node, value, path, scope, seen);
  }

  #plain(node: SchemaNode, value: unknown, path: Path | undefined, scope: Scope, seen: Seen | undefined): boolean {
    // A wrong type makes whatever else is wrong beside the point.
    if (!this.#type(node, value)) return this.fail(path, keywordOfType(node), this.describe(node), value);
    let valid = this.#limits(node, value, path);
    if (!valid && this.quick) return false;
    valid = this.#combined(node, value, path, scope, seen) && valid;
    if (!valid && this.quick) return false;
    if (Array.isArray(value)) return checkList(this, node, value, { path, scope, seen }) && valid;
    const object = objectOf(value);
    if (object !== undefined) return checkObject(this, node, object, { path, scope, seen }) && valid;
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
      valid = this.fail(path, keyword, wanted, value);
    };
    if (typeof value === "number") checkNumber(node, value, report);
    else checkText(node, value, (source, text) => this.matches(source, text), report);
    return valid;
  }

  #combined(node: SchemaNode, value: unknown, path: Path | undefined, scope: Scope, seen: Seen | undefined): boolean {
    let valid = true;
    const also = (holds: boolean): void => {
      valid = holds && valid;
    };
    if (typeof node.$dynamicRef === "string") also(this.check(this.#dynamic(node, scope), value, path, scope, seen));
    if (Array.isArray(node.allOf)) for (const part of node.allOf) also(this.check(part, value, path, scope, seen));
    if (Array.isArray(node.anyOf)) also(this.#some(node, node.anyOf, value, path, scope, seen));
    if (Array.isArray(node.oneOf)) also(this.#one(node, node.oneOf, value, path, scope, seen));
    if (node.not !== undefined && this.#surely(node.not, value, scope, undefined) === true)
      also(this.fail(path, "not", "a value that does not fit what is excluded", value));
    if (node.if !== undefined) {
      const holds = this.#surely(node.if, value, scope, seen);
      const decided = holds === undefined ? undefined : holds ? node.then : node.else;
      if (decided !== undefined) also(this.check(decided, value, path, scope, seen));
    }
    return valid;
  }

  /** The outermost schema gone through that gives the anchor another meaning. */
  #dynamic(node: SchemaNode, scope: Scope): unknown {
    const target = this.doc.reference(node);
    const name = String(node.$dynamicRef).split("#")[1] ?? "";
    if (own(objectOf(target), "$dynamicAnchor") !== name) return target;
    let outermost = target;
    for (let at: Scope | undefined = scope; at !== undefined; at = at.above)
      outermost = this.doc.dynamicAnchor(at.base, name) ?? outermost;
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
      if (!this.quietly(branch, value, scope, seen)) continue;
      found = true;
      if (!this.doc.tracks) break; // every branch that fits may have looked at something
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
    if (count > 1) return this.fail(path, "oneOf", "a value that fits only one of the forms", value);
    return this.#noBranch(node, branches, value, path, scope);
  }

  /** No branch fits: where the value is clearly meant as one of them, what is wrong with it as that. */
  #noBranch(node: SchemaNode, branches: unknown[], value: unknown, path: Path | undefined, scope: Scope): false {
    if (this.#issues === undefined) return false;
    const meant = branches.filter((branch) => this.#looksLike(branch, value));
    if (meant.length === 1 && typeof value === "object" && value !== null)
      this.check(meant[0], value, path, scope, undefined);
    else this.fail(path, "anyOf", this.describe(node), value);
    return false;
  }

  /** Whether the type fits, and so does each property that can have one value only. */
  #looksLike(branch: unknown, value: unknown): boolean {
    let node = objectOf(branch);
    if (typeof node?.$ref === "string") node = objectOf(this.doc.reference(node));
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
  quietly(schema: unknown, value: unknown, scope: Scope, seen: Seen | undefined): boolean {
    const issues = this.#issues;
    const depth = this.#depth;
    this.#issues = undefined;
    const valid = this.check(schema, value, undefined, scope, seen);
    this.#issues = issues;
    this.#depth = depth;
    return valid;
  }

  /** The same; undefined where a pattern that cannot be checked decides. */
  #surely(schema: unknown, value: unknown, scope: Scope, seen: Seen | undefined): boolean | undefined {
    const before = this.#unsure;
    const valid = this.quietly(schema, value, scope, seen);
    return valid && this.#unsure > before ? undefined : valid;
  }

  /** Undefined where the pattern cannot tell. */
  matches(source: string, text: string): boolean | undefined {
    const matches = this.doc.pattern(source).test(text);
    if (matches === undefined) this.#unsure++;
    return matches;
  }

  /** Checks an entry or a property. */
  child(schema: unknown, value: unknown, path: Path | undefined, key: string | number, scope: Scope): boolean {
    const at = this.quick ? undefined : { above: path, key };
    return this.check(schema, value, at, scope, undefined);
  }

  fail(path: Path | undefined, keyword: string, expected: string, value: unknown, message?: string): false {
    if (this.#issues === undefined) return false;
    const got = showValue(value);
    const text = message ?? `wanted ${expected}, got ${got}`;
    this.#issues.push({ path: textOf(path), keyword, expected, got, message: text });
    return false;
  }

  /** What is wanted, in words; only where somebody will read them. */
  describe(schema: unknown): string {
    return this.#issues === undefined ? "" : describeSchema(schema, (node) => this.doc.reference(node));
  }
}

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
