import { evalFreeValidator, type SchemaIssue, type SchemaValidator, schemaDraft, ToolError } from "@shedkit/tool";
import type { JsonSchema } from "@shedkit/types";
import { Ajv, type Options } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";

const OPTIONS: Options = {
  strict: false, // foreign schemas hold keywords of their own
  ownProperties: true,
  addUsedSchema: false,
  logger: false,
};

/** ajv as a {@link SchemaValidator}: it decides; what does not fit is told as the eval-free validator tells it. */
export function ajvValidator(): SchemaValidator {
  const draft7 = withFormats(new Ajv(OPTIONS));
  const draft2020 = withFormats(new Ajv2020(OPTIONS));
  const compiled = new WeakMap<JsonSchema, (value: unknown) => readonly SchemaIssue[]>();
  return {
    compile(schema) {
      const known = compiled.get(schema);
      if (known !== undefined) return known;
      const check = compile(schemaDraft(schema) === "7" ? draft7 : draft2020, schema);
      compiled.set(schema, check);
      return check;
    },
  };
}

// The package is CommonJS: its default stands under `default` where a bundler did not unwrap it.
const addFormats = ("default" in formats ? formats.default : formats) as unknown as (ajv: Ajv) => void;

function withFormats(ajv: Ajv): Ajv {
  addFormats(ajv);
  return ajv;
}

function compile(ajv: Ajv, schema: JsonSchema): (value: unknown) => readonly SchemaIssue[] {
  // The draft is chosen already; an unknown `$schema` would be refused.
  const { $schema: _, ...plain } = schema as { $schema?: unknown };
  let valid: (value: unknown) => boolean;
  try {
    valid = ajv.compile(plain) as (value: unknown) => boolean;
  } catch (e) {
    const reason = e instanceof Error ? e.message : String(e);
    throw new ToolError("invalidArguments", "schema", `The schema is not valid: ${reason}`, { cause: e });
  } finally {
    ajv.removeSchema(plain); // compiled checks live as long as their schema, not as long as ajv
  }
  return (value) => {
    if (valid(value)) return [];
    const issues = evalFreeValidator.compile(schema)(value);
    return issues.length > 0 ? issues : [UNEXPLAINED];
  };
}

const UNEXPLAINED: SchemaIssue = {
  path: "",
  expected: "what the schema describes",
  got: "something else",
  message: "does not fit the schema",
};
