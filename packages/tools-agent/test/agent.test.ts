import { AgentSession } from "@shedkit/agent";
import { ToolShed } from "@shedkit/shed";
import { Gate, ScriptedProvider, type ScriptedReply } from "@shedkit/testing";
import { FnTool, Resources } from "@shedkit/tool";
import {
  AgenticError,
  type ChildAgent,
  type Message,
  newSessionId,
  type ToolArguments,
  textOfContent,
} from "@shedkit/types";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  AGENT_ENDED,
  AGENT_PROGRESS,
  type AgentToolOptions,
  agentReminder,
  agentTool,
  sessionAgentTool,
} from "../src/index.js";

const noArguments = { type: "object", properties: {} };
const said = (message: Message | undefined) => (message?.type === "user" ? textOfContent(message.content) : "");
const look = () => new FnTool("look", "Looks.", noArguments, async () => "seen");

type Builder = ReturnType<typeof AgentSession.builder>;

/** A session whose children answer as scripted, and whose tools the test calls itself. */
async function parent(
  child: ScriptedReply,
  options: AgentToolOptions = {},
  change: (b: Builder) => Builder = (b) => b,
) {
  const provider = new ScriptedProvider(child);
  const shed = new ToolShed().tools([sessionAgentTool(options), look()]).reminder(agentReminder());
  const session = await change(AgentSession.builder(provider).withModel("m").withToolshed(shed)).build();
  onTestFinished(() => session.end());
  const { toolManager } = session;
  let calls = 0;
  const run = async (name: string, args: ToolArguments, signal?: AbortSignal) => {
    const request = { id: `c${++calls}`, name, arguments: args };
    return toolManager.executeOne(request, signal ? { signal } : {});
  };
  const agent = async (args: ToolArguments) => (await run("agent", args)).text;
  return { provider, session, run, agent };
}

