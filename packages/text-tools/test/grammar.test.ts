import { evalFreeValidator } from "@shedkit/tool";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { hermes } from "../src/index.js";
import { accepted, parseGbnf } from "./gbnf-sampler.js";

const answers = (schema: object) => accepted(hermes.answerGrammar(schema, false));

function check(schema: object, numRuns = 60): void {
  const validate = evalFreeValidator.compile(schema);
  fc.assert(
    fc.property(answers(schema), (text) => {
      expect(validate(JSON.parse(text)), text).toEqual([]);
    }),
    { numRuns },
  );
}

/** The distinct values that come up. */
function values(schema: object, count = 300): string[] {
  const texts = fc.sample(answers(schema), { numRuns: count, seed: 1 });
  return [...new Set(texts.map((text) => JSON.stringify(JSON.parse(text))))].sort();
}

const scalars = fc.oneof(
  fc.record({ type: fc.constant("string") }),
  fc
    .tuple(fc.nat(5), fc.nat(5))
    .map(([a, b]) => ({ type: "string", minLength: Math.min(a, b), maxLength: Math.max(a, b) })),
  fc.tuple(fc.integer({ min: -3000, max: 3000 }), fc.nat(4000)).map(([minimum, more]) => ({
    type: "integer",
    minimum,
    maximum: minimum + more,
  })),
  fc.constantFrom<object>(
    { type: "integer" },
    { type: "number" },
    { type: "number", minimum: 0 },
    { type: "integer", minimum: 1 },
    { type: "integer", exclusiveMinimum: 0, exclusiveMaximum: 4 },
    { type: "boolean" },
    { type: "null" },
    { type: ["string", "null"] },
    { enum: ["a", 'with "quotes"', "line\nbreak", 3, null] },
    { const: { deep: ["value"] } },
    { type: "object" },
    { type: "array" },
    {},
  ),
);

const schemas = fc.letrec<{ schema: object; object: object }>((tie) => ({
  schema: fc.oneof(
    { depthSize: "small" },
    scalars,
    tie("object"),
    tie("schema").map(list),
    fc.tuple(scalars, tie("schema")).map((anyOf) => ({ anyOf })),
  ),
  object: fc
    .dictionary(
      fc.string({ maxLength: 6 }).filter((name) => name !== "__proto__"),
      fc.tuple(tie("schema"), fc.boolean()),
      { maxKeys: 4 },
    )
    .map((properties) => ({
      type: "object",
      properties: Object.fromEntries(Object.entries(properties).map(([name, [schema]]) => [name, schema])),
      required: Object.entries(properties).flatMap(([name, [, required]]) => (required ? [name] : [])),
      additionalProperties: false,
    })),
})).schema;

function list(items: object): object {
  return { type: "array", items, minItems: 1, maxItems: 3 };
}

it("accepts nothing that does not fit the schema", () => {
  fc.assert(
    fc.property(schemas, (schema) => check(schema, 5)),
    { numRuns: 150 },
  );
});

describe("objects", () => {
  const schema = {
    type: "object",
    properties: { a: { const: 1 }, b: { const: 2 }, c: { const: 3 } },
    required: ["b"],
    additionalProperties: false,
  };

  it("may leave out what is optional, in the schema's order", () => {
    expect(values(schema)).toEqual(['{"a":1,"b":2,"c":3}', '{"a":1,"b":2}', '{"b":2,"c":3}', '{"b":2}']);
  });

  it("may be empty where nothing is required", () => {
    expect(values({ type: "object", properties: { a: { const: 1 } } })).toEqual(['{"a":1}', "{}"]);
  });

  it("take a rule or two a property, however many are optional", () => {
    const properties = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`p${i}`, { type: "string" }]));
    const grammar = hermes.answerGrammar({ type: "object", properties }, false);
    expect(grammar.split("\n").length).toBeLessThan(150);
  });

  it("hold what is required without being described", () => {
    for (const text of fc.sample(answers({ type: "object", required: ["x"] }), 20)) {
      expect(JSON.parse(text)).toHaveProperty("x");
    }
  });

  it("of any keys hold values of the schema", () => {
    check({ type: "object", additionalProperties: { type: "integer" } });
  });
});

