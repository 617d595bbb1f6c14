import { AgentSession, type TurnEvent } from "@shedkit/agent";
import { ToolShed } from "@shedkit/shed";
import { MemoryDocumentStore } from "@shedkit/store";
import { ScriptedProvider } from "@shedkit/testing";
import { callTool, FnTool, toolFn } from "@shedkit/tool";
import { type ApprovalDecision, type JsonValue, type ToolArguments, textOfContent } from "@shedkit/types";
import { describe, expect, it, onTestFinished } from "vitest";
import { type AskUserOptions, askUserTool } from "../src/index.js";

const colour = {
  question: "Which colour?",
  options: [{ label: "red" }, { label: "blue", description: "Like the sky." }],
};

async function session(args: ToolArguments, docStore = new MemoryDocumentStore(), options: AskUserOptions = {}) {
  const provider = new ScriptedProvider([{ call: "ask_user", arguments: args }, "Thank you."]);
  const shed = new ToolShed().tool(askUserTool(options)).pin("ask_user");
  const made = await AgentSession.builder(provider)
    .withModel("m")
    .withToolshed(shed)
    .withDocStore(docStore)
    .withSessionId("asked")
    .build();
  onTestFinished(() => made.end());
  return { session: made, provider };
}

/** Runs the turn, answering as told, and gives what the model read. */
async function answered(args: ToolArguments, decision: ApprovalDecision) {
  const { session: asking } = await session(args);
  const events: TurnEvent[] = [];
  for await (const event of asking.runTurnStream("Hi").events()) {
    events.push(event);
    if (event.type === "approvalRequested") await asking.approve(event.approvalId, decision);
  }
  const result = events.find((event) => event.type === "toolResult");
  return { events, text: result?.type === "toolResult" ? textOfContent(result.content) : "", result };
}

const answer = (value: JsonValue): ApprovalDecision => ({ type: "allow", scope: "once", answer: value });

