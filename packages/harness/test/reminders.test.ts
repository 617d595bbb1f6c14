import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { AgentSession } from "@shedkit/agent";
import { MemoryFileSystem } from "@shedkit/fs/memory";
import { NodeFileSystem } from "@shedkit/fs/node";
import { ToolShed } from "@shedkit/shed";
import { ScriptedProvider } from "@shedkit/testing";
import { backgroundTasks, FnTool, type Reminder, type ToolConstructor } from "@shedkit/tool";
import { skillReminder } from "@shedkit/tools-skills";
import { textOfContent } from "@shedkit/types";
import { describe, expect, it, onTestFinished } from "vitest";
import { ToolPreset } from "../src/index.js";

type Call = { call: string; arguments: { [key: string]: string } };

/** What the calls of a session answered, one after the other. */
async function answers(shed: ToolShed, calls: Call[]): Promise<string[]> {
  const steps: (Call | string)[] = [...calls, "Done."];
  const session = await AgentSession.builder(new ScriptedProvider(() => steps.shift() ?? "Done."))
    .withModel("m")
    .withToolshed(shed.pin(...shed.names()))
    .build();
  onTestFinished(() => session.end());
  const turn = await session.runTurn("Go");
  expect(turn.failure).toBeUndefined();
  return turn.toolResults().map(({ content }) => textOfContent(content));
}

const skill = "---\nname: style\ndescription: How code looks here.\npaths: ['*.ts']\n---\nTidy.\n";
const fs = () => new MemoryFileSystem({ "a.ts": "1\n", "skills/style/SKILL.md": skill });
const readA: Call = { call: "read", arguments: { path: "a.ts" } };
const count = (text: string | undefined, word: string) => text?.split(word).length ?? 0;

