import type { ToolFunctionSpec } from "@shedkit/types";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { GrammarMatcher } from "../src/backend.js";
import { deepseekDsml, gemma4, glm, hermes, kimi, mistral, qwenCoder } from "../src/index.js";
import { accepted } from "./gbnf-sampler.js";

const tools: ToolFunctionSpec[] = [
  {
    name: "write",
    description: "",
    parameters: {
      type: "object",
      properties: {
        path: { type: "string", minLength: 1, maxLength: 9 },
        n: { type: "integer", minimum: -3, maximum: 120 },
        kind: { enum: ["a", 'b "c"', "世"] },
        tags: { type: "array", items: { type: "string" }, maxItems: 3 },
        any: {},
      },
      required: ["path"],
    },
  },
  { name: "list", description: "", parameters: { type: "object", properties: {} } },
];
const takes = (grammar: string, text: string) => GrammarMatcher.of(grammar).after(text)?.complete === true;

describe.each(
  [hermes, qwenCoder, glm, gemma4, mistral, kimi, deepseekDsml].map((family) => ({ id: family.id, family })),
)("the grammar of $id", ({ family }) => {
  const grammar = family.grammar(tools) ?? "";
  const start = GrammarMatcher.of(grammar);

  it("is followed by every text that it makes, at every character, and ends where that ends", () => {
    fc.assert(
      fc.property(accepted(grammar), (text) => {
        let state: GrammarMatcher | undefined = start;
        for (const char of text) state = state?.after(char);
        expect(state?.complete).toBe(true);
        expect(start.after(text)?.complete).toBe(true);
      }),
      { numRuns: 60 },
    );
  });
});

it("takes no text that is not the grammar's: another character where a literal, a class or a count wants one", () => {
  const grammar = 'root ::= ( "ab" | [x-z]{2,3} ) tail?\ntail ::= "-" [^a\\]] tail | "."';
  for (const text of ["ab", "xy", "xyz", "ab.", "zz-b.", "xx-b-c."])
    expect([text, takes(grammar, text)]).toEqual([text, true]);
  for (const text of ["", "a", "abc", "x", "xyzz", "ab-a.", "ab-].", "ab-b", "ab..", "w", "ab-"]) {
    expect([text, takes(grammar, text)]).toEqual([text, false]);
  }
  expect(GrammarMatcher.of(grammar).after("a")).toBeDefined();
  expect(GrammarMatcher.of(grammar).after("ac")).toBeUndefined();
});

it("says of JSON texts what JSON.parse and the schema say, in the grammar of any object", () => {
  const grammar = hermes.answerGrammar({ type: "object" }, false);
  fc.assert(
    fc.property(fc.dictionary(fc.string({ maxLength: 4 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 }), (value) => {
      const text = JSON.stringify(value);
      // More digits than a double holds are not written.
      if (/\d{16}|[eE][-+]?\d{3}|[\x7f]/.test(text)) return;
      expect(takes(grammar, text)).toBe(true);
      expect(takes(grammar, `${text}}`)).toBe(false);
      expect(takes(grammar, text.slice(0, -1))).toBe(false);
    }),
  );
});

it("knows whether one of some characters may come", () => {
  const takes = (body: string, low: string, high: string) =>
    GrammarMatcher.of(`root ::= ${body}`).takes([low.codePointAt(0) ?? 0, high.codePointAt(0) ?? 0]);
  expect(takes('"é"', "à", "ÿ")).toBe(true);
  expect(takes('"é"', "ê", "ÿ")).toBe(false);
  expect(takes('"a" "é"', "é", "é")).toBe(false);
  expect(takes("[^a-y]", "b", "z")).toBe(true);
  expect(takes("[^a-cd-z]", "b", "z")).toBe(false);
  expect(takes("[^x-za-c]", "b", "y")).toBe(true);
});

it("costs no more at the end of a long text than at its start", () => {
  let state: GrammarMatcher | undefined = GrammarMatcher.of(
    'root ::= "[" value* "]"\nvalue ::= ( "a" | "b" "c"? )* ","',
  );
  state = state.after(`[${"abcb,".repeat(20_000)}`);
  expect(state?.after("a]")).toBeUndefined();
  expect(state?.after("]")?.complete).toBe(true);
});

it.each(["root", 'root ::= "a', "root ::= other", "root ::= ( a", "root ::= )", "root ::= [a"])(
  "refuses %s",
  (grammar) => {
    expect(() => GrammarMatcher.of(grammar)).toThrow(SyntaxError);
  },
);
