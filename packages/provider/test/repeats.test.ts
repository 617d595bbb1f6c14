import type { JsonSchema, Message, Tool, ToolDeclarations } from "@shedkit/types";
import { expect, test } from "vitest";
import { withoutRepeats } from "../src/adapter.js";

const schema: JsonSchema = { type: "object", properties: { path: { type: "string" } }, required: ["path"] };
const read: Tool = {
  type: "single",
  definition: { name: "read", category: "files", description: "Reads.", arguments: schema },
};
const line = JSON.stringify(schema);
const result = (toolCallId: string, name: string, text: string): Message => ({
  type: "toolResult",
  id: `r-${toolCallId}`,
  turnId: "t",
  stepId: "s",
  toolCallId,
  name,
  content: [{ type: "text", text }],
});
const found = result("c1", "shed", `- read(path): Reads.\n${line}\n- other(): Other.\n{"type":"object"}`);
const foundBy = (toolCallId: string): ToolDeclarations => ({
  tools: [read],
  activations: [{ name: "read", by: { toolCallId } }],
});

test("the schema of a tool that a search found is told once, by its declaration", () => {
  const [told] = withoutRepeats([found], foundBy("c1"));
  expect(told).toEqual({
    ...found,
    content: [{ type: "text", text: '- read(path): Reads.\n- other(): Other.\n{"type":"object"}' }],
  });
});

test("results that declare nothing stay as they are, also where they say the same", () => {
  const elsewhere = result("c2", "cat", line);
  const transcript = [found, elsewhere];
  expect(withoutRepeats(transcript, foundBy("c1"))[1]).toBe(elsewhere);
  expect(withoutRepeats(transcript, { tools: [], activations: [] })).toBe(transcript);
  expect(withoutRepeats(transcript, { tools: [read], activations: [{ name: "read", by: "pin" }] })).toBe(transcript);
});

test("a search that finds a declared tool once more does not tell its schema again; what others give stays", () => {
  const again = result("c2", "shed", `- read(path): Reads.\n${line}`);
  const file = result("c3", "read", line);
  expect(withoutRepeats([found, again, file], foundBy("c1")).slice(1)).toEqual([
    result("c2", "shed", "- read(path): Reads."),
    file,
  ]);
  const byCall: ToolDeclarations = { tools: [read], activations: [{ name: "read", by: "call" }] };
  const refused = result("c1", "read", "It was not active.");
  expect(withoutRepeats([refused, file], byCall)).toEqual([refused, file]);
});

test("a search before the one that declares a tool tells its schema", () => {
  const before = result("c0", "shed", `- read(path): Reads.\n${line}`);
  expect(withoutRepeats([before, found], foundBy("c1"))[0]).toBe(before);
});

test("what was told of a tool that is no longer declared stands again", () => {
  expect(withoutRepeats([found], { ...foundBy("c1"), tools: [] })).toEqual([found]);
});
