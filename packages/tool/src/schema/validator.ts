import type { JsonSchema } from "@shedkit/types";
import { ToolError } from "../error.js";
import type { SchemaIssue, SchemaValidator } from "../schema.js";
import { SchemaDocument, type SchemaReading } from "./document.js";
import { Evaluation } from "./evaluate.js";
import { SchemaFault } from "./keywords.js";

/** A schema made ready: for checks of whole values, and of parts of it. */
export interface ReadSchema {
  check(value: unknown): readonly SchemaIssue[];
  /** Whether a value fits one of the schemas inside. */
  fits(part: unknown, value: unknown): boolean;
  /** The schema itself, or what it refers to. */
  follow(part: unknown): unknown;
}

export interface ReadingValidator extends SchemaValidator {
  read(schema: JsonSchema): ReadSchema;
}

/** A validator that makes no code. Compiled schemas are kept as long as they live. */
export function createValidator(reading: SchemaReading = {}): ReadingValidator {
  const known = new WeakMap<JsonSchema, ReadSchema>();
  const read = (schema: JsonSchema): ReadSchema => {
    let ready = known.get(schema);
    if (ready === undefined) {
      ready = guard(() => readSchema(new SchemaDocument(schema, reading)));
      known.set(schema, ready);
    }
    return ready;
  };
  return { read, compile: (schema) => read(schema).check };
}

/**
 * Checks values without making code from strings, so that it runs where that is forbidden (edge workers, strict
 * content security policies). Draft-07 and 2020-12; `format` is checked.
 */
export const evalFreeValidator: ReadingValidator = createValidator();

const MAX_HOPS = 16; // a reference may lead to itself

function readSchema(doc: SchemaDocument): ReadSchema {
  return {
    check: (value) =>
      guard(() => {
        if (new Evaluation(doc).fits(doc.root, value)) return [];
        const issues: SchemaIssue[] = [];
        new Evaluation(doc, issues).fits(doc.root, value);
        return issues.length > 0 ? unique(issues) : [UNEXPLAINED];
      }),
    fits: (part, value) => guard(() => new Evaluation(doc).fits(part, value)),
    follow(part) {
      let at = part;
      for (let hop = 0; hop < MAX_HOPS; hop++) {
        const next = typeof at === "object" && at !== null && "$ref" in at ? doc.reference(at as never) : undefined;
        if (next === undefined) break;
        at = next;
      }
      return at;
    },
  };
}

const UNEXPLAINED: SchemaIssue = {
  path: "",
  expected: "what the schema describes",
  got: "something else",
  message: "does not fit the schema",
};

function unique(issues: readonly SchemaIssue[]): readonly SchemaIssue[] {
  return [...new Map(issues.map((issue) => [`${issue.path}\n${issue.message}`, issue])).values()];
}

/** A fault of a schema, or a value that it has no end of, as the error of a call. */
function guard<T>(work: () => T): T {
  try {
    return work();
  } catch (e) {
    if (!(e instanceof SchemaFault || e instanceof RangeError)) throw e;
    const message = e instanceof SchemaFault ? e.message : "The schema or the value nests too deep.";
    throw new ToolError("invalidArguments", "schema", message, { cause: e });
  }
}
