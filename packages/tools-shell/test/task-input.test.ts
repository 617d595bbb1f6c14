import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { callTool, type ToolImpl } from "@shedkit/tool";
import { describe, expect, it } from "vitest";
import { bashTool, shellTools, taskInputTool, taskKillTool, taskOutputTool } from "../src/index.js";
import type { NodeTerminal } from "../src/node.js";
import { hosted, tempFolder, terminalIn, until } from "./helpers.js";

const said = async (tool: ToolImpl, args: object) => (await callTool(tool, args)).text;

async function begun(terminal: NodeTerminal, command: string, more: object = {}): Promise<string> {
  const bash = bashTool(terminal, { backgroundInput: true });
  const input = { command, description: "a test", is_background: true, takes_input: true, ...more };
  const output = await bash.call(input);
  if (output.type !== "background") throw new Error("not in the background");
  return output.task_id;
}

const ended = (terminal: NodeTerminal, task_id: string) =>
  said(taskOutputTool(terminal), { task_ids: [task_id], timeout_ms: 30_000 });

describe("a background task that takes input", () => {
  it("is sent lines, and the end", async () => {
    const terminal = await terminalIn();
    const input = taskInputTool(terminal);
    const id = await begun(terminal, 'read a; read b; read c; echo "$a|$b|$c"; cat');
    expect(await said(input, { task_id: id, text: "one" })).toBe("Sent to task-1.");
    await said(input, { task_id: id, text: "" });
    await said(input, { task_id: id, text: "three\nfour\n" });
    await until(async () => (await said(taskOutputTool(terminal), { task_ids: [id] })).includes("one||three\nfour"));
    expect(await said(input, { task_id: ` ${id} `, text: "five", end: true })).toBe(
      "Sent to task-1. Its input is closed.",
    );
    expect(await ended(terminal, id)).toBe("task-1 (a test): ended, exit 0\none||three\nfour\nfive");
  });

  it("runs nothing of its own at the start: input by a socket makes bash think of a remote login", async () => {
    const home = await tempFolder();
    await writeFile(join(home, ".bashrc"), "echo at the start\n");
    const terminal = await terminalIn({ env: { PATH: process.env.PATH, HOME: home } });
    const id = await begun(terminal, "read a; echo got $a");
    await said(taskInputTool(terminal), { task_id: id, text: "it" });
    expect(await ended(terminal, id)).toBe("task-1 (a test): ended, exit 0\ngot it");
  });

  it("is sent the end alone", async () => {
    const terminal = await terminalIn();
    const id = await begun(terminal, "cat; echo over");
    await said(taskInputTool(terminal), { task_id: id, text: "", end: true });
    expect(await ended(terminal, id)).toBe("task-1 (a test): ended, exit 0\nover");
  });

  it("says that it takes no more, has ended, or was never there", async () => {
    const terminal = await terminalIn();
    const input = taskInputTool(terminal);
    const id = await begun(terminal, "while [ ! -e go ]; do sleep 0.02; done");
    await said(input, { task_id: id, text: "", end: true });
    const late = await callTool(input, { task_id: id, text: "x" });
    expect(late.errorDetail).toBe("no input");
    expect(late.text).toContain("task-1 takes no input, or no more.");
    await bashTool(terminal).call({ command: "touch go", description: "lets it end" });
    await ended(terminal, id);
    expect(await said(input, { task_id: id, text: "x" })).toBe("task-1 had ended already: ended, exit 0.");
    expect(await said(input, { task_id: "task-7", text: "x" })).toBe("There is no task task-7. There are: task-1.");
  });

  it("that does not read is not sent without end, and is ended all the same", async () => {
    const terminal = await terminalIn();
    const input = taskInputTool(terminal);
    const id = await begun(terminal, "sleep 98931");
    const text = "x".repeat(65_535);
    let sent = 0;
    while (sent < 100 && (await said(input, { task_id: id, text })).startsWith("Sent")) sent++;
    expect(sent).toBeGreaterThan(10);
    expect(sent).toBeLessThan(100);
    expect(await said(input, { task_id: id, text })).toBe(
      "task-1 has not read what it was sent before. Nothing more is sent until it has.",
    );
    expect(await said(taskKillTool(terminal), { task_id: id })).toBe("task-1 was ended.");
  });

  it("may close its input and run on", async () => {
    const terminal = await terminalIn();
    const input = taskInputTool(terminal);
    const id = await begun(terminal, "exec 0<&-; echo closed; while [ ! -e go ]; do sleep 0.02; done");
    await until(async () => (await said(taskOutputTool(terminal), { task_ids: [id] })).includes("closed"));
    await until(async () => !(await said(input, { task_id: id, text: "x" })).startsWith("Sent"));
    await bashTool(terminal).call({ command: "touch go", description: "lets it end" });
    expect(await ended(terminal, id)).toContain("ended, exit 0");
  });
});

