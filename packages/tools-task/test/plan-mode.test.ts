import { AgentSession } from "@shedkit/agent";
import { MemoryFileSystem } from "@shedkit/fs/memory";
import { ToolShed, ToolShedError } from "@shedkit/shed";
import { MemoryDocumentStore } from "@shedkit/store";
import { type ScriptedAnswer, ScriptedProvider } from "@shedkit/testing";
import {
  type AccessRequest,
  callTool,
  defineCommands,
  defineTool,
  type ToolImpl,
  type ToolKind,
  userAnswers,
} from "@shedkit/tool";
import { applyPatchTool, editTool, readTool, writeTool } from "@shedkit/tools-files";
import { type ApprovalDecision, textOfContent } from "@shedkit/types";
import * as Type from "@sinclair/typebox";
import { describe, expect, it, onTestFinished } from "vitest";
import { type PlanModeOptions, planMode, planModeTools } from "../src/index.js";

const input = Type.Object({ path: Type.String() });

/** A tool that only says what it would touch. */
function tool(id: string, kind: ToolKind, action: AccessRequest["action"] = "write") {
  const access = ({ path }: { path: string }) => path.split(",").map((target) => ({ action, target }));
  return defineTool({ id, kind, description: id, input, access, run: ({ path }) => `${id} ${path}` });
}

const OTHERS = [
  tool("write", "write"),
  tool("delete", "delete"),
  tool("bash", "execute", "execute"),
  tool("read", "read", "read"),
];

/** A tool of several commands, each of which says that it ran. */
function commands(name: string, kind: ToolKind, list: string): ToolImpl {
  const one = (id: string) => defineTool({ id, kind, description: id, input, run: () => `${name} ${id}` });
  return defineCommands({ name, commands: Object.fromEntries(list.split(" ").map((id) => [id, one(id)])) });
}

async function planning(
  script: ScriptedAnswer[],
  options: PlanModeOptions = {},
  decision?: ApprovalDecision,
  tools: readonly ToolImpl[] = OTHERS,
) {
  const provider = new ScriptedProvider([...script, "Done."]);
  const shed = new ToolShed().tools(planModeTools(options)).tools(tools);
  const session = await AgentSession.builder(provider)
    .withModel("m")
    .withToolshed(shed.pin(...shed.names()))
    .withPermissions({ decide: async () => "allow" })
    .build();
  onTestFinished(() => session.end());
  const results: string[] = [];
  const asked: unknown[] = [];
  for await (const event of session.runTurnStream("Go").events()) {
    if (event.type === "toolResult") results.push(textOfContent(event.content));
    if (event.type !== "approvalRequested") continue;
    asked.push(event.arguments);
    await session.approve(event.approvalId, decision ?? { type: "allow", scope: "once" });
  }
  return { session, results, asked };
}

const call = (name: string, path = "a.txt") => ({ call: name, arguments: { path } });
const enter = { call: "enter_plan", arguments: {} };
const exit = { call: "exit_plan", arguments: { plan: "1. Write a.txt" } };

