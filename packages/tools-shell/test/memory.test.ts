import { spawn } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Resources, ToolCallResult } from "@shedkit/tool";
import { describe, expect, it } from "vitest";
import {
  bashTool,
  type JobExit,
  type Terminal,
  type TerminalJob,
  taskOutputTool,
  tasksReminder,
} from "../src/index.js";
import { ProcessGroup } from "../src/node/group.js";
import { NodeJob } from "../src/node/job.js";
import { memoryKills } from "../src/node/memory-kills.js";
import { hosted, tempFolder, until } from "./helpers.js";

/** A real command, in a system that has killed processes for want of memory, or has not. */
async function started(command: string, outOfMemory: () => boolean): Promise<NodeJob> {
  const cwd = await tempFolder();
  const logPath = join(cwd, "log");
  const child = spawn("bash", ["-c", command], { cwd, detached: true, stdio: "ignore" });
  const patience = { graceMs: 100, killMs: 300 };
  const group = new ProcessGroup(child.pid ?? 0);
  return new NodeJob(child, { group, logPath, folderGone: undefined, patience, cwd: () => undefined, outOfMemory });
}

describe("a command that was forced to end", () => {
  it.each([
    ["itself", "kill -KILL $$", { signal: "SIGKILL", reason: "outOfMemory" }],
    ["a part of it", "bash -c 'kill -KILL $$'; exit $?", { code: 137, reason: "outOfMemory" }],
    ["not at all", "exit 1", { code: 1, reason: undefined }],
    ["otherwise", "kill -TERM $$", { signal: "SIGTERM", reason: undefined }],
  ])("ran out of memory where the system killed for that: %s", async (_, command, expected) => {
    expect(await (await started(command, () => true)).exited).toMatchObject(expected);
  });

  it("did not where the system killed nothing, or does not tell", async () => {
    const { exited } = await started("kill -KILL $$", () => false);
    expect(await exited).toMatchObject({ signal: "SIGKILL", reason: undefined });
  });

  it("did not where it was ended from here", async () => {
    const job = await started("trap 'exit 137' TERM; echo > log; while :; do sleep 0.05; done", () => true);
    await until(async () => (await job.size()) > 0);
    await job.kill();
    expect(await job.exited).toMatchObject({ code: 137, reason: undefined });
  });
});

describe("what the system tells of processes killed for want of memory", () => {
  const told = async (files: { [path: string]: string }) => {
    const root = await tempFolder();
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(root, path)), { recursive: true });
      await writeFile(join(root, path), text);
    }
    return memoryKills(`${root}/`);
  };

  it("is read of the group of processes that this one is in, else of the machine, else not known", async () => {
    const events = "low 0\nhigh 0\nmax 7\noom 9\noom_kill 3\noom_group_kill 8\n";
    const vmstat = "nr_free_pages 1\noom_kill 5\nunevictable_pgs_munlocked 0\n";
    expect(
      await told({ "proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.events": events, "proc/vmstat": vmstat }),
    ).toBe(3);
    expect(await told({ "proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.events": events })).toBe(3);
    expect(await told({ "proc/self/cgroup": "4:memory:/a\n0::/\n", "proc/vmstat": vmstat })).toBe(5);
    expect(await told({})).toBeUndefined();
  });
});

/** A terminal whose commands end at once, as they are told to. */
function terminalOf(exit: JobExit): Terminal {
  const job: TerminalJob = {
    exited: Promise.resolve(exit),
    size: async () => 0,
    read: async () => new Uint8Array(),
    kill: async () => {},
    dispose: async () => {},
  };
  return { cwd: "/", shell: "bash", start: async () => job };
}

describe("of a command that ran out of memory", () => {
  it.each<[JobExit]>([
    [{ signal: "SIGKILL", left: false, reason: "outOfMemory" }],
    [{ code: 137, left: false, reason: "outOfMemory" }],
  ])("the model is told so, and what to do: %j", async (exit) => {
    const bash = bashTool(terminalOf(exit));
    const { text, told } = await hosted(bash, { command: "make", description: "" });
    expect(text).toBe(
      "killed: outOfMemory\n(no output)\n[The system killed it, or a part of it, most likely for want of memory: it has lately " +
        "killed for that. Take less at once: fewer jobs side by side, smaller pieces.]",
    );
    expect(told.map(([name]) => name)).toEqual(["execution_failed"]);
  });

  it("and that ran in the background, too", async () => {
    const terminal = terminalOf({ code: 137, left: false, reason: "outOfMemory" });
    const resources = new Resources();
    const call = { command: "make", description: "d", is_background: true };
    await hosted(bashTool(terminal), call, { resources, sessionId: "s" });
    const names = { tool: "x", param: (name: string) => name, toolOf: () => undefined, paramOf: () => undefined };
    const signal = new AbortController().signal;
    const ctx = { callId: "c", signal, resources, sessionId: "s" as never, names, notify: () => {} };
    const news = await tasksReminder().collect(ctx, ToolCallResult.text(""));
    expect(news.map(({ text }) => text)).toEqual(["The background task task-1 (d) has ended: outOfMemory."]);
    const looked = await hosted(taskOutputTool(terminal), { task_ids: ["task-1"] }, { resources, sessionId: "s" });
    expect(looked.text).toBe("task-1 (d): ended (outOfMemory)\n(no output)");
    await resources.dispose();
  });
});
