import { callTool, defineTool, ToolCallResult, ToolError } from "@shedkit/tool";
import { Type } from "@sinclair/typebox";
import { expect, expectTypeOf, test } from "vitest";

const add = defineTool({
  id: "add",
  kind: "other",
  description: "Adds two numbers.",
  input: Type.Object({ a: Type.Number(), b: Type.Optional(Type.Number()) }),
  output: Type.Object({ sum: Type.Number() }),
  run({ a, b = 0 }) {
    expectTypeOf(a).toEqualTypeOf<number>();
    return { sum: a + b };
  },
});

test("a typed tool is called with its types", async () => {
  const out = await add.call({ a: 1, b: 2 });
  expectTypeOf(out).toEqualTypeOf<{ sum: number }>();
  expect(out).toEqual({ sum: 3 });
});

test("callTool gives what a model would read", async () => {
  const result = await callTool(add, '{"a":"1","b":null}');
  expect(result.text).toBe('{"sum":1}');
  expect(result.output).toEqual({ sum: 1 });
});

test("arguments that do not fit name field, wanted and got", async () => {
  const error = await callTool(add, { a: "x", c: 1 }).catch((e: unknown) => e);
  expect(error).toBeInstanceOf(ToolError);
  expect((error as ToolError).kind).toBe("invalidArguments");
  expect((error as ToolError).message).toContain('a: wanted a number, got the string "x"');
});

test("a body may answer with a result of its own", async () => {
  const tool = defineTool({
    id: "look",
    kind: "read",
    description: "Looks.",
    input: Type.Object({}),
    run: () => ToolCallResult.failure("no such file"),
  });
  expect((await callTool(tool, "")).errorDetail).toBe("no such file");
});

test("a tool has one body and a name; a program that no compiler checked is told", () => {
  const spec = { id: "two", kind: "other", description: "", input: Type.Object({}), run: () => "", execute: () => "" };
  expect(() => defineTool(spec as never)).toThrow("two has both run and execute");
  const { id: _, execute: __, ...nameless } = spec;
  expect(() => defineTool(nameless as never)).toThrow("The tool id nothing is not");
});
