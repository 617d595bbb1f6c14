import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { evalFreeValidator, type SchemaValidator, schemaFormats, ToolError } from "@shedkit/tool";
import fc from "fast-check";
import { afterEach, describe, expect, test, vi } from "vitest";
import { ajvValidator } from "../src/ajv.js";

const ajv = ajvValidator(0);
const both: [string, SchemaValidator][] = [
  ["ajv", ajv],
  ["eval-free", evalFreeValidator],
];

const tree = {
  $defs: { node: { type: "object", properties: { kids: { type: "array", items: { $ref: "#/$defs/node" } } } } },
  $ref: "#/$defs/node",
};
const linked = {
  $id: "https://example.test/root",
  type: "object",
  properties: { a: { $ref: "part#here" } },
  $defs: { part: { $id: "part", $defs: { x: { $anchor: "here", type: "integer" } } } },
};
const list = (kind: object): object => ({
  $id: "https://example.test/strings",
  $ref: "list",
  $defs: {
    item: { $dynamicAnchor: "item", ...kind },
    list: {
      $id: "list",
      type: "array",
      items: { $dynamicRef: "#item" },
      $defs: { any: { $dynamicAnchor: "item" } },
    },
  },
});

/** Schema, what fits it, what does not. */
const CASES: [string, object, unknown[], unknown[]][] = [
  [
    "types",
    { type: ["integer", "null"] },
    [1, 1.0, null],
    [1.5, "1", true, [], {}, Number.NaN, Number.POSITIVE_INFINITY],
  ],
  ["numbers that are none", { type: "number" }, [1e308], [Number.NaN, Number.NEGATIVE_INFINITY]],
  [
    "const and enum",
    { anyOf: [{ const: { a: [1] } }, { enum: [2, "x", null] }] },
    [{ a: [1] }, "x", null],
    [{ a: 1 }, 1],
  ],
  ["numbers", { minimum: 1, exclusiveMaximum: 3 }, [1, 2.9, "x"], [0.9, 3]],
  ["multiples by their digits", { multipleOf: 0.01 }, [19.99, 0, 1e3], [0.015]],
  ["length in characters", { minLength: 2, maxLength: 2 }, ["ab", "𝄞𝄞", 3], ["𝄞", "abc"]],
  ["patterns", { pattern: "^\\p{L}+$" }, ["añ", 1], ["a1", ""]],
  ["patterns of the older syntax", { pattern: "^[\\w\\-]+\\_$" }, ["a-b_"], ["a b_"]],
  [
    "dates and times",
    { anyOf: [{ format: "time" }, { format: "date-time" }, { format: "duration" }] },
    ["12:00:00Z", "2024-02-29T23:59:60+00:00", "P1DT2H"],
    ["24:00:00Z", "2024-02-30T00:00:00Z", "P", "12:00:60Z"],
  ],
  [
    "addresses",
    { anyOf: [{ format: "ipv4" }, { format: "ipv6" }, { format: "email" }] },
    ["1.2.3.4", "::1", "1::2:1.2.3.4", "a.b@c.de"],
    ["1.2.3.256", "1::2::3", ":1", "a..b@c.de", "@c"],
  ],
  [
    "links",
    { anyOf: [{ format: "uri" }, { format: "json-pointer" }] },
    ["https://a.b:1/c?d#e", "urn:x", "http://[::1]/", "/a~1b", ""],
    ["a b", "http://a b", "http://[1]/", "/~2"],
  ],
  [
    "names",
    { anyOf: [{ format: "hostname" }, { format: "uuid" }, { format: "uri-template" }] },
    ["a-b.c", "01234567-89ab-cdef-0123-456789abcdef", "/{+a}/{b:3}"],
    ["-a b", "a_ b", "{a..b}"],
  ],
  ["formats", { format: "date" }, ["2024-02-29", 4], ["2023-02-29", "x"]],
  ["an unknown format", { format: "colour" }, ["x"], []],
  ["required, and names every object has", { required: ["toString"] }, [{ toString: 1 }, []], [{}]],
  ["extra properties", { properties: { a: true }, additionalProperties: false }, [{ a: 1 }, {}], [{ b: 1 }]],
  ["pattern properties", { patternProperties: { "^n": { type: "number" } } }, [{ n1: 1, x: "" }], [{ n1: "" }]],
  ["property names", { propertyNames: { maxLength: 1 } }, [{ a: 1 }], [{ ab: 1 }]],
  ["counts", { minProperties: 1, maxItems: 1 }, [{ a: 1 }, [1]], [{}, [1, 2]]],
  [
    "entries that differ",
    { uniqueItems: true },
    [[1, "1", { a: 1, b: 2 }]],
    [
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
      [1, 1],
    ],
  ],
  [
    "tuples of 2020-12",
    { prefixItems: [{ type: "string" }], items: { type: "number" } },
    [["a", 1], []],
    [[1], ["a", "b"]],
  ],
  ["tuples of draft-07", { items: [{ type: "string" }], additionalItems: false }, [["a"], []], [["a", 1], [1]]],
  ["contains", { contains: { const: 1 }, minContains: 2 }, [[1, 1]], [[1, 2], []]],
  ["allOf, not", { allOf: [{ type: "string" }], not: { const: "x" } }, ["y"], ["x", 1]],
  ["oneOf", { oneOf: [{ type: "integer" }, { minimum: 2 }] }, [1, 2.5], [3, 1.5]],
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  ["if, then, else", { if: { type: "string" }, then: { minLength: 1 }, else: { const: 0 } }, ["a", 0], ["", 1]],
  ["dependencies", { dependencies: { a: ["b"], c: { required: ["d"] } } }, [{ a: 1, b: 1 }, {}], [{ a: 1 }, { c: 1 }]],
  ["dependent schemas", { dependentSchemas: { a: { required: ["b"] } } }, [{ b: 1 }], [{ a: 1 }]],
  ["recursion", tree, [{ kids: [{ kids: [] }] }], [{ kids: [{ kids: [1] }] }]],
  [
    "recursion at the root",
    { properties: { me: { $ref: "#" } }, type: "object" },
    [{ me: { me: {} } }],
    [{ me: { me: 1 } }],
  ],
  ["ids and anchors", linked, [{ a: 1 }], [{ a: "x" }]],
  ["dynamic references", list({ type: "string" }), [["a"]], [[1]]],
  ["unevaluated", { allOf: [{ properties: { a: true } }], unevaluatedProperties: false }, [{ a: 1 }], [{ b: 1 }]],
  ["true and false", { properties: { yes: true, no: false } }, [{ yes: 1 }], [{ no: 1 }]],
  [
    "what stands beside a reference, in draft-07",
    {
      $schema: "http://json-schema.org/draft-07/schema#",
      definitions: { a: {} },
      properties: { x: { $ref: "#/definitions/a", type: "string" } },
    },
    [{ x: 1 }],
    [],
  ],
  [
    "what stands beside a reference, since",
    { $defs: { a: {} }, properties: { x: { $ref: "#/$defs/a", type: "string" } } },
    [{ x: "" }],
    [{ x: 1 }],
  ],
];

