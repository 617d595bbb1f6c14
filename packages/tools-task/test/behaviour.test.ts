import { type BackgroundTask, backgroundTasks, callTool, Resources } from "@shedkit/tool";
import { describe, expect, it } from "vitest";
import { askUserTool, monitorTool, type TodoInput, type TodoItem, todoTool, waitTool } from "../src/index.js";

describe("todo", () => {
  const old: TodoItem[] = [
    { id: "1", content: "one", status: "pending" },
    { id: "2", content: "two", status: "in_progress" },
  ];
  const row = (id: string, content: string, status: TodoItem["status"] = "pending"): TodoItem => ({
    id,
    content,
    status,
  });

  it.each<[before: TodoItem[], input: TodoInput, after: TodoItem[] | "refused"]>([
    [
      old,
      { todos: [{ id: "1", status: "completed" }] },
      [row("1", "one", "completed"), row("2", "two", "in_progress")],
    ],
    [old, { todos: [{ id: "2", content: "", status: "completed" }] }, [row("1", "one"), row("2", "two", "completed")]],
    [old, { todos: [{ id: "1", content: "new" }] }, [row("1", "new"), row("2", "two", "in_progress")]],
    [old, { todos: [{ id: "3" }] }, [...old, row("3", "3")]],
    [old, { todos: [{ id: "3", content: "three" }], merge: false }, [row("3", "three")]],
    [old, { todos: [{ id: "2", status: "completed" }], merge: false }, [row("1", "one"), row("2", "two", "completed")]],
    [old, { todos: [{ id: "2", content: "x" }], merge: false }, [row("2", "x")]],
    [old, { todos: [], merge: false }, []],
    [old, { todos: [] }, old],
    [[], { todos: [{ id: "a", status: "completed" }] }, [row("a", "a", "completed")]],
    [old, { todos: [{ id: "1" }, { id: "1" }] }, "refused"],
    [old, { todos: [{ id: "1", status: "done" as never }] }, "refused"],
  ])("%j changed by %j is %j", async (before, input, after) => {
    const resources = new Resources();
    const tool = todoTool();
    await callTool(tool, { todos: before, merge: false }, { resources });
    const done = await callTool(tool, input, { resources }).catch(() => undefined);
    if (after === "refused") expect(done?.errorDetail ?? "invalid").toMatch(/duplicate id|invalid/);
    else expect(done?.output).toEqual({ todos: after });
    const { output } = await callTool(tool, { todos: [] }, { resources });
    expect(output).toEqual({ todos: after === "refused" ? before : after });
  });

  it("says when there is nothing on it, and takes what a model writes for a flag", async () => {
    expect((await callTool(todoTool(), { todos: [] })).text).toBe("Nothing is on the list.");
    expect((await callTool(todoTool(), { todos: [{ id: "1", content: "a" }], merge: "false" })).text).toContain("1: a");
  });
});

describe("ask_user", () => {
  it.each([
    [[], undefined, "Nothing was asked. Go on with what you know."],
    [[{ question: "a?" }, { question: " a? " }], "duplicate question", '"a?" is asked more than once.'],
  ])("with the questions %j: %j, %j", async (questions, detail, says) => {
    const result = await callTool(askUserTool(), { questions });
    expect(result.errorDetail).toBe(detail);
    expect(result.text).toContain(says);
    expect(askUserTool().metadata.asks?.({ questions } as never)).toBe(false);
  });
});

describe("monitor and wait", () => {
  const resources = new Resources();
  const ended = Promise.resolve();
  const listed: BackgroundTask = {
    id: "t",
    description: "x",
    ended,
    running: false,
    status: "ended",
    output: async () => ({ text: "", next: 0 }),
  };
  resources.insert(backgroundTasks, new Map([["tests", () => [listed]]]));

  it.each([
    [{ timeout_ms: 36_000_001 }, "too long"],
    [{ timeout_ms: 36_000_000 }, undefined],
    [{ timeout_ms: 0 }, undefined],
    [{ task_id: "none" }, "no such task: none"],
  ])("monitor %j: %j", async (args, detail) => {
    expect((await callTool(monitorTool(), { task_id: "t", ...args }, { resources })).errorDetail).toBe(detail);
  });

  it.each([
    [{ timeout_ms: "soon" }, false],
    [{ timeout_ms: -1 }, false],
    [{ timeout_ms: "10" }, true],
    [{ task_ids: "t" }, true],
  ])("wait takes %j: %j", async (args, taken) => {
    const call = callTool(waitTool(), args, { resources });
    if (taken) expect((await call).errorDetail).toBeUndefined();
    else await expect(call).rejects.toMatchObject({ kind: "invalidArguments" });
  });
});
