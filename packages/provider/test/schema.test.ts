import type { JsonValue, Tool, ToolArguments } from "@shedkit/types";
import { Type } from "@sinclair/typebox";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compileOutput, schemaDialects, ToolCompiler } from "../src/schema.js";

const tool = (args: object, name = "t"): Tool => ({
  type: "single",
  definition: { name, category: "c", description: "d", arguments: args },
});
const compile = (args: object, dialect: keyof typeof schemaDialects = "openai") =>
  new ToolCompiler(schemaDialects[dialect]).compile(tool(args));

describe("strict", () => {
  it("closes objects, requires every property, and makes an optional one nullable, all the way down", () => {
    const schema = Type.Object({
      path: Type.String({ description: "where" }),
      limit: Type.Optional(Type.Integer({ minimum: 1 })),
      kind: Type.Optional(Type.Union([Type.Literal("a"), Type.Literal("b")])),
      list: Type.Optional(Type.Array(Type.Object({ deep: Type.Optional(Type.Boolean()) }))),
    });
    const compiled = compile(schema);
    expect(compiled.strict).toBe(true);
    expect(compiled.parameters).toEqual({
      type: "object",
      properties: {
        path: { type: "string", description: "where" },
        limit: { type: ["integer", "null"], minimum: 1 },
        kind: { anyOf: [{ type: "string", enum: ["a"] }, { type: "string", enum: ["b"] }, { type: "null" }] },
        list: {
          type: ["array", "null"],
          items: {
            type: "object",
            properties: { deep: { type: ["boolean", "null"] } },
            required: ["deep"],
            additionalProperties: false,
          },
        },
      },
      required: ["path", "limit", "kind", "list"],
      additionalProperties: false,
    });
    expect(compiled.notes).toEqual([]);
    expect(compiled.decode({ path: "x", limit: null, kind: null, list: [{ deep: null }, { deep: true }] })).toEqual({
      path: "x",
      list: [{}, { deep: true }],
    });
  });

  it("keeps a null that the tool's own schema takes", () => {
    const compiled = compile(Type.Object({ a: Type.Optional(Type.Union([Type.String(), Type.Null()])) }));
    expect(compiled.decode({ a: null })).toEqual({ a: null });
  });

  it("keeps a null for a required property, so that it is found invalid", () => {
    expect(compile(Type.Object({ a: Type.String() })).decode({ a: null })).toEqual({ a: null });
  });

  it("says in the description, and in the notes, what strict mode has no keyword for", () => {
    const compiled = compile(Type.Object({ a: Type.String({ minLength: 2, description: "name", format: "uri" }) }));
    expect(compiled.parameters).toMatchObject({
      properties: { a: { type: "string", description: "name (minLength: 2, format: uri)" } },
    });
    expect(compiled.notes).toEqual(["minLength: 2, format: uri stands in the description and is checked here"]);
  });

  it.each([
    ["a map", { type: "object", properties: { a: { type: "object", additionalProperties: { type: "string" } } } }],
    ["an object of anything", { type: "object", properties: { a: { type: "object" } } }],
    ["anything", { type: "object", properties: { a: {} } }],
    [
      "a tuple",
      { type: "object", properties: { a: { type: "array", prefixItems: [{ type: "string" }], items: false } } },
    ],
    ["a list of anything", { type: "object", properties: { a: { type: "array", items: {} } } }],
    ["what goes by other keys", { type: "object", properties: { a: {} }, dependencies: { a: ["b"] } }],
    ["a negation", { type: "object", properties: { a: { not: { type: "string" } } } }],
    ["a conjunction", { type: "object", properties: { a: { allOf: [{ type: "string" }, { minLength: 1 }] } } }],
    ["extra keys", { type: "object", properties: {}, additionalProperties: true }],
  ])("is not claimed for %s, which is sent as it is", (_, schema) => {
    const compiled = compile(schema);
    expect(compiled.strict).toBe(false);
    expect(compiled.parameters).toEqual(schema);
  });

  it("follows references, also in a circle", () => {
    const schema = {
      type: "object",
      properties: { tree: { $ref: "#/$defs/node" } },
      required: ["tree"],
      $defs: {
        node: {
          type: "object",
          properties: { name: { type: "string" }, next: { $ref: "#/$defs/node" } },
          required: ["name"],
        },
      },
    };
    const compiled = compile(schema);
    expect(compiled.strict).toBe(true);
    expect(compiled.parameters).toMatchObject({
      $defs: { node: { properties: { next: { anyOf: [{ $ref: "#/$defs/node" }, { type: "null" }] } } } },
    });
    expect(compiled.decode({ tree: { name: "a", next: { name: "b", next: null } } })).toEqual({
      tree: { name: "a", next: { name: "b" } },
    });
  });

  it("has no keyword that strict mode does not know, whoever invented it", () => {
    const notes = { "x-order": 1, nullable: true, markdownDescription: "**a**", title: "A", discriminator: {} };
    const compiled = compile({
      type: "object",
      properties: { a: { type: "string", ...notes } },
      required: ["a"],
      ...notes,
    });
    expect(compiled.parameters).toEqual({
      type: "object",
      properties: { a: { type: "string" } },
      required: ["a"],
      additionalProperties: false,
    });
    expect(compiled.strict).toBe(true);
  });

  it("takes a tool without arguments", () => {
    expect(compile(Type.Object({}))).toMatchObject({
      strict: true,
      parameters: { type: "object", properties: {}, required: [], additionalProperties: false },
    });
  });
});

