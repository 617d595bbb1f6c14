import { evalFreeValidator, prepareArguments, ToolError } from "@shedkit/tool";
import type { JsonSchema, Tool } from "@shedkit/types";
import { Type } from "@sinclair/typebox";
import fc from "fast-check";
import { describe, expect, test } from "vitest";

function tool(schema: JsonSchema, name = "demo"): Tool {
  return { type: "single", definition: { name, category: "other", description: "", arguments: schema } };
}

function refusal(schema: JsonSchema, raw: unknown): string {
  try {
    prepareArguments(tool(schema), raw);
  } catch (e) {
    expect(e).toBeInstanceOf(ToolError);
    expect((e as ToolError).kind).toBe("invalidArguments");
    return (e as ToolError).message;
  }
  throw new Error("was taken");
}

const all = Type.Object({
  flag: Type.Optional(Type.Boolean()),
  count: Type.Optional(Type.Integer()),
  ratio: Type.Optional(Type.Number()),
  name: Type.Optional(Type.String()),
  list: Type.Optional(Type.Array(Type.Integer())),
  inner: Type.Optional(Type.Object({ deep: Type.Optional(Type.Array(Type.Boolean())) })),
  mode: Type.Optional(Type.Union([Type.Literal("fast"), Type.Literal("slow")])),
  either: Type.Optional(Type.Union([Type.Integer(), Type.Object({ id: Type.Integer() })])),
});

describe("what a model sends instead is mended", () => {
  const cases: [string, unknown, unknown][] = [
    ["a text of a truth value", { flag: "true" }, { flag: true }],
    ["a spelt-out no", { flag: " No " }, { flag: false }],
    ["a number for a truth value", { flag: 1 }, { flag: true }],
    ["a text of a number", { count: "3", ratio: "-2.5e1" }, { count: 3, ratio: -25 }],
    ["a whole number written with a point", { count: "3.0" }, { count: 3 }],
    ["a number for a text", { name: 12 }, { name: "12" }],
    ["a list as JSON text", { list: "[1, 2]" }, { list: [1, 2] }],
    ["a list as JSON text, of texts", { list: '["1"]' }, { list: [1] }],
    ["an object as JSON text", { inner: '{"deep":"true"}' }, { inner: { deep: [true] } }],
    ["a scalar for a list", { list: "7" }, { list: [7] }],
    ["null for what may be absent", { count: null, inner: null, mode: null }, {}],
    ["a word for what may be absent", { count: "none", mode: "" }, {}],
    ["the second form of a choice", { either: '{"id":"4"}' }, { either: { id: 4 } }],
    ["nothing", undefined, {}],
    ["null", null, {}],
    ["an empty text", "", {}],
    ["blank text", " \n", {}],
    ["JSON text", '{"count": 2}', { count: 2 }],
    ["JSON text of JSON text", JSON.stringify('{"count": 2}'), { count: 2 }],
    ["a code fence", '```json\n{"count": 2}\n```', { count: 2 }],
    ["a comma too many", '{"list": [1,2,], "name": ",]",}', { list: [1, 2], name: ",]" }],
    ["raw line breaks in a text", '{"name": "a\nb\tc"}', { name: "a\nb\tc" }],
    ["a wrapper with name and arguments", { name: "demo", arguments: { count: 1 } }, { count: 1 }],
    ["a wrapper under the name", { demo: { count: 1 } }, { count: 1 }],
    ["a wrapper of a function call", { function: { name: "demo", arguments: '{"count":1}' } }, { count: 1 }],
  ];
  test.each(cases)("%s", (title, raw, expected) => {
    const schema = title.startsWith("a wrapper") ? Type.Object({ count: Type.Integer() }) : all;
    const { args, repaired } = prepareArguments(tool(schema), raw);
    expect(args).toEqual(expected);
    expect(repaired.length > 0).toBe(title !== "JSON text");
  });
});