describe("input", () => {
  it("is empty for a task that was not started to take some", async () => {
    const terminal = await terminalIn();
    const id = await begun(terminal, "cat; while [ ! -e go ]; do sleep 0.02; done", { takes_input: false });
    const { text } = await hosted(taskInputTool(terminal), { task_id: id, text: "x" }, { tools: { execute: "run" } });
    expect(text).toBe("task-1 takes no input. Start it with my_takes_input where it is to take some.");
    await bashTool(terminal).call({ command: "touch go", description: "lets it end" });
    expect(await ended(terminal, id)).toBe("task-1 (a test): ended, exit 0\n(no output)");
  });

  it("is for the background alone", async () => {
    const bash = bashTool(await terminalIn(), { backgroundInput: true });
    await expect(bash.call({ command: "cat", description: "", takes_input: true })).rejects.toMatchObject({
      kind: "invalidArguments",
      message: expect.stringContaining("takes_input is for commands in the background. Set is_background to true"),
    });
  });

  it("is told of with the tool that shows the answer", async () => {
    const terminal = await terminalIn();
    const id = await begun(terminal, "cat");
    const send = (tools: object) =>
      hosted(taskInputTool(terminal), { task_id: id, text: "x" }, { tools: { ...tools } });
    expect((await send({ backgroundTaskAction: "look" })).text).toBe(
      "Sent to task-1. What it answers is told by look.",
    );
    expect((await send({ backgroundTaskAction: "look", monitor: "watch" })).text).toContain("is told by watch.");
    await said(taskKillTool(terminal), { task_id: id });
  });

  it("needs leave of its own, whatever commands are allowed", () => {
    expect(taskInputTool().metadata.access?.({ task_id: "task-1", text: "rm x" })).toEqual([
      {
        action: "execute",
        target: "unknown: input of task-1: rm x",
        detail: { reason: "what a program does with its input depends on the program" },
      },
    ]);
  });

  it("is offered where the settings say so, and then has its tool", () => {
    const properties = (tool: ToolImpl | undefined) => {
      const definition = tool?.definition();
      return definition?.type === "single" ? JSON.stringify(definition.definition) : "";
    };
    expect(shellTools().map((tool) => tool.metadata?.id)).not.toContain("task_input");
    expect(properties(bashTool())).not.toContain("takes_input");
    const tools = shellTools(undefined, { bash: { backgroundInput: true } });
    expect(tools.map((tool) => tool.metadata?.id)).toEqual(["bash", "task_output", "task_kill", "task_input"]);
    expect(properties(tools[0])).toContain("takes_input");
    const check = bashTool().metadata.params?.check;
    expect(check?.({ backgroundInput: true, enabledBackground: false })).toEqual([
      { field: "backgroundInput", message: "needs enabledBackground to be true" },
    ]);
    const without = shellTools(undefined, { bash: { backgroundInput: true, enabledBackground: false } });
    expect(without).toHaveLength(1);
  });
});
