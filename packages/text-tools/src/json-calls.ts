import type { ToolFunctionSpec } from "@shedkit/types";
import { literal } from "./gbnf.js";
import { SchemaGrammar } from "./schema-grammar.js";
import type { Schema } from "./schema-merge.js";

export interface JsonCallOptions {
  /** GBNF of what comes before the object. Default: nothing. */
  open?: string | undefined;
  /** GBNF of what comes behind it. Default: nothing. */
  close?: string | undefined;
  /** The key of the arguments. Default: `arguments`. */
  key?: string | undefined;
  /** Several may stand in a row, with commas. */
  list?: boolean | undefined;
  /** GBNF of members that may follow the arguments. Default: nothing. */
  more?: string | undefined;
}

const HEAD = '{"name": ';

/**
 * GBNF of `{"name": ..., "arguments": {...}}` for one of the tools, from behind what has `begun`. Undefined where what
 * has begun is not the beginning of such an object.
 */
export function jsonCallGrammar(
  tools: readonly ToolFunctionSpec[],
  begun = "",
  { open = "", close = "", key = "arguments", more = "", list = false }: JsonCallOptions = {},
): string | undefined {
  const start = begun.trimStart();
  if (!HEAD.startsWith(start) || tools.length === 0) return undefined;
  const grammar = new SchemaGrammar();
  const calls = tools.map(({ name, parameters }) => {
    const args = grammar.schema(parameters as Schema, `args-${name}`);
    const head = `${literal(JSON.stringify(name))} "," ws ${literal(JSON.stringify(key))} ":" ws`;
    return grammar.rules.add(`call-${name}`, `${head} ${args}`);
  });
  const rest = grammar.rules.add("rest-of-call", `( ${calls.join(" | ")} ) ${more} ws "}"`);
  const opened = `ws "{" ws "\\"name\\"" ":" ws ${rest}`;
  const first = start === "" ? `${open} ${opened}` : `${literal(HEAD.slice(start.length))} ${rest}`;
  return grammar.rules.text(`${first} ${list ? `( ws "," ${opened} )*` : ""}${close}`);
}

/** GBNF of the JSON texts that fit a schema, see {@link SchemaGrammar} for what it knows, or of `mark` alone. */
export function jsonGrammar(schema: object, mark?: string): string {
  const grammar = new SchemaGrammar();
  const answer = `ws ${grammar.schema(schema as Schema, "answer")} ws`;
  return grammar.rules.text(mark === undefined ? answer : `${answer} | ws ${literal(mark)}`);
}
