import { expect, it } from "vitest";
import {
  addUsage,
  functionSpec,
  Messages,
  modelId,
  noUsage,
  type Tool,
  textOfContent,
  toMessage,
} from "../src/index.js";

it("makes messages of a text, with the role and a new id", () => {
  expect(Messages.user("hi")).toMatchObject({ type: "user", role: "user", content: [{ type: "text", text: "hi" }] });
  expect(Messages.system("s").role).toBe("system");
  expect(Messages.agent("a").role).toBe("agent");
  expect(Messages.user("x").id).not.toBe(Messages.user("x").id);
  expect(toMessage("hi")).toMatchObject({ role: "user" });
  const message = Messages.agent("stop");
  expect(toMessage(message)).toBe(message);
});

it("reads a string as a model's whole name", () => {
  expect(modelId("owner/repo:Q4_K_M")).toEqual({ name: "owner/repo:Q4_K_M" });
  const alias = { name: "fast", kind: "alias" } as const;
  expect(modelId(alias)).toBe(alias);
});

it("adds usages, and costs where either side knows one", () => {
  const one = { ...noUsage, input: 2, output: 3, reasoning: 1, total: 5 };
  expect(addUsage(one, one)).toEqual({ ...noUsage, input: 4, output: 6, reasoning: 2, total: 10 });
  expect(addUsage(one, { ...one, costUsd: 0.5 }).costUsd).toBe(0.5);
});

it("joins the texts of content", () => {
  const content = [
    { type: "text", text: "a" },
    { type: "image", source: { type: "url", url: "https://example.com/x.png" }, mediaType: "image/png" },
    { type: "resource", uri: "file:///b", text: "b" },
  ] as const;
  expect(textOfContent(content)).toBe("a\nb");
});

const command = (name: string, properties: object, required: string[] = []) => ({
  name,
  category: "test",
  description: `Does ${name}.`,
  arguments: { type: "object", properties, required },
});

it("gives a single tool as it is", () => {
  const tool: Tool = { type: "single", definition: { ...command("read", {}), returns: { type: "string" } } };
  expect(functionSpec(tool)).toEqual({
    name: "read",
    description: "Does read.",
    parameters: tool.definition.arguments,
    returns: { type: "string" },
  });
});

it("flattens commands into one object whose properties say who uses them", () => {
  const tool: Tool = {
    type: "multi",
    name: "memory",
    description: "Facts.",
    commands: [
      command("add", { fact: { type: "string", description: "What to keep." } }, ["fact"]),
      command("replace", { fact: { type: "string", description: "What to keep." }, id: { type: "integer" } }),
      command("find", { id: { type: "string" } }),
    ],
  };
  const spec = functionSpec(tool);
  expect(spec.description).toBe("Facts.\nCommands:\n- add: Does add.\n- replace: Does replace.\n- find: Does find.");
  expect(spec.parameters).toEqual({
    type: "object",
    properties: {
      command: { type: "string", enum: ["add", "replace", "find"] },
      fact: { type: "string", description: "What to keep. Used by: add, replace." },
      id: { anyOf: [{ type: "integer" }, { type: "string" }], description: "Used by: replace, find." },
    },
    required: ["command"],
    additionalProperties: false,
  });
});
