import { callInfo, capabilitiesFor, kindLabel } from "@shedkit/tool";
import { expect, test } from "vitest";

const write = { kind: "write", namespace: "files", capabilities: capabilitiesFor("write") };

test("every kind has a label; one that is not known has that of any tool", () => {
  expect(["read", "execute", "listDir", "task"].map(kindLabel)).toEqual([
    "Read",
    "Run command",
    "List files",
    "Sub-agent",
  ]);
  for (const kind of ["other", "somethingNew", "toString", "__proto__"]) expect(kindLabel(kind)).toBe("Tool");
});

test("what is shown of a call says what it is about, and holds nothing of what it carries", () => {
  const args = { path: "a.txt", content: "x".repeat(1000), offset: 3, limit: "7", pattern: ["a"], toString: 1 };
  expect(callInfo("save", write, args)).toEqual({
    version: 1,
    name: "save",
    kind: "write",
    namespace: "files",
    label: "Write",
    readOnly: false,
    input: { path: "a.txt", offset: 3 },
  });
});

test("without arguments to show there is no input", () => {
  expect(callInfo("save", write)).not.toHaveProperty("input");
  expect(callInfo("save", write, {})).not.toHaveProperty("input");
  expect(callInfo("save", write, Object.create({ path: "of its prototype" }))).not.toHaveProperty("input");
});

test("a long text is cut, between characters", () => {
  const { input } = callInfo("save", write, { command: `${"a".repeat(296)}\u{1F600}${"b".repeat(1000)}` });
  expect(input?.command).toBe(`${"a".repeat(296)}...`);
  expect(callInfo("save", write, { command: "c".repeat(300) }).input?.command).toHaveLength(300);
});
