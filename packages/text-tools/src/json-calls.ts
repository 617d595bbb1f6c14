import type { ToolFunctionSpec } from "@shedkit/types";
import { literal } from "./gbnf.js";
import { SchemaGrammar } from "./schema-grammar.js";
import type { Schema } from "./schema-merge.js";

const HEAD = '{"name": ';

/**
 * GBNF of `{"name": ..., "arguments": {...}}` for one of the tools, then `close`, from behind what has `begun`.
 * Undefined where what has begun is not the beginning of such an object.
 */
export function jsonCallGrammar(tools: readonly ToolFunctionSpec[], begun: string, close: string): string | undefined {
  const start = begun.trimStart();
  if (!HEAD.startsWith(start) || tools.length === 0) return undefined;
  const grammar = new SchemaGrammar();
  const calls = tools.map(({ name, parameters }) => {
    const args = grammar.schema(parameters as Schema, `args-${name}`);
    return grammar.rules.add(
      `call-${name}`,
      `${literal(JSON.stringify(name))} "," ws "\\"arguments\\"" ":" ws ${args}`,
    );
  });
  const head = start === "" ? `ws "{" ws "\\"name\\"" ":" ws` : literal(HEAD.slice(start.length));
  return grammar.rules.text(`${head} ( ${calls.join(" | ")} ) ws "}" ws ${literal(close)}`);
}

/** GBNF of the JSON texts that fit a schema, see {@link SchemaGrammar} for what it knows, or of `mark` alone. */
export function jsonGrammar(schema: object, mark?: string): string {
  const grammar = new SchemaGrammar();
  const answer = `ws ${grammar.schema(schema as Schema, "answer")} ws`;
  return grammar.rules.text(mark === undefined ? answer : `${answer} | ws ${literal(mark)}`);
}