describe("what fits is not touched", () => {
  test("a parameter of the tool's own named like a wrapper's", () => {
    const schema = Type.Object({ name: Type.String(), arguments: Type.Object({ count: Type.Integer() }) });
    const raw = { name: "demo", arguments: { count: 1 } };
    expect(prepareArguments(tool(schema), raw)).toEqual({ args: raw, repaired: [] });
  });

  test("null where the schema takes null", () => {
    const schema = Type.Object({ a: Type.Optional(Type.Union([Type.String(), Type.Null()])), b: Type.Integer() });
    expect(prepareArguments(tool(schema), { a: null, b: "1" }).args).toEqual({ a: null, b: 1 });
  });

  test("an empty text where a text is wanted", () => {
    expect(prepareArguments(tool(all), { name: "", count: "1" }).args).toEqual({ name: "", count: 1 });
  });

  test("whatever arguments an untyped tool gets", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 })), (raw) => {
        fc.pre(!/__proto__|\d{16}/.test(JSON.stringify(raw)));
        expect(prepareArguments(tool({ type: "object" }), JSON.stringify(raw)).args).toEqual(
          JSON.parse(JSON.stringify(raw)),
        );
      }),
    );
  });
});

describe("what cannot be mended is told field by field", () => {
  const schema = Type.Object({
    path: Type.String(),
    limit: Type.Optional(Type.Integer({ minimum: 1 })),
    mode: Type.Optional(Type.Union([Type.Literal("fast"), Type.Literal("slow")])),
  });

  test("a missing field, a wrong one, one out of range", () => {
    const text = refusal(schema, { limit: 0, mode: "quick" });
    expect(text).toContain("path: wanted a string, got nothing");
    expect(text).toContain("limit: wanted at least 1, got the number 0");
    expect(text).toContain('mode: wanted "fast" or "slow", got the string "quick"');
    expect(text).toContain("Call demo again");
  });

  test("a field that is not there, with those that are", () => {
    const closed = Type.Object({ path: Type.String() }, { additionalProperties: false });
    expect(refusal(closed, { path: "a", pth: "b" })).toMatch(/pth.*is not known here.*only path/);
  });

  test("what is no object", () => {
    expect(refusal(schema, [1])).toContain("wanted an object, got a list of 1");
    expect(refusal(schema, "[1]")).toContain("wanted an object");
    expect(refusal(schema, "hello")).toContain("not JSON");
    expect(refusal(schema, '{"path": NaN}')).toContain("not JSON");
  });

  test("a text that breaks off is not completed", () => {
    const whole = JSON.stringify({ path: "some/file", limit: 3, mode: "fast" });
    for (let end = 1; end < whole.length; end++)
      expect(refusal(schema, whole.slice(0, end))).toMatch(/broken off|not JSON/);
  });

  test("a long value is shown short", () => {
    expect(refusal(Type.Object({ n: Type.Integer() }), { n: "x".repeat(5_000_000) }).length).toBeLessThan(300);
  });
});

