import type { Evaluation, Place } from "./evaluate.js";
import { objectOf, own, type SchemaNode } from "./node.js";

const MAX_NAMES = 30;

/** The keywords of objects. */
export function checkObject(run: Evaluation, node: SchemaNode, value: SchemaNode, at: Place): boolean {
  const { path, scope, seen } = at;
  const keys = Object.keys(value);
  let valid = checkLimits(run, node, value, keys, at);
  if (!valid && run.quick) return false;
  const properties = objectOf(node.properties);
  const patterns = Object.entries(objectOf(node.patternProperties) ?? {});
  for (const key of keys) {
    const schema = own(properties, key);
    let known = schema !== undefined;
    if (known) valid = run.child(schema, value[key], path, key, scope) && valid;
    for (const [source, matching] of patterns) {
      const matches = run.matches(source, key);
      if (matches === false) continue;
      known = true; // or may be: then nothing is asked of it
      if (matches) valid = run.child(matching, value[key], path, key, scope) && valid;
    }
    if (!known && node.additionalProperties !== undefined) {
      known = true;
      valid = checkExtra(run, node, node.additionalProperties, value, key, at) && valid;
    }
    if (known) seen?.keys.add(key);
    if (!valid && run.quick) return false;
  }
  valid = checkDependent(run, node, value, at) && valid;
  if (node.unevaluatedProperties !== undefined && seen !== undefined) {
    for (const key of keys) {
      if (seen.keys.has(key)) continue;
      seen.keys.add(key);
      valid = checkExtra(run, node, node.unevaluatedProperties, value, key, at) && valid;
    }
  }
  return valid;
}

function checkLimits(run: Evaluation, node: SchemaNode, value: SchemaNode, keys: string[], at: Place): boolean {
  const { path, scope } = at;
  let valid = true;
  const { required, minProperties, maxProperties } = node;
  if (Array.isArray(required)) {
    for (const key of required as string[]) {
      if (Object.hasOwn(value, key)) continue;
      valid = run.fail({ above: path, key }, "required", run.describe(own(objectOf(node.properties), key)), undefined);
    }
  }
  if (typeof minProperties === "number" && keys.length < minProperties)
    valid = run.fail(path, "minProperties", `at least ${minProperties} properties`, value);
  if (typeof maxProperties === "number" && keys.length > maxProperties)
    valid = run.fail(path, "maxProperties", `at most ${maxProperties} properties`, value);
  if (node.propertyNames !== undefined) {
    for (const key of keys) {
      if (run.quietly(node.propertyNames, key, scope, undefined)) continue;
      valid = run.fail(path, "propertyNames", `names that are ${run.describe(node.propertyNames)}`, key);
    }
  }
  return valid;
}

function checkDependent(run: Evaluation, node: SchemaNode, value: SchemaNode, at: Place): boolean {
  const { path, scope, seen } = at;
  let valid = true;
  for (const keyword of ["dependentRequired", "dependentSchemas", "dependencies"] as const) {
    for (const [key, needed] of Object.entries(objectOf(node[keyword]) ?? {})) {
      if (!Object.hasOwn(value, key)) continue;
      if (!Array.isArray(needed)) valid = run.check(needed, value, path, scope, seen) && valid;
      else {
        for (const other of needed as string[])
          if (!Object.hasOwn(value, other))
            valid = run.fail({ above: path, key: other }, "required", `a value, as ${key} is given`, undefined);
      }
    }
  }
  return valid;
}

/** A property that has no schema of its own. */
function checkExtra(
  run: Evaluation,
  node: SchemaNode,
  schema: unknown,
  value: SchemaNode,
  key: string,
  { path, scope }: Place,
): boolean {
  if (schema !== false) return run.child(schema, value[key], path, key, scope);
  if (run.quick) return false;
  const known = Object.keys(objectOf(node.properties) ?? {});
  const expected = known.length === 0 ? "no properties" : `only ${known.slice(0, MAX_NAMES).join(", ")}`;
  const message = `is not known here; there are ${expected}`;
  return run.fail({ above: path, key }, "additionalProperties", expected, value[key], message);
}