describe("what presets have to tell", () => {
  it("is told of a skill for the file at hand, once, and once where the shed has the reminder already", async () => {
    const files = fs();
    const scopes = [{ name: "project", fs: files, folder: "skills" }];
    const preset = ToolPreset.files(files).merge(ToolPreset.skills(scopes));
    for (const shed of [new ToolShed().tools(preset), new ToolShed().tools(preset).reminder(skillReminder(scopes))]) {
      const [first, second] = await answers(shed, [readA, readA]);
      expect(count(first, "How code looks here.")).toBe(2);
      expect(first).toContain("<system-reminder>");
      expect(second).not.toContain("How code looks here.");
    }
  });

  it("is told of sub-agents that have ended, after calls of other tools", async () => {
    const steps: (Call | string)[] = [
      { call: "agent", arguments: { command: "start", task: "A half" } },
      { call: "wait", arguments: {} },
      readA,
    ];
    const provider = new ScriptedProvider(({ messages: [message] }) => {
      const own = message?.type === "user" && textOfContent(message.content) === "Go";
      return own ? (steps.shift() ?? "Done.") : "Half.";
    });
    const preset = ToolPreset.files(fs()).merge(ToolPreset.agent()).merge(ToolPreset.background());
    const shed = new ToolShed().tools(preset);
    const session = await AgentSession.builder(provider)
      .withModel("m")
      .withToolshed(shed.pin(...shed.names()))
      .build();
    onTestFinished(() => session.end());
    const turn = await session.runTurn("Go");
    const told = turn.toolResults().map(({ content }) => textOfContent(content));
    expect(told.map((text) => text.includes("The sub-agent agent-1 is done."))).toEqual([false, true, false]);
  });

  it("is told of a background command that has ended, once, after a call of any tool", async () => {
    const root = await realpath(await mkdtemp(join(tmpdir(), "shedkit-told-")));
    onTestFinished(() => rm(root, { recursive: true, force: true, maxRetries: 10 }));
    const files = new NodeFileSystem(root);
    await files.writeFile("a.ts", "1\n");
    const bash = (command: string, more = {}) => ({ call: "bash", arguments: { command, description: "x", ...more } });
    const work = bash("while [ ! -e go ]; do sleep 0.02; done", { is_background: true });
    /** What the calls of a session tell that come after the command has ended. */
    const told = async (...calls: { call: string; arguments: object }[]) => {
      const preset = ToolPreset.files(files)
        .merge(ToolPreset.shell({ cwd: root }))
        .merge(ToolPreset.background());
      const shed = new ToolShed().tools(preset);
      const steps = [work, ...calls];
      const provider = new ScriptedProvider(async () => {
        if (steps.length === calls.length) {
          await files.writeFile("go", "");
          const lists = session.toolManager.resources.get(backgroundTasks)?.values() ?? [];
          await Promise.all([...lists].flatMap((list) => list().map(({ ended }) => ended)));
        }
        return (steps.shift() as Call | undefined) ?? "Done.";
      });
      const session = await AgentSession.builder(provider)
        .withModel("m")
        .withToolshed(shed.pin(...shed.names()))
        .build();
      onTestFinished(() => session.end());
      const turn = await session.runTurn("Go");
      expect(turn.failure).toBeUndefined();
      await files.remove("go");
      return turn.toolResults().map(({ content }) => textOfContent(content).includes("task-1 (x) has ended: exit 0"));
    };
    expect(await told(readA, readA, bash("true"))).toEqual([false, true, false, false]);
    // What another tool has told is not told again.
    const wait = { call: "wait", arguments: { task_ids: ["task-1"] } };
    expect(await told(wait, readA, bash("true"))).toEqual([false, false, false, false]);
    const monitor = { call: "monitor", arguments: { task_id: "task-1" } };
    expect(await told(monitor, readA)).toEqual([false, false, false]);
  }, 60_000);

  it("is told of the errors that its changes make", async () => {
    const root = await realpath(await mkdtemp(join(tmpdir(), "shedkit-told-")));
    onTestFinished(() => rm(root, { recursive: true, force: true, maxRetries: 10 }));
    const files = new NodeFileSystem(root);
    const server = fileURLToPath(new URL("./support/lsp-server.mjs", import.meta.url));
    const mine = { command: process.execPath, args: [server], languages: { ".x": "x" } };
    const shed = new ToolShed().tools(ToolPreset.files(files).merge(ToolPreset.lsp(files, { mine })));
    const heard = "a.x:1:1 error 1: Not to be so.";
    const provider = new ScriptedProvider(({ messages }) => {
      const last = messages.at(-1);
      if (last?.type !== "toolResult") return { call: "write", arguments: { path: "a.x", content: "word\n" } };
      if (textOfContent(last.content).includes(heard)) return "Heard.";
      return { call: "list", arguments: {} }; // the server takes its time to start
    });
    const session = await AgentSession.builder(provider)
      .withModel("m")
      .withToolshed(shed.pin(...shed.names()))
      .withConfig({ maxInnerIterations: 1000 })
      .withLoopDetection("off")
      .build();
    onTestFinished(() => session.end());
    expect((await session.ask("Go")).text).toBe("Heard.");
  }, 60_000);

  it("comes with constructors of your own, once for each name, and through sub-agents' tools", async () => {
    const reminder = (text: string): Reminder => ({ id: "own", collect: async () => [{ key: "k", text }] });
    const own = (name: string, text: string): ToolConstructor => ({
      name,
      needsSession: false,
      reminders: [reminder(text)],
      construct: () => new FnTool(name, "A tool", { type: "object" }, async () => "ok"),
    });
    const preset = ToolPreset.fromConstructors([own("a", "first"), own("b", "second")]);
    expect(await answers(new ToolShed().tools(preset), [{ call: "b", arguments: {} }])).toEqual([
      "ok\n<system-reminder>\nfirst\n</system-reminder>",
    ]);
    expect(
      await answers(new ToolShed().tools(preset).reminder(reminder("mine")), [{ call: "b", arguments: {} }]),
    ).toEqual(["ok\n<system-reminder>\nmine\n</system-reminder>"]);
    expect(await answers(new ToolShed().tools(preset).reminding(false), [{ call: "b", arguments: {} }])).toEqual([
      "ok",
    ]);
  });
});
