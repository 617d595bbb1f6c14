import { backgroundTasks, callTool, Resources, ToolCallResult, type ToolImpl } from "@shedkit/tool";
import { describe, expect, it } from "vitest";
import { bashTool, shellTools, taskKillTool, taskOutputTool, tasksReminder } from "../src/index.js";
import type { NodeTerminal } from "../src/node.js";
import { hosted, processesWith, terminalIn, until } from "./helpers.js";

async function begun(terminal: NodeTerminal, command: string, more: object = {}): Promise<string> {
  const call = { command, description: "a test", is_background: true, ...more };
  const output = await bashTool(terminal).call(call);
  if (output.type !== "background") throw new Error("not in the background");
  return output.task_id;
}

const said = async (tool: ToolImpl, args: object) => (await callTool(tool, args)).text;

/** A call in the session `s`. */
const callIn = (resources: Resources) => ({
  callId: "c",
  signal: new AbortController().signal,
  resources,
  sessionId: "s" as never,
  names: { tool: "bash", param: (name: string) => name, toolOf: () => undefined, paramOf: () => undefined },
  notify: () => {},
});

describe("background tasks", () => {
  it("start, are looked at, are waited for", async () => {
    const terminal = await terminalIn();
    const output = taskOutputTool(terminal);
    const id = await begun(terminal, "echo begun; while [ ! -e go ]; do sleep 0.02; done; echo ended; exit 3");
    await until(async () => (await said(output, { task_ids: [id] })).includes("begun"));
    expect(await said(output, { task_ids: [id] })).toBe(
      "task-1 (a test): running\nbegun\n\n[It still runs. To wait for the end, give timeout_ms.]",
    );
    expect(await said(output, { task_ids: [id], timeout_ms: 20 })).toContain("[It still runs. Waited 0.02 s.]");
    await bashTool(terminal).call({ command: "touch go", description: "lets it end" });
    expect(await said(output, { task_ids: [` ${id} `, id, ""], timeout_ms: 30_000 })).toBe(
      "task-1 (a test): ended, exit 3\nbegun\nended",
    );
    expect(await output.call({ task_ids: [id], timeout_ms: 30_000 })).toEqual({
      tasks: [
        { task_id: "task-1", status: "completed", exit_code: 3, output_text: "begun\nended\n", truncated: false },
      ],
    });
  });

  it("are listed for other tools, with what they write from a place on, character by character", async () => {
    const terminal = await terminalIn();
    const resources = new Resources();
    const command = "printf 'f\\303'; while [ ! -e go ]; do sleep 0.02; done; printf '\\274r\\n'; exit 3";
    await hosted(
      bashTool(terminal),
      { command, description: "a test", is_background: true },
      { resources, sessionId: "s" },
    );
    const listed = () => [...(resources.get(backgroundTasks)?.values() ?? [])].flatMap((list) => list());
    const [task] = listed();
    expect(task).toMatchObject({ id: "task-1", description: "a test", running: true, status: "running" });
    await until(async () => (await task?.output?.(0))?.text === "f");
    expect(await task?.output?.(0)).toEqual({ text: "f", next: 1 });
    await bashTool(terminal).call({ command: "touch go", description: "lets it end" });
    await task?.ended;
    expect(await task?.output?.(1)).toEqual({ text: "\u00fcr\n", next: 5 });
    expect(listed()[0]).toMatchObject({ running: false, status: "ended, exit 3" });
    await resources.dispose();
  });

  it("begin where the shell is, and leave it as it is", async () => {
    const terminal = await terminalIn();
    const bash = bashTool(terminal);
    await bash.call({ command: "X=1; mkdir d; cd d", description: "" });
    const id = await begun(terminal, "echo $X; pwd; X=2; cd /");
    expect(await said(taskOutputTool(terminal), { task_ids: [id], timeout_ms: 30_000 })).toContain(
      `1\n${terminal.cwd}/d`,
    );
    expect(await said(bash, { command: "echo $X; pwd", description: "" })).toBe(`exit: 0\n1\n${terminal.cwd}/d`);
  });

  it("are waited for together, or for the first", async () => {
    const terminal = await terminalIn();
    const output = taskOutputTool(terminal);
    const slow = await begun(terminal, "sleep 98901");
    const quick = await begun(terminal, "echo quick");
    const text = await said(output, { task_ids: [slow, quick], timeout_ms: 30_000, wait_for: "any" });
    expect(text).toContain("task-2 (a test): ended, exit 0\nquick");
    expect(text).toContain("[1 of 2 still run.");
  });

  it("are ended with all that they started", async () => {
    const terminal = await terminalIn();
    const kill = taskKillTool(terminal);
    const id = await begun(terminal, "sleep 98911 & sleep 98912");
    await until(async () => (await processesWith("sleep 9891")).length === 2);
    expect(await kill.call({ task_id: id })).toEqual({ outcome: "killed" });
    expect(await processesWith("sleep 9891")).toEqual([]);
    expect(await said(kill, { task_id: id })).toBe("task-1 had ended already: ended (killed).");
    expect(await said(taskOutputTool(terminal), { task_ids: [id] })).toBe(
      "task-1 (a test): ended (killed)\n(no output)",
    );
  });

  it("run out of time", async () => {
    const terminal = await terminalIn();
    const id = await begun(terminal, "sleep 98921", { timeout: 50 });
    expect(await said(taskOutputTool(terminal), { task_ids: [id], timeout_ms: 30_000 })).toContain("ended (timeout)");
    expect(await processesWith("sleep 98921")).toEqual([]);
  });

  it("that are not known are named, with those that are", async () => {
    const terminal = await terminalIn();
    expect(await said(taskKillTool(terminal), { task_id: "x" })).toBe(
      "There is no task x. No command runs in the background.",
    );
    await begun(terminal, "true");
    expect(await said(taskOutputTool(terminal), { task_ids: ["task-1", "x"] })).toBe(
      "There is no task x. There are: task-1.",
    );
    expect(await said(taskOutputTool(terminal), { task_ids: [] })).toContain("task_ids names no task.");
  });

  it("tell the host when they end", async () => {
    const bash = bashTool(await terminalIn());
    const { told } = await hosted(bash, { command: "exit 5", description: "d", is_background: true });
    await until(() => told.length > 0);
    expect(told).toEqual([
      [
        "execution_complete",
        { taskId: "task-1", command: "exit 5", description: "d", status: "completed", exitCode: 5 },
      ],
    ]);
  });

  it("are remembered for the model until it knows that they ended", async () => {
    const terminal = await terminalIn();
    const resources = new Resources();
    const bash = bashTool(terminal);
    const { result, told } = await hosted(
      bash,
      { command: "true", description: "the work", is_background: true },
      { resources, sessionId: "s" },
    );
    await until(() => told.length > 0);
    const ctx = callIn(resources);
    const [reminder] = bash.metadata.reminders ?? [];
    expect(await reminder?.collect(ctx, result)).toEqual([
      { key: "task-1", text: "The background task task-1 (the work) has ended: exit 0." },
    ]);
    expect(await reminder?.collect(ctx, result)).toEqual([]);
  });

  it("that end many at once are told ten at a time, with long descriptions cut", async () => {
    const terminal = await terminalIn();
    const resources = new Resources();
    const work = { command: "true", description: "long ".repeat(100), is_background: true };
    const told = [];
    for (let i = 0; i < 12; i++) {
      const { told: ends } = await hosted(bashTool(terminal), work, { resources, sessionId: "s" });
      told.push(until(async () => ends.length > 0));
    }
    await Promise.all(told);
    const ctx = callIn(resources);
    const news = async () => (await tasksReminder().collect(ctx, ToolCallResult.text(""))).map(({ text }) => text);
    const first = await news();
    expect(first).toHaveLength(10);
    expect(new TextEncoder().encode(first.join()).length).toBeLessThan(3000);
    expect(await news()).toEqual([expect.stringContaining("task-11 (long"), expect.stringContaining("task-12 (long")]);
    expect(await news()).toEqual([]);
  });

  it("take over a command whose time is up, where that is set", async () => {
    const terminal = await terminalIn();
    const bash = bashTool(terminal, { backgroundOnTimeout: true });
    const text = await said(bash, { command: "echo a; sleep 98931", description: "", timeout: 1500 });
    expect(text).toMatch(/^Still running after 1\.5 s; it goes on in the background as task-1 \(pid \d+\)\./);
    expect(text).toMatch(/Until now it wrote:\na$/);
    await until(async () => (await processesWith("sleep 98931")).length === 1);
    expect(await said(taskOutputTool(terminal), { task_ids: ["task-1"] })).toContain("running\na");
    await taskKillTool(terminal).call({ task_id: "task-1" });
    expect(await processesWith("sleep 98931")).toEqual([]);
  });

  it("end with the session", async () => {
    const terminal = await terminalIn();
    const resources = new Resources();
    const bash = bashTool(terminal);
    const run = (command: string, more: object = {}) =>
      hosted(bash, { command, description: "", ...more }, { resources, sessionId: "s" });
    await run("sleep 98941", { is_background: true });
    await run("sleep 98942 & true");
    await until(async () => (await processesWith("sleep 9894")).length === 2);
    await resources.dispose();
    expect(await processesWith("sleep 9894")).toEqual([]);
  });

  it("stop waiting when the call is cancelled, and run on", async () => {
    const terminal = await terminalIn();
    const id = await begun(terminal, "sleep 98951");
    const controller = new AbortController();
    const waiting = callTool(
      taskOutputTool(terminal),
      { task_ids: [id], timeout_ms: 60_000 },
      { signal: controller.signal },
    );
    controller.abort();
    await expect(waiting).rejects.toMatchObject({ kind: "cancelled" });
    expect(await said(taskOutputTool(terminal), { task_ids: [id] })).toContain("running");
  });

  it("are many", async () => {
    const terminal = await terminalIn();
    const ids = await Promise.all(Array.from({ length: 60 }, () => begun(terminal, "echo $$")));
    const output = taskOutputTool(terminal);
    for (let i = 0; i < ids.length; i += 20) {
      const { tasks } = await output.call({ task_ids: ids.slice(i, i + 20), timeout_ms: 30_000 });
      expect(tasks.every(({ exit_code }) => exit_code === 0)).toBe(true);
    }
  });

  it("that run as well are named, but not all of many", async () => {
    const terminal = await terminalIn();
    for (let i = 0; i < 12; i++) await begun(terminal, "sleep 98961", { description: "d".repeat(500) });
    const text = await said(bashTool(terminal), { command: "sleep 98961", description: "last", is_background: true });
    expect(text).toMatch(/These run as well: task-3 \(d{80}\.\.\.\), .*task-12 \(d{80}\.\.\.\) and 2 more\.$/);
  });

  it("that ended long ago are known by how they ended, and later not at all", async () => {
    const terminal = await terminalIn({ graceMs: 0 });
    const output = taskOutputTool(terminal);
    const resources = new Resources();
    const job = (i: number) => `echo ${i}; exit ${i % 7}`;
    for (let i = 1; i <= 205; i += 20) {
      const ids = await Promise.all(
        Array.from({ length: Math.min(20, 206 - i) }, (_, k) => begun(terminal, job(i + k))),
      );
      await output.call({ task_ids: ids, timeout_ms: 60_000 });
    }
    expect(await said(output, { task_ids: ["task-205"] })).toMatch(/: ended, exit \d\n\d+$/);
    const old = await callTool(output, { task_ids: ["task-50"] }, { resources });
    expect(old.text).toMatch(/^task-50 \(a test\): ended, exit \d\n\(what it wrote is not kept any more\)$/);
    expect(old.output).toMatchObject({ tasks: [{ task_id: "task-50", status: "completed", truncated: true }] });
    expect(await said(taskKillTool(terminal), { task_id: "task-50" })).toMatch(/had ended already: ended, exit \d\.$/);
    expect(await said(output, { task_ids: ["task-1"] })).toContain("There is no task task-1.");
  }, 120_000);

  it("have tools that bash asks for", async () => {
    const tools = shellTools(await terminalIn());
    expect(tools.map((tool) => tool.metadata?.id)).toEqual(["bash", "task_output", "task_kill"]);
    expect(tools.map((tool) => tool.metadata?.capabilities.readOnly)).toEqual([false, true, false]);
  });
});