describe("agent", () => {
  it("starts a sub-agent at once, says how it stands, and gives its answer when there is one", async () => {
    const gate = new Gate();
    const { agent, provider } = await parent(({ messages }) =>
      messages.length === 1 ? [{ call: "shed", arguments: { description: "look" } }] : [{ wait: gate }, "All is well."],
    );
    expect(await agent({ command: "start", task: "See how it is." })).toMatch(/^agent-1 has begun/);
    await gate.reached;
    expect(await agent({ command: "check" })).toBe("agent-1: running, step 2, last used shed (See how it is.)");
    expect(await agent({ command: "result", id: "agent-1" })).toMatch(/not done.*timeout_ms/);
    gate.open();
    expect(await agent({ command: "result", id: "agent-1", timeout_ms: 60_000 })).toBe("All is well.");
    expect(await agent({ command: "check", id: "agent-1" })).toContain("agent-1: done");
    expect(provider.requests[0]?.messages).toHaveLength(1); // it sees nothing of the parent's conversation
  });

  it("gives what it cost as output, and shows its steps while it is waited for", async () => {
    const { session, agent } = await parent(({ messages }) =>
      messages.length === 1 ? { call: "look" } : { parts: ["Done."], usage: { input: 5, output: 2 } },
    );
    const told: string[] = [];
    session.toolManager.onNotify(({ name }) => told.push(name));
    await agent({ command: "start", task: "Look" });
    const request = { id: "w", name: "agent", arguments: { command: "result", id: "agent-1", timeout_ms: 60_000 } };
    const shown: string[] = [];
    for await (const event of session.toolManager.stream(request)) {
      if (event.type === "progress") shown.push(event.text ?? "");
      if (event.type === "result") expect(event.result.output).toMatchObject({ answer: "Done.", id: "agent-1" });
    }
    expect(shown[0]).toMatch(/^agent-1: running/);
    expect(told).toContain(AGENT_PROGRESS);
    expect(told.at(-1)).toBe(AGENT_ENDED);
  });

  it("is held before its next step, and goes on when it may", async () => {
    const gate = new Gate();
    const { agent, provider } = await parent(({ messages }) =>
      messages.length === 1 ? [{ wait: gate }, { call: "look" }] : "Done.",
    );
    await agent({ command: "start", task: "Look" });
    await gate.reached;
    expect(await agent({ command: "pause", id: "agent-1" })).toBe("agent-1: paused.");
    gate.open();
    expect(await agent({ command: "result", id: "agent-1", timeout_ms: 60_000 })).toContain('command: "resume"');
    expect(provider.requests).toHaveLength(1);
    expect(await agent({ command: "resume", id: "agent-1" })).toMatch(/^agent-1: running/);
    expect(await agent({ command: "result", id: "agent-1", timeout_ms: 60_000 })).toBe("Done.");
  });

  it("can be stopped, also while it is held, and goes on later in its own conversation", async () => {
    const gate = new Gate();
    const { agent, provider } = await parent((_, index) => (index === 0 ? [{ wait: gate }, "never"] : "As before."));
    await agent({ command: "start", task: "First" });
    await gate.reached;
    await agent({ command: "pause", id: "agent-1" });
    expect(await agent({ command: "start", task: "More", resume: "agent-1" })).toContain("still works");
    expect(await agent({ command: "stop", id: "agent-1" })).toBe("agent-1: stopped.");
    expect(await agent({ command: "stop", id: "agent-1" })).toBe("agent-1: stopped.");
    expect(await agent({ command: "result", id: "agent-1" })).toMatch(/stopped[\s\S]*resume "agent-1"/);
    await agent({ command: "start", task: "More", resume: "agent-1" });
    expect(await agent({ command: "result", id: "agent-1", timeout_ms: 60_000 })).toBe("As before.");
    expect(JSON.stringify(provider.requests.at(-1)?.messages)).toContain("First");
  });

  it("works with tools of its own", async () => {
    const own = new FnTool("own_look", "Looks.", noArguments, async () => "by itself");
    const { agent, provider } = await parent(
      ({ messages }) =>
        messages.length === 1
          ? { call: "shed", arguments: { description: "own_look" } }
          : messages.length === 3
            ? { call: "own_look" }
            : JSON.stringify(messages.at(-1)),
      { tools: [own] },
    );
    await agent({ command: "start", task: "Look" });
    expect(await agent({ command: "result", id: "agent-1", timeout_ms: 60_000 })).toContain("by itself");
    expect(JSON.stringify(provider.requests[1]?.tools.tools)).not.toContain('"agent"');
  });

  it("ends with the session that started it", async () => {
    const gate = new Gate();
    const { agent, session } = await parent(() => [{ wait: gate }, "never"]);
    await agent({ command: "start", task: "Wait" });
    await gate.reached;
    const notified = new Promise<void>((resolve) => {
      session.toolManager.onNotify(({ name }) => name === AGENT_ENDED && resolve());
    });
    await session.end();
    await notified;
  });

  it("makes no more steps than the narrowest setting lets it", async () => {
    const steps = async (tool: number, configured: number | undefined, asked: number | undefined) => {
      const provider = new ScriptedProvider(({ messages }) => ({ call: "look", arguments: { at: messages.length } }));
      const tools = new ToolShed().tools([sessionAgentTool({ maxSteps: tool }), look()]);
      const params = configured === undefined ? {} : { start: { maxSteps: configured } };
      const shed = tools.configure({ tools: [{ id: "agent", params }, { id: "look" }] });
      const session = await AgentSession.builder(provider).withModel("m").withToolshed(shed).build();
      onTestFinished(() => session.end());
      const agent = (args: ToolArguments) =>
        session.toolManager.executeOne({ id: crypto.randomUUID(), name: "agent", arguments: args });
      await agent({ command: "start", task: "Look on and on", ...(asked !== undefined && { max_steps: asked }) });
      const { text } = await agent({ command: "result", id: "agent-1", timeout_ms: 60_000 });
      return Number(/past the limit of (\d+) rounds/.exec(text)?.[1]);
    };
    expect(await steps(3, undefined, undefined)).toBe(3);
    expect(await steps(3, undefined, 2)).toBe(2);
    expect(await steps(3, undefined, 20)).toBe(3);
    expect(await steps(3, 2, undefined)).toBe(2);
    expect(await steps(3, 2, 3)).toBe(2);
    expect(await steps(2, 4, undefined)).toBe(4); // a configuration is the last word
  });

  it("takes what models fill in where they mean nothing for nothing", async () => {
    const { agent } = await parent(() => "Done.");
    const filled = { resume: "null", model: "", system: " none " };
    expect(await agent({ command: "start", task: "Do", ...filled })).toMatch(/^agent-1 has begun/);
    expect(await agent({ command: "result", id: "agent-1", timeout_ms: 60_000 })).toBe("Done.");
    expect(await agent({ command: "start", task: "Do", resume: "none" })).toMatch(/^agent-2 has begun/);
    expect(await agent({ command: "result", id: "agent-2", timeout_ms: 60_000 })).toBe("Done.");
    for (const id of ["", " ", "null"]) expect(await agent({ command: "check", id })).toContain("agent-2: done");
  });

  it("goes on once where two calls at the same time want it to", async () => {
    const gate = new Gate();
    const { agent } = await parent((_, index) => (index === 0 ? "First." : [{ wait: gate }, "Again."]));
    await agent({ command: "start", task: "Do" });
    expect(await agent({ command: "result", id: "agent-1", timeout_ms: 60_000 })).toBe("First.");
    const again = ["More", "More too"].map((task) => agent({ command: "start", task, resume: "agent-1" }));
    const said = await Promise.all(again);
    expect(said.filter((text) => text.startsWith("agent-1 has begun"))).toHaveLength(1);
    expect(said.filter((text) => text.includes("still works"))).toHaveLength(1);
    gate.open();
    expect(await agent({ command: "result", id: "agent-1", timeout_ms: 60_000 })).toBe("Again.");
    await agent({ command: "start", task: "And more", resume: "agent-1" }); // what was refused holds nothing up
    expect(await agent({ command: "result", id: "agent-1", timeout_ms: 60_000 })).toBe("Again.");
  });

  it("tells a model what it can do about ids, empty tasks, and what the session does not start", async () => {
    const { agent } = await parent(
      () => "Done.",
      {},
      (builder) => builder.withChildren({ maxDepth: 0 }),
    );
    expect(await agent({ command: "check" })).toBe("No sub-agent was started.");
    expect(await agent({ command: "result", id: "x" })).toBe('There is no sub-agent "x". None was started.');
    expect(await agent({ command: "start", task: "  " })).toBe("task is empty.");
    expect(await agent({ command: "start", task: "Do" })).toContain("This session starts no sub-agents");
    expect(await agent({ command: "start", task: "Do", resume: "agent-7" })).toContain('no sub-agent "agent-7"');
  });

  it("is not started by a call that was cancelled meanwhile", async () => {
    const { run, agent } = await parent(() => "Done.");
    const cancel = new AbortController();
    const started = run("agent", { command: "start", task: "Do" }, cancel.signal);
    cancel.abort(new Error("not any more"));
    await expect(started).rejects.toThrow();
    expect(await agent({ command: "check" })).toBe("No sub-agent was started.");
  });

  it("tells once, after any call, that a sub-agent has ended", async () => {
    const { run, agent, session } = await parent(() => "Done.");
    const ended = new Promise<void>((resolve) => {
      session.toolManager.onNotify(({ name }) => name === AGENT_ENDED && resolve());
    });
    await agent({ command: "start", task: "Do" });
    await ended;
    const said = (text: string) => text.includes("agent-1 is done");
    const first = await promptOf(session, "look");
    expect(said(first)).toBe(true);
    expect(said(await promptOf(session, "look"))).toBe(false);
    expect((await run("agent", { command: "result", id: "agent-1" })).text).toBe("Done.");
  });

  it("works with the model that it was given, unless the call names another", async () => {
    const { agent, provider, session } = await parent(() => "Done.", { model: "small" });
    expect(JSON.stringify(session.toolManager.getDef("agent"))).toContain("A model's name. Default: small.");
    await agent({ command: "start", task: "Do" });
    expect(await agent({ command: "result", id: "agent-1", timeout_ms: 60_000 })).toBe("Done.");
    await agent({ command: "start", task: "Do", model: "large" });
    expect(await agent({ command: "result", id: "agent-2", timeout_ms: 60_000 })).toBe("Done.");
    expect(provider.requests.map(({ model }) => model.name)).toEqual(["small", "large"]);
  });

  it("says how any of them ended, also when many others ended since", async () => {
    const failure = new AgenticError("generation", "It is refused.", { kind: "badRequest", provider: "p", model: "m" });
    const { agent } = await parent(({ messages }) => {
      const asked = said(messages.at(-1));
      return asked === "task 2" ? [{ fail: failure }] : `Answer to ${asked}.`;
    });
    const many = 35;
    const before: string[] = [];
    for (let n = 1; n <= many; n++) {
      await agent({ command: "start", task: `task ${n}` });
      before.push(await agent({ command: "result", id: `agent-${n}`, timeout_ms: 60_000 }));
    }
    expect(before[0]).toBe("Answer to task 1.");
    expect(before[1]).toMatch(/failed: It is refused[\s\S]*resume "agent-2"/);
    expect(await agent({ command: "check", id: "agent-1" })).toBe("agent-1: ended earlier (task 1)");
    for (let n = 1; n <= many; n++) expect(await agent({ command: "result", id: `agent-${n}` })).toBe(before[n - 1]);
  });

  it("says that there is no answer where none is held and no log has one", async () => {
    const start = async (): Promise<ChildAgent> => ({
      id: crypto.randomUUID(),
      status: () => ({ type: "done", summary: "Done." }),
      watch: () => () => undefined,
      pause: () => undefined,
      resume: () => undefined,
      stop: async () => undefined,
      result: async () => "Done.",
    });
    for (const spawner of [{ start }, { start, ended: async () => undefined }]) {
      const resources = new Resources();
      onTestFinished(() => resources.dispose());
      const parts = { sessionId: newSessionId(), resources } as never;
      const manager = await new ToolShed().tool(agentTool(spawner)).build(parts);
      const agent = async (args: ToolArguments) =>
        (await manager.executeOne({ id: crypto.randomUUID(), name: "agent", arguments: args })).text;
      manager.activate(["agent"]);
      for (let n = 1; n <= 34; n++) {
        await agent({ command: "start", task: "Do" });
        expect(await agent({ command: "result", id: `agent-${n}`, timeout_ms: 60_000 })).toBe("Done.");
      }
      const text = await agent({ command: "result", id: "agent-1" });
      expect(text).toMatch(/^agent-1 does not work any more, and there is no answer.*resume "agent-1"/);
    }
  });

  it("is known after a restart with its answer, and goes on", async () => {
    const steps = [
      { call: "agent", arguments: { command: "start", task: "Begin" } },
      { call: "agent", arguments: { command: "result", id: "agent-1", timeout_ms: 60_000 } },
    ];
    const provider = new ScriptedProvider(({ messages }) => {
      if (said(messages[0]) === "Delegate it") return steps.shift() ?? "Good.";
      return said(messages.at(-1)) === "Go on" && said(messages[0]) === "Begin" ? "All done." : "Half done.";
    });
    const shed = () => new ToolShed().tool(sessionAgentTool()).pin("agent");
    const session = await AgentSession.builder(provider).withModel("m").withToolshed(shed()).build();
    await session.runTurn("Delegate it");
    await session.end();
    const again = await AgentSession.builder(provider)
      .withModel("m")
      .withDocStore(session.docStore)
      .withToolshed(shed())
      .resume(session.sessionId)
      .build();
    onTestFinished(() => again.end());
    const agent = async (args: ToolArguments) =>
      (await again.toolManager.executeOne({ id: JSON.stringify(args), name: "agent", arguments: args })).text;
    expect(await agent({ command: "check" })).toContain("agent-1: ended earlier");
    expect(await agent({ command: "result", id: "agent-1" })).toBe("Half done.");
    expect(await agent({ command: "stop", id: "agent-1" })).toContain('resume "agent-1"');
    await agent({ command: "start", task: "Go on", resume: "agent-1" });
    expect(await agent({ command: "result", id: "agent-1", timeout_ms: 60_000 })).toBe("All done.");
  });

  it("speaks of itself by the names that the client gave", async () => {
    const shed = new ToolShed()
      .tool(sessionAgentTool())
      .configure({ tools: [{ id: "agent", nameOverride: "helper", paramsNameOverrides: { timeout_ms: "wait" } }] });
    const session = await AgentSession.builder(new ScriptedProvider([])).withModel("m").withToolshed(shed).build();
    onTestFinished(() => session.end());
    const started = await session.toolManager.executeOne({
      ...{ id: "1", name: "helper" },
      arguments: { command: "start", task: "Do" },
    });
    expect(started.text).toContain('helper { command: "result"');
  });

  it("is no constructor for a session that cannot start any", () => {
    const parts = { resources: new Resources() } as never;
    expect(() => sessionAgentTool().construct(parts)).toThrow(/Leave the agent tool out/);
  });
});

/** The text that the model reads after a call, reminders included. */
async function promptOf(session: AgentSession, name: string): Promise<string> {
  const workflow = session.toolManager.buildWorkflow([{ id: crypto.randomUUID(), name, arguments: {} }]);
  let text = "";
  for await (const outcome of session.toolManager.runWorkflow(workflow)) text += textOfContent(outcome.content);
  return text;
}