describe.each(both)("%s", (_, validator) => {
  test.each(CASES)("%s", (_, schema, good, bad) => {
    const check = validator.compile(schema);
    for (const value of good) expect(check(value), JSON.stringify(value)).toEqual([]);
    for (const value of bad) expect(check(value).length, JSON.stringify(value)).toBeGreaterThan(0);
  });

  test.each([
    { type: "strin" },
    { properties: { a: { type: 3 } } },
    { properties: [] },
    { required: "a" },
    { pattern: "(" },
    { minLength: -1 },
    { items: 3 },
    { $ref: "#/nowhere" },
    { $ref: "https://example.test/elsewhere" },
    { anyOf: [] },
  ])("refuses what is no schema: %j", (schema) => {
    expect(() => validator.compile(schema)).toThrow(ToolError);
  });

  test("a schema that refers to itself without end ends in an error", () => {
    const check = validator.compile({ $defs: { a: { allOf: [{ $ref: "#/$defs/a" }] } }, $ref: "#/$defs/a" });
    expect(() => check(1)).toThrow(/without end|too deep|call stack/i);
  });

  test("entries that must differ are told apart in time linear to the list", () => {
    const list = Array.from({ length: 20_000 }, (_, n) => ({ name: `entry ${n}`, n }));
    const check = validator.compile({ type: "array", uniqueItems: true });
    const start = performance.now();
    expect(check(list)).toEqual([]);
    expect(check([...list, { n: 7, name: "entry 7" }])).toHaveLength(1);
    expect(performance.now() - start).toBeLessThan(30_000); // comparing all with all takes more than a minute
  });

  test("a schema is not written on", () => {
    const schema = Object.freeze({
      type: "object",
      properties: Object.freeze({ a: Object.freeze({ type: "string" }) }),
    });
    expect(validator.compile(schema)({ a: 1 })).toHaveLength(1);
  });
});