it("takes the chosen alternative together with what stands beside it", () => {
  const schema = {
    type: "object",
    properties: { a: { const: 1 }, b: { const: 2 } },
    anyOf: [{ required: ["a"] }, { required: ["b"] }],
    additionalProperties: false,
  };
  expect(values(schema)).toEqual(['{"a":1,"b":2}', '{"a":1}', '{"b":2}']);
  check({ allOf: [{ type: "object", properties: { a: { type: "integer" } } }, { required: ["a"] }] });
});

it("follows references, also circular ones", () => {
  check({
    $defs: {
      tree: {
        type: "object",
        properties: { value: { type: "integer" }, children: { type: "array", items: { $ref: "#/$defs/tree" } } },
        required: ["value"],
        additionalProperties: false,
      },
    },
    $ref: "#/$defs/tree",
  });
});

it.each([
  ["a reference to itself", { $ref: "#" }],
  ["a reference to nothing", { $ref: "#/$defs/none" }],
  ["a reference elsewhere", { $ref: "https://example.com/schema" }],
  ["an allOf of itself", { $defs: { a: { allOf: [{ $ref: "#/$defs/a" }] } }, $ref: "#/$defs/a" }],
  ["an anyOf of itself", { $defs: { a: { anyOf: [{ $ref: "#/$defs/a" }, { type: "null" }] } }, $ref: "#/$defs/a" }],
  ["a pattern", { type: "string", pattern: "^a+$" }],
  ["a not", { not: { type: "string" } }],
  ["bounds that nothing fits", { type: "integer", minimum: 5, maximum: 3 }],
  ["lengths that nothing fits", { type: "string", minLength: 5, maxLength: 3 }],
  ["counts that nothing fits", { type: "array", items: { type: "null" }, minItems: 3, maxItems: 1 }],
  ["huge counts", { type: "string", minLength: 1, maxLength: 100_000 }],
  ["a type of another draft", { type: "any" }],
])("loosens %s, and is still JSON", (_, schema) => {
  for (const text of fc.sample(answers(schema), 20)) JSON.parse(text);
});

describe("calls", () => {
  const tools = [
    {
      name: "read",
      description: "",
      parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
    },
    {
      name: "with.dots and spaces",
      description: "",
      parameters: { type: "object", properties: {}, additionalProperties: false },
    },
  ];

  it("are read as the calls that the grammar wrote", () => {
    fc.assert(
      fc.property(accepted(hermes.grammar(tools) ?? ""), (text) => {
        const parser = hermes.parser();
        const events = [...parser.push(`<tool_call>${text}`), ...parser.end()];
        const end = events.at(-1);
        expect(end).toMatchObject({ type: "call", arguments: {} });
        expect(tools.map((tool) => tool.name)).toContain(end?.type === "call" && end.name);
      }),
    );
  });

  it("go on from what has begun, and are free where it fits no call", () => {
    const whole = fc.sample(accepted(hermes.grammar(tools, { mark: "<tool_call>", text: '\n{"na' }) ?? ""), 5);
    for (const rest of whole) JSON.parse(`{"na${rest.replace("</tool_call>", "")}`);
    expect(hermes.grammar(tools, { mark: "<tool_call>", text: "{'name" })).toBeUndefined();
    expect(hermes.grammar([])).toBeUndefined();
  });

  it("name no rule twice", () => {
    const twins = ["a b", "a-b", "root", "ws", "string"].map((name) => ({
      ...tools[0],
      name,
      description: "",
      parameters: {},
    }));
    const grammar = hermes.grammar(twins) ?? "";
    const names = grammar.split("\n").map((line) => line.split(" ::= ")[0]);
    expect(new Set(names).size).toBe(names.length);
    expect(parseGbnf(grammar).size).toBe(names.length);
  });
});