describe("any wire", () => {
  it("gets an object for a reference at the top", () => {
    const schema = { $ref: "#/$defs/a", $defs: { a: { type: "object", properties: { x: { type: "string" } } } } };
    expect(compile(schema, "anthropic").parameters).toEqual({
      type: "object",
      properties: { x: { type: "string" } },
      $defs: schema.$defs,
    });
  });

  it("gets one object for a union of objects at the top, and the notes say what is checked here", () => {
    const schema = Type.Union([
      Type.Object({ op: Type.Literal("get"), key: Type.String() }),
      Type.Object({ op: Type.Literal("set"), key: Type.String(), value: Type.Number() }),
    ]);
    const compiled = compile(schema, "anthropic");
    expect(compiled.parameters).toEqual({
      type: "object",
      properties: {
        op: { type: "string", enum: ["get", "set"] },
        key: { type: "string" },
        value: { type: "number" },
      },
      required: ["op", "key"],
    });
    expect(compiled.notes).toHaveLength(1);
  });

  it("gets a schema without foreign types, outside references or keywords of documents", () => {
    const schema = {
      $schema: "x",
      $id: "y",
      type: "dict",
      properties: { a: { type: "float" }, b: { $ref: "https://example.com/s.json" }, c: { type: "any" } },
    };
    const compiled = compile(schema, "anthropic");
    expect(compiled.parameters).toEqual({ type: "object", properties: { a: { type: "number" }, b: {}, c: {} } });
    expect(compiled.notes).toHaveLength(1);
  });

  it("gets a schema in the form of the newest draft, whatever draft it was written for", () => {
    const schema = {
      type: "object",
      properties: {
        list: { type: "array" },
        lists: { type: ["array", "null"], items: { type: "array", items: { type: "string" } } },
        pair: { type: "tuple", items: [{ type: "string" }, { type: "int" }] },
        only: { type: "array", items: [{ type: "string" }], additionalItems: false },
        above: { type: "number", minimum: 1, exclusiveMinimum: true, required: true, description: null },
        below: { type: "number", maximum: 9, exclusiveMaximum: false },
        empty: { type: "object", properties: [] },
      },
    };
    const compiled = compile(schema, "compatible");
    expect(compiled.parameters).toEqual({
      type: "object",
      properties: {
        list: { type: "array", items: {} },
        lists: { type: ["array", "null"], items: { type: "array", items: { type: "string" } } },
        pair: { type: "array", prefixItems: [{ type: "string" }, { type: "integer" }], items: {} },
        only: { type: "array", prefixItems: [{ type: "string" }], items: false },
        above: { type: "number", exclusiveMinimum: 1 },
        below: { type: "number", maximum: 9 },
        empty: { type: "object" },
      },
    });
    expect(compile({ type: "object", properties: [] }, "anthropic").parameters).toEqual({
      type: "object",
      properties: {},
    });
  });

  it("has names in tuples mapped both ways too", () => {
    const pair = { type: "array", items: [{ type: "object", properties: { "a b": { type: "string" } } }] };
    const compiled = compile({ type: "object", properties: { pair } }, "anthropic");
    const own = { pair: [{ "a b": "x" }, 1] };
    expect(JSON.stringify(compiled.encode(own))).not.toContain("a b");
    expect(compiled.decode(compiled.encode(own))).toEqual(own);
  });

  it("has property names mapped both ways where it does not take them", () => {
    const schema = {
      type: "object",
      properties: { "a b": { type: "object", properties: { ü: { type: "string" } } }, a_b: { type: "string" } },
      required: ["a b"],
    };
    const compiled = compile(schema, "anthropic");
    const { properties, required } = compiled.parameters as { properties: object; required: string[] };
    const [wire = ""] = required;
    expect(Object.keys(properties)).toEqual([wire, "a_b"]);
    expect(wire).toMatch(/^[a-zA-Z0-9_.-]{1,64}$/);
    const own = { "a b": { ü: "x" }, a_b: "y" };
    const sent = compiled.encode(own);
    expect(Object.keys(sent)).toEqual([wire, "a_b"]);
    expect(compiled.decode(sent)).toEqual(own);
  });

  it("leaves the tool's own schema as it was", () => {
    const schema = Object.freeze({
      type: "object",
      properties: Object.freeze({ a: Object.freeze({ type: "string" }) }),
    });
    compile(schema);
    compile(schema, "anthropic");
    expect(JSON.stringify(schema)).toBe('{"type":"object","properties":{"a":{"type":"string"}}}');
  });

  it("takes a tool of several commands", () => {
    const commands = ["one", "two"].map((name) => ({
      name,
      category: "c",
      description: name,
      arguments: Type.Object({ [name]: Type.String() }),
    }));
    const compiled = new ToolCompiler(schemaDialects.openai).compile({ type: "multi", name: "m", commands });
    expect(compiled.strict).toBe(true);
    expect(compiled.decode({ command: "one", one: "x", two: null })).toEqual({ command: "one", one: "x" });
  });
});

