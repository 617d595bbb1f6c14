import { AgentSession } from "@shedkit/agent";
import { ToolShed, ToolShedError } from "@shedkit/shed";
import { MemoryDocumentStore } from "@shedkit/store";
import { type ScriptedAnswer, ScriptedProvider } from "@shedkit/testing";
import { type AccessRequest, defineTool, type ToolKind } from "@shedkit/tool";
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

async function planning(script: ScriptedAnswer[], options: PlanModeOptions = {}, decision?: ApprovalDecision) {
  const provider = new ScriptedProvider([...script, "Done."]);
  const shed = new ToolShed().tools(planModeTools(options)).tools(OTHERS);
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
    const { results, asked, session } = await planning([
      enter,
      [call("write"), call("delete"), call("bash"), call("read")],
      exit,
      call("write"),
    ]);
    expect(results[0]).toContain("show it to the user with exit_plan");
    expect(results[1]).toContain("no file is changed until the user has agreed");
    expect(results[2]).toContain("no file is changed");
    expect(results.slice(3, 5)).toEqual(["bash a.txt", "read a.txt"]);
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

  it("may be written to its file, and to no other with it", async () => {
    const script = [enter, call("write", "./plan.md"), call("write", "plan.md,a.txt"), call("delete", "plan.md")];
    const { results } = await planning(script, { planFile: "plan.md" });
    expect(results[1]).toBe("write ./plan.md");
    expect(results[2]).toContain("no file but plan.md is changed");
    expect(results[3]).toContain("no file but plan.md is changed");
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