describe("ask_user", () => {
  it("waits for the host's answer, though nothing else needs leave", async () => {
    const { events, text } = await answered({ questions: [colour] }, answer("blue"));
    expect(events.find((event) => event.type === "approvalRequested")).toMatchObject({
      ...{ name: "ask_user", asks: true, arguments: { questions: [colour] } },
    });
    expect(text).toBe("Which colour?\n-> blue");
  });

  it("goes on without an answer once its time is up, and leaves none that came before", async () => {
    const { session: asking } = await session({ questions: [colour] }, new MemoryDocumentStore(), { timeoutMs: 20 });
    const texts: string[] = [];
    let late: Promise<void> | undefined;
    for await (const event of asking.runTurnStream("Hi").events()) {
      if (event.type !== "toolResult") continue;
      texts.push(textOfContent(event.content));
    }
    expect(texts).toEqual(["Which colour?\n-> (no answer)\n\nDecide yourself what was not answered, and say so."]);
    expect(asking.pendingApprovals()).toEqual([]);
    const { session: patient } = await session({ questions: [colour] }, new MemoryDocumentStore(), {
      timeoutMs: 2 ** 31 - 1,
    });
    for await (const event of patient.runTurnStream("Hi").events()) {
      if (event.type === "toolResult") expect(textOfContent(event.content)).toBe("Which colour?\n-> blue");
      if (event.type === "approvalRequested") late = patient.approve(event.approvalId, answer("blue"));
    }
    await late;
  });

  it("shows previews of options to the host", async () => {
    const layout = { question: "Which?", options: [{ label: "a", preview: "+--+\n|  |" }] };
    const { events } = await answered({ questions: [layout] }, answer("a"));
    expect(events.find((event) => event.type === "approvalRequested")).toMatchObject({
      arguments: { questions: [layout] },
    });
  });

  it("takes several answers, some of several parts, some none", async () => {
    const more = { question: "Which sizes?", multi_select: true };
    const { text } = await answered(
      { questions: [colour, more, { question: "Why?" }] },
      answer(["red", ["S", " M "], null]),
    );
    expect(text).toMatch(/-> red\n\nWhich sizes\?\n-> S; M\n\nWhy\?\n-> \(no answer\)\n\nDecide yourself/);
  });

  it.each([
    ["a text", "a", "-> a"],
    ["texts for one question", ["a", "b"], "-> a; b"],
    ["a list of one list", [["a", "b"]], "-> a; b"],
    ["nothing", null, "-> (no answer)"],
  ])("takes for one question %s", async (_, value, said) => {
    expect((await answered({ questions: [{ question: "What?" }] }, answer(value))).text).toContain(said);
  });

  it("goes on where somebody lets it run without an answer, and says no where he does", async () => {
    const leave: ApprovalDecision = { type: "allow", scope: "once" };
    expect((await answered({ questions: [colour] }, leave)).text).toContain("(no answer)");
    const no = await answered({ questions: [colour] }, { type: "deny", reason: "nobody is there" });
    expect(no.result).toMatchObject({ errorDetail: "permissionDenied" });
    expect(no.text).toContain("nobody is there");
  });

  it("tells of an answer that it cannot read", async () => {
    const { text, result } = await answered({ questions: [colour] }, answer({ colour: "blue" }));
    expect(result).toMatchObject({ errorDetail: "execution" });
    expect(text).toContain("gave no answer that can be read");
  });

  it("asks nobody what is not asked, or twice", async () => {
    const none = await answered({ questions: [] }, answer("x"));
    expect(none.text).toContain("Go on");
    const twice = await answered({ questions: [colour, { question: "Which colour? " }] }, answer("x"));
    expect(twice.result).toMatchObject({ errorDetail: "duplicate question" });
    for (const { events } of [none, twice]) {
      expect(events.some((event) => event.type === "approvalRequested")).toBe(false);
    }
  });

  it("waits on after a restart, and is answered then", async () => {
    const store = new MemoryDocumentStore();
    const first = await session({ questions: [colour] }, store);
    const events = first.session.subscribe();
    const turn = first.session.runTurn("Hi");
    for await (const event of events) if (event.type === "approvalRequested") break;
    await first.session.end();
    expect((await turn).failure).toMatchObject({ code: "cancelled" });
    const provider = new ScriptedProvider(["Blue it is."]);
    const shed = new ToolShed().tool(askUserTool()).pin("ask_user");
    const second = await AgentSession.builder(provider)
      .withModel("m")
      .withToolshed(shed)
      .withDocStore(store)
      .resume("asked")
      .build();
    onTestFinished(() => second.end());
    const [waiting = ""] = second.pendingApprovals();
    await second.approve(waiting, answer("blue"));
    await second.settled();
    expect(JSON.stringify(provider.requests[0]?.messages.at(-1))).toContain("-> blue");
  });

  it("does not ask for a sub-agent", async () => {
    const provider = new ScriptedProvider(({ messages }) =>
      messages.length === 1
        ? { call: "ask_user", arguments: { questions: [colour] } }
        : JSON.stringify(messages.at(-1)),
    );
    let spawn: ((task: string) => Promise<string>) | undefined;
    const shed = new ToolShed()
      .tool(askUserTool())
      .tool(
        toolFn("other", (parts) => {
          spawn ??= async (task) => (await parts.spawn?.start({ task }))?.result() ?? "";
          return new FnTool("other", "Another.", { type: "object", properties: {} }, async () => "");
        }),
      )
      .pin("ask_user");
    const parent = await AgentSession.builder(provider).withModel("m").withToolshed(shed).build();
    onTestFinished(() => parent.end());
    expect(await spawn?.("Choose")).toContain("a sub-agent has nobody to ask");
  });

  it("says without a session that nobody answered", async () => {
    expect((await callTool(askUserTool(), { questions: [colour] })).text).toContain("(no answer)");
  });
});