describe("names", () => {
  it("are mapped to what the wire takes, apart, and back, the same in every request", () => {
    const names = ["files.read", "files_read", "files/read", "a".repeat(70), `${"a".repeat(70)}b`, "größe"];
    const compilers = [1, 2].map(() => new ToolCompiler(schemaDialects.openai));
    const wires = compilers.map((compiler) =>
      names.map((name) => compiler.compile(tool(Type.Object({}), name)).wireName),
    );
    expect(wires[0]).toEqual(wires[1]);
    expect(new Set(wires[0]).size).toBe(names.length);
    for (const wire of wires[0] ?? []) expect(wire).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    expect(wires[0]?.map((wire) => compilers[0]?.fromWire(wire))).toEqual(names);
  });
});

describe("compileOutput", () => {
  it("leaves a strict object as it is, and its text too", () => {
    const schema = {
      type: "object",
      properties: { a: { type: "string" } },
      required: ["a"],
      additionalProperties: false,
    };
    const output = compileOutput(schema, schemaDialects.openai);
    expect(output).toMatchObject({ schema, strict: true, changed: false });
    expect(JSON.parse(output.decode('{"a":"x"}'))).toEqual({ a: "x" });
  });

  it("wraps what is not an object, and unwraps the answer", () => {
    const list = compileOutput(Type.Array(Type.String()), schemaDialects.openai);
    expect(list).toMatchObject({ strict: true, changed: true });
    expect(list.decode('{"value":["a"]}')).toBe('["a"]');
    expect(list.decode("not json")).toBe("not json");
    const self = compileOutput({ type: "array", items: { $ref: "#" } }, schemaDialects.anthropic);
    expect(self.schema).toMatchObject({ properties: { value: { items: { $ref: "#/properties/value" } } } });
  });

  it("drops the nulls that stand for optional properties", () => {
    const output = compileOutput(Type.Object({ a: Type.Optional(Type.String()) }), schemaDialects.openai);
    expect(output.changed).toBe(true);
    expect(output.decode('{"a":null}')).toBe("{}");
  });
});

