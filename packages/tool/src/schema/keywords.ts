import { LIST_OF_SCHEMAS, MAP_OF_SCHEMAS, objectOf, type SchemaNode } from "./node.js";

/** A schema that is none: where, and why. */
export class SchemaFault extends Error {
  constructor(place: string, problem: string) {
    super(place === "" ? `The schema ${problem}.` : `The schema at ${place} ${problem}.`);
  }
}

type Test = (value: unknown) => boolean;

const TYPES: ReadonlySet<unknown> = new Set(["string", "number", "integer", "boolean", "array", "object", "null"]);
const isText: Test = (value) => typeof value === "string";
const isCount: Test = (value) => Number.isInteger(value) && (value as number) >= 0;
const isNumber: Test = (value) => typeof value === "number";
const isObject: Test = (value) => objectOf(value) !== undefined;
const isListOf =
  (test: Test): Test =>
  (value) =>
    Array.isArray(value) && value.every(test);

type Rule = readonly [keyword: string, test: Test, wanted: string];

const each = (keywords: readonly string[], test: Test, wanted: string): Rule[] =>
  keywords.map((keyword) => [keyword, test, wanted]);

/** What the value of each keyword must be. Keywords that are not named here may be anything. */
const RULES: ReadonlyMap<string, Rule> = new Map(
  [
    ...each(["type"], (value) => TYPES.has(value) || isListOf((type) => TYPES.has(type))(value), "a type or types"),
    ...each(["enum"], Array.isArray, "a list"),
    ...each(["required"], isListOf(isText), "a list of names"),
    ...each(["pattern", "format", "$ref", "$dynamicRef", "$id", "$anchor", "$dynamicAnchor"], isText, "a text"),
    ...each(["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"], isNumber, "a number"),
    ...each(["multipleOf"], (value) => typeof value === "number" && value > 0, "a number above 0"),
    ...each(["uniqueItems"], (value) => typeof value === "boolean", "true or false"),
    ...each(["minLength", "maxLength", "minItems", "maxItems"], isCount, "a count"),
    ...each(["minProperties", "maxProperties", "minContains", "maxContains"], isCount, "a count"),
    ...each(
      ["dependentRequired"],
      (value) => isObject(value) && Object.values(value as object).every(isListOf(isText)),
      "lists of names",
    ),
    ...each(["dependencies"], isObject, "an object"),
    ...each(LIST_OF_SCHEMAS, (value) => Array.isArray(value) && value.length > 0, "a list of schemas"),
    ...each(MAP_OF_SCHEMAS, isObject, "an object of schemas"),
  ].map((rule) => [rule[0], rule]),
);

/** Throws {@link SchemaFault} for a keyword whose value it cannot have. */
export function assertKeywords(node: SchemaNode, place: string, maxChoices: number | undefined): void {
  for (const [keyword, value] of Object.entries(node)) {
    const rule = RULES.get(keyword);
    if (rule !== undefined && value !== undefined && !rule[1](value))
      throw new SchemaFault(place, `has ${JSON.stringify(keyword)}, which must be ${rule[2]}`);
  }
  if (maxChoices !== undefined && Array.isArray(node.enum) && node.enum.length > maxChoices)
    throw new SchemaFault(place, `names more than ${maxChoices} values`);
}
