import { MemoryFileSystem } from "@shedkit/fs/memory";
import { ToolShed, ToolShedError } from "@shedkit/shed";
import { FnTool, ToolCallResult, type ToolConstructor, toolFn } from "@shedkit/tool";
import { newSessionId, toolName } from "@shedkit/types";
import { describe, expect, it } from "vitest";
import { ToolPreset } from "../src/index.js";

const hello = new FnTool("hello", "Greets", { type: "object" }, async () => ToolCallResult.text("Hello!"));
const ready: ToolConstructor = { name: "hello", needsSession: false, construct: () => hello };
const bound = toolFn("whoami", ({ sessionId }) => {
  return new FnTool("whoami", "Names the session", { type: "object" }, async () => sessionId);
});

const names = (preset: Iterable<ToolConstructor>) => [...preset].map((tool) => tool.name);

describe("ToolPreset.files", () => {
  const files = () => ToolPreset.files(new MemoryFileSystem({ "a.txt": "one\ntwo\n" }));

  it("names its tools before anything is imported", () => {
    expect(names(files())).toEqual(["read", "write", "edit", "list"]);
    expect([...files()].every((tool) => !tool.needsSession)).toBe(true);
  });

  it("makes the tools that it names", async () => {
    const tools = await files().asChildTools();
    expect(tools.map((tool) => toolName(tool.definition()))).toEqual(names(files()));
  });

  it("goes into a shed", () => {
    expect(new ToolShed().tools(files()).names()).toEqual(["read", "write", "edit", "list"]);
  });

  it("goes into a fresh manager whose tools run", async () => {
    const manager = await files().intoManager(newSessionId());
    manager.activate(["read"]);
    const result = await manager.executeOne({ id: "1", name: "read", arguments: { path: "a.txt" } });
    expect(result.text).toContain("two");
  });

  it("passes its options on", async () => {
    const fs = new MemoryFileSystem({ "a.txt": "one\ntwo\n" });
    const manager = await ToolPreset.files(fs, { read: { lineNumbers: false } }).intoManager(newSessionId());
    manager.activate(["read"]);
    const result = await manager.executeOne({ id: "1", name: "read", arguments: { path: "a.txt" } });
    expect(result.text).toMatch(/^one\ntwo/);
  });
});

describe("ToolPreset", () => {
  it("keeps constructors of your own", () => {
    expect(names(ToolPreset.fromConstructors([ready, bound]))).toEqual(["hello", "whoami"]);
  });

  it("merges, its own first, and changes neither", () => {
    const [a, b] = [ToolPreset.fromConstructors([ready]), ToolPreset.fromConstructors([bound])];
    expect(names(a.merge(b))).toEqual(["hello", "whoami"]);
    expect(names(a)).toEqual(["hello"]);
    expect(names(b)).toEqual(["whoami"]);
  });

  it("adds its tools to a running session", async () => {
    const manager = await ToolPreset.fromConstructors([]).intoManager(newSessionId());
    await ToolPreset.fromConstructors([ready]).registerAll(manager);
    expect(manager.names()).toEqual(["hello"]);
  });

  it("adds all its tools or none", async () => {
    const named = (name: string) => new FnTool(name, "Greets", { type: "object" }, async () => name);
    const manager = await ToolPreset.fromConstructors([named("b")]).intoManager(newSessionId());
    manager.activate(["b"]);
    const clash = ToolPreset.fromConstructors([named("a"), named("b"), named("c")]);
    await expect(clash.registerAll(manager)).rejects.toThrow('There is a tool named "b" already');
    const twice = ToolPreset.fromConstructors([named("a"), named("c"), named("a")]);
    await expect(twice.registerAll(manager)).rejects.toThrow('There is a tool named "a" already');
    expect(manager.names()).toEqual(["b"]);
    expect(manager.isActive("b")).toBe(true);
    await ToolPreset.fromConstructors([named("a"), named("c")]).registerAll(manager);
    expect(manager.names()).toEqual(["b", "a", "c"]);
  });

  it("refuses, naming them all, to make tools that need a session without one", async () => {
    const preset = ToolPreset.fromConstructors([ready, bound, toolFn("memory", () => hello)]);
    const manager = await ToolPreset.fromConstructors([]).intoManager(newSessionId());
    const attempts = [preset.asChildTools(), preset.registerAll(manager), preset.intoManager(newSessionId())];
    for (const attempt of attempts) {
      const error = await attempt.then(
        () => undefined,
        (e: unknown) => e,
      );
      expect(error).toBeInstanceOf(ToolShedError);
      expect((error as ToolShedError).problems).toEqual([
        { type: "needsSession", name: "whoami" },
        { type: "needsSession", name: "memory" },
      ]);
    }
    expect(manager.names()).toEqual([]);
  });

  it("tells a constructor that looks at a session it said it does not need", async () => {
    const liar: ToolConstructor = { ...bound, needsSession: false };
    await expect(ToolPreset.fromConstructors([liar]).asChildTools()).rejects.toThrow(/needsSession: true/);
  });
});