describe("integers past what a double holds", () => {
  const schema = Type.Object({ id: Type.Union([Type.String(), Type.Integer()]) });

  test("keep their digits where a text is taken", () => {
    expect(prepareArguments(tool(Type.Object({ id: Type.String() })), '{"id": 9007199254740993}').args).toEqual({
      id: "9007199254740993",
    });
    expect(prepareArguments(tool(schema), '{"id": 12345678901234567890}').args).toEqual({ id: "12345678901234567890" });
  });

  test("are refused where only a number is", () => {
    expect(refusal(Type.Object({ id: Type.Integer() }), '{"id": 9007199254740993}')).toContain("9007199254740993");
    expect(refusal(Type.Object({ id: Type.Integer() }), { id: "9007199254740993" })).toContain("id");
  });

  test("are refused where they may have been rounded before", () => {
    expect(refusal(Type.Object({ id: Type.String() }), { id: 2 ** 60 })).toContain("too large");
  });

  test("are taken as they are where they are exact, and left alone inside texts", () => {
    const loose = tool({ type: "object" });
    expect(prepareArguments(loose, '{"n": 1152921504606846976, "t": "9007199254740993", "e": 1e300}').args).toEqual({
      n: 2 ** 60,
      t: "9007199254740993",
      e: 1e300,
    });
  });

  const forms = [
    "9007199254740993.0",
    "9007199254740993e0",
    "90071992547409930e-1",
    "9.007199254740993e15",
    "-9007199254740993.0",
  ];
  test.each(forms)("written as %s they are not rounded", (text) => {
    const digits = text.startsWith("-") ? "-9007199254740993" : "9007199254740993";
    expect(prepareArguments(tool(Type.Object({ id: Type.String() })), `{"id": ${text}}`).args.id).toBe(digits);
    for (const wanted of [Type.Integer(), Type.Number()]) {
      expect(refusal(Type.Object({ id: wanted }), `{"id": ${text}}`)).toContain(digits);
      expect(refusal(Type.Object({ id: wanted }), { id: text })).toContain("id: wanted");
    }
  });

  test("a fraction whose whole part would change is refused", () => {
    expect(refusal({ type: "object" }, '{"n": 9007199254740993.5}')).toContain("9007199254740993.5");
    expect(prepareArguments(tool({ type: "object" }), '{"n": 0.12345678901234567891, "e": 1e23}').args).toEqual({
      n: 0.12345678901234568,
      e: 1e23,
    });
  });

  test("a text that looks like a stand-in for one stays a text", () => {
    const raw = '{"a": "\\u0069nt:5", "b": 7, "c": "0", "id": 9007199254740993}';
    const schema = Type.Object({ id: Type.String() });
    expect(prepareArguments(tool(schema), raw).args).toEqual({ a: "int:5", b: 7, c: "0", id: "9007199254740993" });
  });

  test("any double as JSON writes it is taken", () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (n) => {
        fc.pre(!/^-?\d{17,}$/.test(String(n)));
        expect(prepareArguments(tool({ type: "object" }), JSON.stringify({ n })).args).toEqual({ n: n + 0 });
      }),
    );
  });

  test("never come out rounded, whatever the integer", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }), (n) => {
        const { args } = prepareArguments(tool(Type.Object({ id: Type.String() })), `{"id": ${n}}`);
        expect(args.id).toBe(String(n));
      }),
    );
  });
});

