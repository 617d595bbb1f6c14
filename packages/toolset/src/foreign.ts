import { createValidator, type Pattern, type SchemaLimits, type SchemaValidator } from "@shedkit/tool";

/** What a schema from elsewhere may ask for: far more than an honest one does. */
const LIMITS: SchemaLimits = { depth: 48, schemas: 5000, choices: 5000, characters: 500_000, steps: 500_000 };
const MAX_PATTERN = 2000;

interface Engine {
  compile(source: string): Pattern;
  translate(source: string): string;
}

let engine: Engine | undefined;
let loading: Promise<void> | undefined;

/**
 * Loads the engine for patterns of foreign schemas. Until it is there, and where it cannot be loaded, they are not
 * checked. Never rejects.
 */
export function loadForeignPatterns(): Promise<void> {
  loading ??= import("re2js").then(
    ({ RE2JS }) => {
      engine = { compile: (source) => RE2JS.compile(source), translate: (source) => RE2JS.translateRegExp(source) };
    },
    () => {
      loading = undefined;
    },
  );
  return loading;
}

/**
 * Reads schemas that come from elsewhere: under limits, without making code of them, with patterns that run in time
 * linear to the text. A pattern that the engine has no form for (it looks ahead, or refers back) is not checked here;
 * whoever sent the schema checks it.
 */
export const foreignValidator: SchemaValidator = createValidator({ limits: LIMITS, pattern: linearPattern });

function linearPattern(source: string): Pattern {
  if (source.length > MAX_PATTERN) throw new Error(`it is longer than ${MAX_PATTERN} characters`);
  new RegExp(source); // throws for what is no pattern
  let compiled: Pattern | undefined;
  return {
    test(text) {
      if (engine === undefined) return undefined;
      compiled ??= compileWith(engine, source);
      return compiled.test(text);
    },
  };
}

function compileWith(current: Engine, source: string): Pattern {
  try {
    return current.compile(current.translate(source));
  } catch {
    return { test: () => undefined };
  }
}

/** Whether a schema has any pattern at all. */
export function hasPatterns(schema: unknown, depth = 0): boolean {
  if (typeof schema !== "object" || schema === null || depth > 64) return false;
  if (Object.hasOwn(schema, "pattern") || Object.hasOwn(schema, "patternProperties")) return true;
  return Object.values(schema).some((part) => hasPatterns(part, depth + 1));
}