// Schemas as tools have them, with values that fit.
const leaf = fc.constantFrom(
  { schema: { type: "string" }, value: "x" as JsonValue },
  { schema: { type: "integer" }, value: 3 as JsonValue },
  { schema: { type: ["string", "null"] }, value: null as JsonValue },
  { schema: { enum: ["a", "b"] }, value: "b" as JsonValue },
  { schema: { type: "object", additionalProperties: { type: "number" } }, value: { free: 1 } as JsonValue },
);
interface Sample {
  schema: object;
  value: JsonValue;
}
const { node } = fc.letrec<{ node: Sample; object: Sample }>((tie) => ({
  node: fc.oneof({ maxDepth: 3 }, leaf, tie("object"), tie("node").map(listOf)),
  object: fc
    .dictionary(fc.constantFrom("a", "b c", "ü", "d.e", "__proto__"), fc.tuple(tie("node"), fc.nat(2)), { maxKeys: 4 })
    .map(objectOf),
}));
const objects = fc
  .dictionary(fc.constantFrom("x", "y z", "q"), fc.tuple(node, fc.nat(2)), { maxKeys: 3 })
  .map(objectOf);

function listOf({ schema, value }: Sample): Sample {
  return { schema: { type: "array", items: schema }, value: [value, value] };
}

/** 0: required; 1: optional and there; 2: optional and absent. */
function objectOf(fields: { [key: string]: [Sample, number] }): Sample {
  const entries = Object.entries(fields);
  return {
    schema: {
      type: "object",
      properties: Object.fromEntries(entries.map(([key, [sample]]) => [key, sample.schema])),
      required: entries.filter(([, [, presence]]) => presence === 0).map(([key]) => key),
    },
    value: Object.fromEntries(entries.filter(([, [, p]]) => p < 2).map(([key, [sample]]) => [key, sample.value])),
  };
}

describe("for any schema and a value that fits it", () => {
  it.each(["openai", "anthropic", "compatible"] as const)("%s gives the value back", (dialect) => {
    fc.assert(
      fc.property(objects, ({ schema, value }) => {
        const compiled = compile(schema, dialect);
        const sent = JSON.parse(JSON.stringify(compiled.encode(value as ToolArguments))) as ToolArguments;
        expect(compiled.decode(sent)).toEqual(value);
      }),
    );
  });

  it("openai gives the value back when absent properties come as null", () => {
    fc.assert(
      fc.property(objects, ({ schema, value }) => {
        fc.pre(!JSON.stringify(schema).includes('"null"')); // there a null may be meant
        const compiled = compile(schema);
        if (compiled.strict)
          expect(compiled.decode(filled(compiled.parameters, value) as ToolArguments)).toEqual(value);
      }),
    );
  });
});

/** What a model in strict mode sends: every property, null for the absent ones. */
function filled(schema: object, value: JsonValue): JsonValue {
  const { properties, items } = schema as { properties?: { [key: string]: object }; items?: object };
  if (Array.isArray(value) && items) return value.map((item: JsonValue) => filled(items, item));
  if (typeof value !== "object" || value === null || properties === undefined) return value;
  const fields = value as { [key: string]: JsonValue };
  return Object.fromEntries(
    Object.entries(properties).map(([key, inner]) => [
      key,
      Object.hasOwn(fields, key) ? filled(inner, fields[key] ?? null) : null,
    ]),
  );
}