describe("hostile arguments", () => {
  test("a __proto__ key is left out, at any depth, and nothing is polluted", () => {
    const raw = '{"a": {"__proto__": {"polluted": true}}, "__proto__": {"polluted": true}}';
    const { args, repaired } = prepareArguments(tool({ type: "object" }), raw);
    expect(Object.keys(args)).toEqual(["a"]);
    expect(Object.assign({}, args.a)).not.toHaveProperty("polluted");
    expect({}).not.toHaveProperty("polluted");
    expect(repaired[0]).toContain("__proto__");
  });

  test("names that every object has do not count as given", () => {
    const schema = { type: "object", properties: { constructor: { type: "string" } }, required: ["constructor"] };
    expect(refusal(schema, {})).toContain("constructor");
  });

  test("a very deep value is refused", () => {
    for (const raw of ["[".repeat(200_000) + "]".repeat(200_000), `{"a":${"[".repeat(500)}${"]".repeat(500)}}`])
      expect(refusal({ type: "object" }, raw)).toMatch(/nest|wanted an object/);
  });

  test("a huge text is read or refused in time linear to it", () => {
    const huge = "x".repeat(1_000_000);
    const digits = "1234567890123456789";
    const odd = [
      `{"a":"${huge}${digits}`,
      `{"a":${"1".repeat(1_000_000)}}`,
      `\`\`\`json\n${"\n".repeat(1_000_000)}x`,
      `{${", ".repeat(500_000)}`,
      `{"a":"${"\\n".repeat(500_000)}${digits}`,
      `${'"'.repeat(500_000)}${digits}`,
      '{"a":'.repeat(200_000),
    ];
    for (const raw of odd) expect(refusal({ type: "object" }, raw).length).toBeLessThan(400);
    const text = JSON.stringify({ a: huge + digits });
    expect(prepareArguments(tool({ type: "object" }), text).args.a).toHaveLength(1_000_019);
  });

  test("a key that stands twice is refused, however it is spelt and wherever it stands", () => {
    for (const raw of ['{"a":1,"a":2}', '{"a":1,"\\u0061":2}', '{"l":[{"b":{}, "a":1,"a":1}]}'])
      expect(refusal({ type: "object" }, raw)).toContain('naming the key "a" twice');
    const apart = '{"a":[{"a":1},{"a":1}],"b":{"a":"a"},"c":"a"}';
    expect(prepareArguments(tool({ type: "object" }), apart)).toEqual({ args: JSON.parse(apart), repaired: [] });
    expect(refusal(Type.Object({ inner: Type.Object({}) }), { inner: '{"a":1,"a":2}' })).toContain("inner");
  });

  test("what is no number is refused", () => {
    const number = Type.Object({ id: Type.Number() });
    for (const raw of ['{"id": 1e400}', '{"id": -1e400}', { id: Number.NaN }, { id: Number.POSITIVE_INFINITY }])
      expect(refusal(number, raw)).toMatch(/1e400|NaN|Infinity/);
    expect(refusal(number, { id: "1e400" })).toContain("id: wanted a number");
    for (const value of [Number.NaN, Number.NEGATIVE_INFINITY])
      expect(evalFreeValidator.compile({ type: ["number", "integer"] })(value)).toHaveLength(1);
  });

  test("a text of many megabytes is taken or refused, never a crash", () => {
    const long = "x\\n".repeat(4_000_000);
    const schema = { type: "object" };
    expect(prepareArguments(tool(schema), `{"a":"${long}","id":"9007199254740993"}`).args.id).toBe("9007199254740993");
    expect(prepareArguments(tool(schema), `{"a":"${long}","b":[1,],}`).args.b).toEqual([1]);
    expect(refusal(schema, `{"a":"${long}`)).toContain("broken off");
    expect(refusal(schema, `{"a":"${long}","id":9007199254740993}`)).toContain("9007199254740993");
  });

  test("whatever comes, it is taken or refused", () => {
    const raw = fc.oneof(fc.jsonValue(), fc.string(), fc.anything());
    fc.assert(
      fc.property(raw, (value) => {
        try {
          prepareArguments(tool(all), value);
        } catch (e) {
          expect(e).toBeInstanceOf(ToolError);
        }
      }),
      { numRuns: 500 },
    );
  });
});

test("a value that fits, damaged in the ways models do, comes out as it was", () => {
  const value = fc.record(
    {
      flag: fc.boolean(),
      count: fc.integer(),
      ratio: fc.double({ noNaN: true, min: -1e15, max: 1e15 }),
      list: fc.array(fc.integer(), { minLength: 1 }),
      inner: fc.record({ deep: fc.array(fc.boolean()) }),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(value, fc.infiniteStream(fc.boolean()), (fitting, coin) => {
      const flip = (): boolean => coin.next().value as boolean;
      const spoil = (item: unknown): unknown => {
        if (Array.isArray(item) && item.length === 1 && flip()) return spoil(item[0]);
        if (typeof item === "object" && item !== null && flip()) return JSON.stringify(item);
        if (typeof item === "number" || typeof item === "boolean") return flip() ? JSON.stringify(item) : item;
        return item;
      };
      const spoilt = Object.fromEntries(Object.entries(fitting).map(([key, item]) => [key, spoil(item)]));
      const wanted = JSON.parse(JSON.stringify(fitting));
      expect(prepareArguments(tool(all), JSON.parse(JSON.stringify(spoilt))).args).toEqual(wanted);
    }),
  );
});