describe("a plan", () => {
  it("keeps files as they are until the user has agreed, whatever the permissions", async () => {
    const { results, asked, session } = await planning(
      [enter, [call("write"), call("delete"), call("bash"), call("read")], exit, call("write")],
      { holds: "changes" },
    );
    expect(results[0]).toContain("show it to the user with exit_plan");
    expect(results[1]).toContain("no file is changed until the user has agreed");
    expect(results[2]).toContain("no file is changed");
    expect(results[3]).toContain(
      "no command is run until the user has agreed to it but those that are known only to read",
    );
    expect(results[4]).toBe("read a.txt");
    expect(asked).toEqual([{ plan: "1. Write a.txt" }]);
    expect(results.at(-2)).toMatch(/^The user agrees/);
    expect(results.at(-1)).toBe("write a.txt");
    expect(planMode(session.toolManager.resources).active).toBe(false);
  });

  it("goes on where the user says no, with his reason", async () => {
    const no: ApprovalDecision = { type: "deny", reason: "the user said: test first" };
    const { results, session } = await planning([enter, exit, call("write")], {}, no);
    expect(results[1]).toContain("test first");
    expect(results[2]).toContain("no file is changed");
    expect(planMode(session.toolManager.resources).active).toBe(true);
  });

  it("takes what the user says to it along", async () => {
    const yes: ApprovalDecision = { type: "allow", scope: "once", answer: "But be careful." };
    const { results } = await planning([enter, exit], {}, yes);
    expect(results[1]).toContain("The user says: But be careful.");
  });

  it("is not taken as agreed to where nobody was asked", async () => {
    const { results, session } = await planning([enter]);
    const { resources } = session.toolManager;
    expect(results[0]).toContain("Nothing is changed");
    const tool = session.toolManager.get("exit_plan");
    if (!tool) throw new Error("no tool");
    const refused = await callTool(tool, { plan: "1." }, { resources });
    expect(refused.errorDetail).toBe("nobody was asked");
    expect(refused.text).toContain("Nobody could be asked");
    expect(planMode(resources).active).toBe(true);
    // A program without sessions that did ask somebody says so itself.
    resources.getOrDefault(userAnswers, () => new Map()).set("exit_plan-call", null);
    expect((await callTool(tool, { plan: "1." }, { resources })).text).toMatch(/^The user agrees/);
    expect(planMode(resources).active).toBe(false);
    expect(resources.get(userAnswers)?.size).toBe(0);
  });

  it("may be written to its file, and to no other with it", async () => {
    const script = [enter, call("write", "./plan.md"), call("write", "plan.md,a.txt"), call("delete", "plan.md")];
    const { results } = await planning(script, { planFile: "plan.md" });
    expect(results[1]).toBe("write ./plan.md");
    expect(results[2]).toContain("no file but plan.md is changed");
    expect(results[3]).toContain("no file but plan.md is changed");
  });

  it("may be written to its file with the real file tools, by any spelling of its path", async () => {
    const fs = new MemoryFileSystem({ "docs/plan.md": "", "plan.md": "" });
    const write = (path: string) => ({ call: "write", arguments: { path, content: "1." } });
    const paths = [
      "docs/plan.md",
      "./docs//x/../plan.md",
      " 'docs/plan.md' ",
      "plan.md",
      "docs/docs/plan.md",
      "docs/plan.md.txt",
    ];
    const options = { planFile: "docs/plan.md" };
    const { results } = await planning([enter, ...paths.map(write)], options, undefined, [writeTool(fs), editTool(fs)]);
    expect(results.slice(1).map((text) => !text.includes("is not permitted"))).toEqual([
      true,
      true,
      true,
      false,
      false,
      false,
    ]);
    const absolute = await planning([enter, write("a.md"), write("b.md")], { planFile: "/workspace/a.md" }, undefined, [
      writeTool(fs),
      editTool(fs),
    ]);
    expect(absolute.results.slice(1).map((text) => text.includes("is not permitted"))).toEqual([false, true]);
  });

  it("is not deleted by a patch, however the patch names it", async () => {
    const fs = new MemoryFileSystem({ "plan.md": "1.\n" });
    const tools = [readTool(fs), applyPatchTool(fs)];
    const remove = (path: string) => ({
      call: "apply_patch",
      arguments: { patch: `*** Begin Patch\n*** Delete File: ${path}\n*** End Patch` },
    });
    for (const planFile of ["plan.md", "/workspace/plan.md"]) {
      const script = [enter, remove("plan.md"), remove("/workspace/plan.md")];
      const { results } = await planning(script, { planFile }, undefined, tools);
      expect(results.slice(1)).toEqual(Array(2).fill(expect.stringContaining(`no file but ${planFile} is changed`)));
    }
    expect(new TextDecoder().decode(await fs.readFile("plan.md"))).toBe("1.\n");
  });

  it("lets what reads go on, and holds what may change something", async () => {
    const tools = [
      tool("fetch", "webFetch", "network"),
      tool("todo", "plan"),
      tool("notes", "memory"),
      tool("image", "imageGen"),
      tool("foreign", "other", "network"),
      tool("deploy", "deployApp"),
      tool("own", "my_kind"),
      defineTool({
        id: "looks",
        kind: "other",
        description: "looks",
        capabilities: { readOnly: true },
        input,
        run: () => "looks",
      }),
      commands("agent", "task", "start check result pause resume stop"),
      commands("video", "videoGen", "start check download cancel"),
    ];
    const calls = tools.slice(0, 8).map(({ metadata }) => call(metadata?.id ?? ""));
    const command = (name: string, one: string) => ({ call: name, arguments: { command: one, path: "x" } });
    const inner = [
      ...["start", "check", "result", "pause", "resume", "stop"].map((one) => command("agent", one)),
      ...["start", "check", "download", "cancel"].map((one) => command("video", one)),
    ];
    const { results } = await planning(
      [enter, ...calls, ...inner, exit, call("foreign")],
      { holds: "changes" },
      undefined,
      tools,
    );
    const ran = results.slice(1, 19).map((text) => !text.includes("is not permitted"));
    expect(ran.slice(0, 8)).toEqual([true, true, true, false, false, false, false, true]);
    expect(ran.slice(8, 14)).toEqual([false, true, true, true, false, true]);
    expect(ran.slice(14)).toEqual([false, true, false, true]);
    expect(results[9]).toContain("no sub-agent is started");
    expect(results[5]).toContain("nothing that may change something");
    expect(results.at(-1)).toBe("foreign x".replace("x", "a.txt"));
  });

  it("holds files alone where nothing else is said, and shells go on", async () => {
    const script = [enter, call("bash", "rm -r x"), call("foreign"), call("write")];
    const { results } = await planning(script, {}, undefined, [...OTHERS, tool("foreign", "other")]);
    expect(results.slice(1, 3)).toEqual(["bash rm -r x", "foreign a.txt"]);
    expect(results[3]).toContain("no file is changed");
  });

  it("does not have files changed by a sub-agent either", async () => {
    const agent = commands("agent", "task", "start check resume stop");
    const calls = ["start", "check", "resume", "stop"].map((command) => ({
      call: "agent",
      arguments: { command, path: "x" },
    }));
    const { results } = await planning([enter, ...calls], {}, undefined, [agent]);
    expect(results.slice(1).map((text) => !text.includes("is not permitted"))).toEqual([false, true, false, true]);
    expect(results[1]).toContain("no sub-agent is started");
  });

  it("that nobody makes is not shown to anybody", async () => {
    const { results, asked } = await planning([exit, call("write")]);
    expect(results[0]).toContain("no plan is being made");
    expect(asked).toEqual([]);
    expect(results[1]).toBe("write a.txt");
  });

  it("is still being made after a restart, and the host may end it", async () => {
    const docStore = new MemoryDocumentStore();
    const shed = new ToolShed().tools(planModeTools()).tools(OTHERS);
    const builder = (answers: ScriptedAnswer[]) =>
      AgentSession.builder(new ScriptedProvider(answers))
        .withModel("m")
        .withToolshed(shed.pin(...shed.names()))
        .withDocStore(docStore)
        .withSessionId("planned");
    const first = await builder([enter, "Thinking."]).build();
    await first.runTurn("Plan");
    await first.end();
    const second = await builder([call("write"), "Not yet.", call("write"), "Done."]).build();
    onTestFinished(() => second.end());
    const textOf = async () => {
      const [result] = (await second.runTurn("Go")).toolResults();
      return textOfContent(result?.content ?? []);
    };
    expect(await textOf()).toContain("a plan is being made");
    planMode(second.toolManager.resources).active = false;
    expect(await textOf()).toBe("write a.txt");
  });

  it("has both of its tools in a set, or none", async () => {
    const [one] = planModeTools();
    const provider = new ScriptedProvider([]);
    const shed = new ToolShed().tools(one ? [one] : []);
    await expect(AgentSession.builder(provider).withModel("m").withToolshed(shed).build()).rejects.toBeInstanceOf(
      ToolShedError,
    );
  });
});
