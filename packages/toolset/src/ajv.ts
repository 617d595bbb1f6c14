import {
  allDiffer,
  evalFreeValidator,
  isMultipleOf,
  type SchemaIssue,
  type SchemaValidator,
  schemaDraft,
  schemaFormats,
} from "@shedkit/tool";
import type { JsonSchema } from "@shedkit/types";
import { Ajv, type Options } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";

const OPTIONS: Options = {
  strict: false, // foreign schemas hold keywords of their own
  strictNumbers: true, // NaN is no number
  validateSchema: false, // checked before, in the same way as for the eval-free validator
  ownProperties: true,
  addUsedSchema: false,
  logger: false,
  formats: schemaFormats, // the verdicts must be the same
};

/** Code is made for a schema at the value after so many: it costs as much as hundreds of checks without. */
const FIRST = 100;

/**
 * ajv as a {@link SchemaValidator}: it decides, but for the first values of a schema, which the eval-free one checks; what does
 * not fit is told as that one tells it.
 */
export function ajvValidator(first = FIRST): SchemaValidator {
  const draft7 = withOurKeywords(new Ajv(OPTIONS));
  const draft2020 = withOurKeywords(new Ajv2020(OPTIONS));
  const compiled = new WeakMap<JsonSchema, (value: unknown) => readonly SchemaIssue[]>();
  return {
    compile(schema) {
      const known = compiled.get(schema);
      if (known !== undefined) return known;
      const check = compile(schemaDraft(schema) === "7" ? draft7 : draft2020, schema, first);
      compiled.set(schema, check);
      return check;
    },
  };
}

/**
 * ajv divides doubles, by which 19.99 is no multiple of 0.01; and it compares each entry of a list with each other, by
 * which a model could stop the program.
 */
function withOurKeywords<A extends Ajv | Ajv2020>(ajv: A): A {
  ajv.removeKeyword("multipleOf");
  ajv.addKeyword({
    keyword: "multipleOf",
    type: "number",
    validate: (divisor: number, value: number) => isMultipleOf(value, divisor),
    errors: false,
  });
  ajv.removeKeyword("uniqueItems");
  ajv.addKeyword({
    keyword: "uniqueItems",
    type: "array",
    schemaType: "boolean",
    validate: (wanted: boolean, list: readonly unknown[]) => !wanted || allDiffer(list),
    errors: false,
  });
  return ajv;
}

function compile(ajv: Ajv | Ajv2020, schema: JsonSchema, first: number): (value: unknown) => readonly SchemaIssue[] {
  const exact = evalFreeValidator.compile(schema); // throws for what is no schema
  if (!isPlain(schema, 0)) return exact;
  // The draft is chosen already; an unknown `$schema` would be refused.
  const { $schema: _, ...plain } = schema as { $schema?: unknown };
  let left = first;
  let valid: ((value: unknown) => boolean) | undefined;
  return (value) => {
    if (left > 0) {
      left--;
      return exact(value);
    }
    valid ??= fast(ajv, plain);
    return valid(value) ? [] : exact(value);
  };
}

/** Leaves all to the exact check where ajv cannot read the schema. */
function fast(ajv: Ajv | Ajv2020, schema: JsonSchema): (value: unknown) => boolean {
  try {
    return ajv.compile(schema) as (value: unknown) => boolean;
  } catch {
    return () => false;
  } finally {
    ajv.removeSchema(schema); // compiled checks live as long as their schema, not as long as ajv
  }
}

/** Keywords that ajv reads otherwise than the specification in some cases. */
const SUBTLE: ReadonlySet<string> = new Set([
  "$id",
  "$anchor",
  "$dynamicRef",
  "$dynamicAnchor",
  "unevaluatedItems",
  "unevaluatedProperties",
  "__proto__",
]);

/** Whether ajv and the specification agree on all of a schema. A no costs speed alone. */
function isPlain(schema: unknown, depth: number): boolean {
  if (typeof schema !== "object" || schema === null) return true;
  if (depth > 64) return false;
  if (Array.isArray(schema)) return schema.every((item) => isPlain(item, depth + 1));
  const keys = Object.keys(schema);
  const reference = (schema as { $ref?: unknown }).$ref;
  if (reference !== undefined && (keys.length > 1 || typeof reference !== "string" || !reference.startsWith("#/")))
    return false;
  const choices = (schema as { enum?: unknown }).enum;
  if (Array.isArray(choices) && choices.length === 0) return false;
  return keys.every((key) => !SUBTLE.has(key)) && Object.values(schema).every((item) => isPlain(item, depth + 1));
}