// A __proto__ key never comes this far.
const value = fc.jsonValue({ maxDepth: 2 }).filter((one) => !JSON.stringify(one).includes("__proto__"));
const leaf = fc.oneof(
  fc.constantFrom<object>({}, { type: "string" }, { type: "integer" }, { type: ["null", "number"] }, { minLength: 2 }),
  fc.record({ const: value }),
  fc.record({ minimum: fc.integer({ min: -3, max: 3 }) }),
);
const { schema } = fc.letrec<{ schema: object }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3 },
    leaf,
    fc.record({ anyOf: fc.array(tie("schema"), { minLength: 1, maxLength: 3 }) }),
    fc.record({ oneOf: fc.array(tie("schema"), { minLength: 1, maxLength: 3 }) }),
    fc.record({ not: tie("schema") }),
    fc.record({ items: tie("schema"), maxItems: fc.nat(3) }),
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    fc.record({ if: tie("schema"), then: tie("schema"), else: tie("schema") }),
    fc.record({
      properties: fc.dictionary(fc.constantFrom("a", "b"), tie("schema")),
      required: fc.constantFrom([], ["a"]),
      additionalProperties: fc.oneof(fc.boolean(), tie("schema")),
    }),
  ),
}));
const instance = fc.oneof(value, fc.dictionary(fc.constantFrom("a", "b", "c"), value), fc.array(value));

test("whatever the schema and the value, both give the same verdict", () => {
  fc.assert(
    fc.property(schema, fc.array(instance, { minLength: 1, maxLength: 4 }), (one, values) => {
      for (const each of values) {
        expect(ajv.compile(one)(each).length > 0).toBe(evalFreeValidator.compile(one)(each).length > 0);
      }
    }),
    { numRuns: 150 },
  );
});

/** A checkout of JSON-Schema-Test-Suite, where there is one. */
const SUITE = process.env.JSON_SCHEMA_TEST_SUITE ?? "";
/** Needs schemas from elsewhere, reads `format` as a remark, or asks for the tables of Unicode's names of hosts. */
const LEFT_OUT = new Set([
  "refRemote.json",
  "format.json",
  "vocabulary.json",
  "definitions.json",
  "defs.json",
  "hostname.json",
]);

describe.runIf(existsSync(SUITE))("the published suite", () => {
  const drafts = {
    draft7: "http://json-schema.org/draft-07/schema#",
    "draft2020-12": "https://json-schema.org/draft/2020-12/schema",
  };
  for (const [draft, $schema] of Object.entries(drafts)) {
    const folder = path.join(SUITE, "tests", draft);
    const files = existsSync(folder)
      ? readdirSync(folder).filter((file) => file.endsWith(".json") && !LEFT_OUT.has(file))
      : [];
    const formats = path.join(folder, "optional/format");
    const known = existsSync(formats)
      ? readdirSync(formats).filter((file) => Object.hasOwn(schemaFormats, path.basename(file, ".json")))
      : [];
    const all = [...files, ...known.filter((file) => !LEFT_OUT.has(file)).map((file) => `optional/format/${file}`)];
    test.each(all)(`${draft}: %s`, (file) => {
      const groups = JSON.parse(readFileSync(path.join(folder, file), "utf8")) as Group[];
      for (const group of groups) {
        const text = JSON.stringify(group.schema);
        if (
          typeof group.schema !== "object" ||
          /localhost:1234\/draft|json-schema.org|"tree.json"|"extendible/.test(text.replace(/"\$schema":"[^"]*"/g, ""))
        )
          continue;
        for (const [name, validator] of both) {
          const check = validator.compile({ $schema, ...group.schema });
          for (const one of group.tests)
            expect(check(one.data).length === 0, `${name}: ${group.description}: ${one.description}`).toBe(one.valid);
        }
      }
    });
  }
});

interface Group {
  description: string;
  schema: object | boolean;
  tests: { description: string; data: unknown; valid: boolean }[];
}

afterEach(() => vi.unstubAllGlobals());

test("code is made for a schema that is used often, and not before", () => {
  let made = 0;
  const real = Function;
  vi.stubGlobal("Function", function counting(...args: string[]) {
    made++;
    return Reflect.construct(real, args);
  });
  const check = ajvValidator(3).compile({ type: "object", properties: { n: { type: "integer" } }, required: ["n"] });
  const verdicts = [1, "x", 2, "y", 3].map((n) => [check({ n }).length, made]);
  expect(verdicts).toEqual([
    [0, 0],
    [1, 0],
    [0, 0],
    [1, 1],
    [0, 1],
  ]);
});
