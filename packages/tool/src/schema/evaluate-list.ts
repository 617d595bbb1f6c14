import { allDiffer } from "./equal.js";
import type { Evaluation, Place } from "./evaluate.js";
import type { SchemaNode } from "./node.js";

/** The keywords of lists. */
export function checkList(run: Evaluation, node: SchemaNode, value: readonly unknown[], at: Place): boolean {
  const { path, scope, seen } = at;
  let valid = true;
  const need = (keyword: string, holds: boolean, wanted: string): void => {
    if (!holds) valid = run.fail(path, keyword, wanted, value);
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
    valid = run.child(schema, value[i], path, i, scope) && valid;
    if (!valid && run.quick) return false;
  }
  if (node.contains !== undefined) valid = checkContains(run, node, value, at) && valid;
  if (node.unevaluatedItems !== undefined && seen !== undefined) {
    for (let i = 0; i < value.length; i++) {
      if (seen.items.has(i)) continue;
      seen.items.add(i);
      valid = run.child(node.unevaluatedItems, value[i], path, i, scope) && valid;
    }
  }
  return valid;
}

function checkContains(run: Evaluation, node: SchemaNode, value: readonly unknown[], at: Place): boolean {
  const { path, scope, seen } = at;
  const least = typeof node.minContains === "number" && run.doc.draft !== "7" ? node.minContains : 1;
  const most =
    typeof node.maxContains === "number" && run.doc.draft !== "7" ? node.maxContains : Number.POSITIVE_INFINITY;
  let count = 0;
  for (const [i, item] of value.entries()) {
    if (!run.quietly(node.contains, item, scope, undefined)) continue;
    count++;
    if (run.doc.draft !== "7") seen?.items.add(i);
  }
  if (count < least) return run.fail(path, "contains", `at least ${least} of: ${run.describe(node.contains)}`, value);
  if (count > most) return run.fail(path, "contains", `at most ${most} of: ${run.describe(node.contains)}`, value);
  return true;
}
