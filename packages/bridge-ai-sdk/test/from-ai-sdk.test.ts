import { ToolShed } from "@shedkit/shed";
import { callTool, type Progress, type ToolImpl } from "@shedkit/tool";
import { dynamicTool, jsonSchema, tool } from "ai";
import { expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { fromAiSdkTools, toAiSdkTools } from "../src/index.js";

const sum = tool({
  description: "Adds numbers.",
  inputSchema: z.object({ a: z.number(), b: z.number().default(40) }),
  execute: ({ a, b }) => ({ sum: a + b }),
});

async function only(tools: Parameters<typeof fromAiSdkTools>[0], options?: Parameters<typeof fromAiSdkTools>[1]) {
  const [first] = await fromAiSdkTools(tools, options);
  return first as ToolImpl;
}

test("a tool keeps its name, description and schema, and runs with what its schema makes of the arguments", async () => {
  const made = await only({ sum });
  expectTypeOf(made).toEqualTypeOf<ToolImpl>();
  expect(made.definition()).toMatchObject({
    definition: {
      name: "sum",
      category: "ai-sdk",
      description: "Adds numbers.",
      arguments: { type: "object", properties: { a: { type: "number" } } },
    },
  });
  const result = await callTool(made, { a: 2 });
  expect(result).toMatchObject({ output: { sum: 42 }, content: [{ type: "text", text: '{"sum":42}' }] });
});

test("arguments that only the tool's own schema refuses are an error that the model can mend", async () => {
  const odd = tool({
    inputSchema: z.object({ n: z.number().refine((n) => n % 2 === 1, "odd, please") }),
    execute: () => "ok",
  });
  await expect(callTool(await only({ odd }), { n: 2 })).rejects.toMatchObject({
    kind: "invalidArguments",
    message: expect.stringContaining("odd, please"),
  });
  await expect(callTool(await only({ odd }), { n: "x" })).rejects.toMatchObject({ kind: "invalidArguments" });
});

test("a tool that yields shows its steps, and the last one counts", async () => {
  const steps = tool({
    inputSchema: jsonSchema<object>({ type: "object" }),
    async *execute() {
      yield "a";
      yield { at: 2 };
      yield "end";
    },
  });
  const seen: Progress[] = [];
  const result = await callTool(await only({ steps }), {}, { onProgress: (progress) => seen.push(progress) });
  expect(seen).toEqual([{ text: "a" }, { data: { at: 2 } }]);
  expect(result.text).toBe("end");
});

test("what a tool shows its model is what ours is shown", async () => {
  const shown = tool({
    inputSchema: jsonSchema<object>({ type: "object" }),
    execute: () => ({ secret: 1 }),
    toModelOutput: () => ({
      type: "content",
      value: [
        { type: "text", text: "Look:" },
        { type: "file", data: { type: "data", data: new Uint8Array([1, 2, 3]) }, mediaType: "image/png" },
        {
          type: "file",
          data: { type: "url", url: new URL("https://x.dev/a.pdf") },
          mediaType: "application/pdf",
          filename: "a.pdf",
        },
      ],
    }),
  });
  const result = await callTool(await only({ shown }), {});
  expect(result.content).toEqual([
    { type: "text", text: "Look:" },
    { type: "image", source: { type: "base64", data: "AQID" }, mediaType: "image/png" },
    { type: "file", source: { type: "url", url: "https://x.dev/a.pdf" }, mediaType: "application/pdf", name: "a.pdf" },
  ]);
  expect(result.output).toEqual({ secret: 1 });
  const denied = tool({
    inputSchema: jsonSchema<object>({ type: "object" }),
    execute: () => 1,
    toModelOutput: () => ({ type: "error-text", value: "no\nway" }),
  });
  expect(await callTool(await only({ denied }), {})).toMatchObject({
    errorDetail: "no",
    content: [{ text: "no\nway" }],
  });
});

test("a tool hears of its cancellation and gets its context; what it throws is its error", async () => {
  const seen: object[] = [];
  const wait = dynamicTool({
    description: "Waits.",
    inputSchema: jsonSchema({ type: "object" }),
    execute: (_, { abortSignal, toolCallId, context }) => {
      seen.push({ toolCallId, context });
      return new Promise((_, reject) => abortSignal?.addEventListener("abort", () => reject(new Error("let go"))));
    },
  });
  const controller = new AbortController();
  const running = callTool(
    await only({ wait }, { context: { wait: { user: "me" } } }),
    {},
    { signal: controller.signal },
  );
  controller.abort();
  await expect(running).rejects.toMatchObject({ kind: "cancelled" });
  const bad = tool({
    inputSchema: jsonSchema<object>({ type: "object" }),
    execute: async (): Promise<string> => {
      throw new Error("disk full");
    },
  });
  await expect(callTool(await only({ bad }), {})).rejects.toMatchObject({ kind: "execution", message: "disk full" });
});

test("tools that cannot run here are named, all at once", async () => {
  const client = tool({
    inputSchema: jsonSchema<object>({ type: "object" }),
    outputSchema: jsonSchema<string>({ type: "string" }),
  });
  await expect(fromAiSdkTools({ sum, client })).rejects.toThrow('"client" has no execute: its client runs it.');
});

test("a tool may do anything unless it is said to do less", async () => {
  expect((await only({ sum })).metadata?.capabilities).toMatchObject({ readOnly: false, destructive: true });
  const said = await only({ sum }, { capabilities: { sum: { readOnly: true } } });
  expect(said.metadata?.capabilities).toMatchObject({ readOnly: true, destructive: false, idempotent: true });
});

test("a call that needs approval asks for it, and so does one that cannot tell at once", async () => {
  const inputSchema = z.object({ n: z.number() });
  const execute = ({ n }: { n: number }) => n;
  const tools = {
    always: tool({ inputSchema, execute, needsApproval: true }),
    large: tool({ inputSchema, execute, needsApproval: ({ n }) => n > 10 }),
    later: tool({ inputSchema, execute, needsApproval: async () => false }),
    broken: tool({
      inputSchema,
      execute,
      needsApproval: () => {
        throw new Error("no");
      },
    }),
    never: tool({ inputSchema, execute, needsApproval: false }),
  };
  const bridged = await fromAiSdkTools(tools);
  const asks = (n: number) => bridged.map(({ metadata }) => metadata?.asks?.({ n }) ?? false);
  expect(asks(1)).toEqual([true, false, true, true, false]);
  expect(asks(11)).toEqual([true, true, true, true, false]);
});

test("there and back: a tool of the AI SDK is found in a shed and called through it", async () => {
  const { manager, tools, prepareStep } = await toAiSdkTools(new ToolShed().tools(await fromAiSdkTools({ sum })));
  expect((await manager.searchTools("add two numbers"))[0]?.name).toBe("sum");
  manager.activate(["sum"]);
  expect(prepareStep().activeTools).toEqual(["shed", "sum"]);
  expect(tools.sum?.description).toBe("Adds numbers.");
});
