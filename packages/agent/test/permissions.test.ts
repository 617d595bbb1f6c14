import { ToolShed } from "@shedkit/shed";
import { MemoryDocumentStore } from "@shedkit/store";
import { ScriptedProvider } from "@shedkit/testing";
import { type AccessRequest, FnTool, metadataOf, ToolCallResult, type ToolImpl } from "@shedkit/tool";
import type { ApprovalDecision } from "@shedkit/types";
import { describe, expect, it } from "vitest";
import { AgentSession, type PermissionPolicy, type PermissionRequest, type TurnEvent } from "../src/index.js";
import { checkValid, collect, echoTool, sessionOf, transcript } from "./helpers.js";

function policy(decide: (call: PermissionRequest) => "allow" | "ask" | { deny: string }): PermissionPolicy {
  return { decide: async (call) => decide(call) };
}

const ask = policy(() => "ask");

/** `echo`, which says that it writes the file named by its text. */
function writer(ran: string[] = []): ToolImpl {
  const echo = echoTool();
  return {
    definition: () => echo.definition(),
    metadata: {
      ...metadataOf(echo),
      access: (args): AccessRequest[] => [{ action: "write", target: String(args.text) }],
    },
    execute: (args, ctx) => {
      ran.push(String(args.text));
      return echo.execute(args, ctx);
    },
  };
}

const calls = (...texts: string[]) => texts.map((text) => ({ call: "echo", arguments: { text } }));

describe("permissions", () => {
  it("are decided for every call, from its kind, arguments and access; `shed` is not asked about", async () => {
    const seen: PermissionRequest[] = [];
    const provider = new ScriptedProvider([
      [{ call: "shed", arguments: { description: "echo" } }, ...calls("a.txt", "b.txt")],
      "Done.",
    ]);
    const session = await sessionOf(provider, writer())
      .withPermissions(
        policy((call) => {
          seen.push(call);
          return call.arguments.text === "b.txt" ? { deny: "not that file" } : "allow";
        }),
      )
      .build();
    const turn = await session.runTurn("Hi");
    expect(seen).toMatchObject([
      { tool: "echo", kind: "other", arguments: { text: "a.txt" }, access: [{ action: "write", target: "a.txt" }] },
      { arguments: { text: "b.txt" } },
    ]);
    expect(transcript(await collect(session.messages())).filter((line) => line.startsWith("echo ->"))).toEqual([
      "echo -> echo: a.txt",
      expect.stringContaining("not that file"),
    ]);
    expect(turn.failure).toBeUndefined();
  });

  it.each([
    [
      "throws",
      () => {
        throw new Error("no such path");
      },
    ],
    ["gives no list", () => "all" as never],
  ])("of a tool that cannot say what it accesses are denied, for that call alone: it %s", async (_, access) => {
    const ran: string[] = [];
    const faulty: ToolImpl = { ...writer(ran), metadata: { ...metadataOf(writer()), access } };
    const good = new FnTool("good", "Does good.", { type: "object" }, async () => "good");
    const provider = new ScriptedProvider([[...calls("a"), { call: "good" }], "Done."]);
    const session = await sessionOf(provider, faulty, good)
      .withPermissions(policy(() => "allow"))
      .build();
    const turn = await session.runTurn("Hi");
    expect(turn.failure).toBeUndefined();
    expect(turn.text).toBe("Done.");
    expect(turn.toolResults().map(({ errorDetail }) => errorDetail)).toEqual(["permissionDenied", undefined]);
    expect(ran).toEqual([]);
  });

  it("that cannot be decided are denied", async () => {
    const ran: string[] = [];
    const provider = new ScriptedProvider([calls("a.txt"), "Done."]);
    const session = await sessionOf(provider, writer(ran))
      .withPermissions({ decide: () => Promise.reject(new Error("the policy is broken")) })
      .build();
    const turn = await session.runTurn("Hi");
    expect(ran).toEqual([]);
    expect(turn.toolResults()[0]?.content).toMatchObject([{ text: expect.stringContaining("the policy is broken") }]);
  });

  it("that ask suspend the call until approve, and tell what it would do", async () => {
    const ran: string[] = [];
    const provider = new ScriptedProvider([calls("a.txt"), "Done."]);
    const session = await sessionOf(provider, writer(ran)).withPermissions(ask).build();
    const events: TurnEvent[] = [];
    for await (const event of session.runTurnStream("Hi").events()) {
      events.push(event);
      if (event.type !== "approvalRequested") continue;
      expect(event).toMatchObject({ name: "echo", arguments: { text: "a.txt" }, access: [{ target: "a.txt" }] });
      expect(ran).toEqual([]);
      expect(session.pendingApprovals()).toEqual([event.approvalId]);
      await session.approve(event.approvalId, { type: "allow", scope: "once" });
      expect(session.pendingApprovals()).toEqual([]);
      await expect(session.approve(event.approvalId, { type: "allow", scope: "once" })).rejects.toThrow(
        /decided|no such/,
      );
    }
    expect(ran).toEqual(["a.txt"]);
    expect(events.at(-1)?.type).toBe("done");
    await expect(session.approve("nothing", { type: "deny" })).rejects.toMatchObject({ code: "session" });
  });

  it("are decided once: of two answers at the same time one counts, and the other is told so", async () => {
    const ran: string[] = [];
    const session = await sessionOf(new ScriptedProvider([calls("a.txt"), "Done."]), writer(ran))
      .withPermissions(ask)
      .build();
    const answers: Promise<PromiseSettledResult<void>[]>[] = [];
    const stream = session.runTurnStream("Hi");
    for await (const event of stream.events()) {
      if (event.type !== "approvalRequested") continue;
      const answer = (decision: ApprovalDecision) => session.approve(event.approvalId, decision);
      answers.push(Promise.allSettled([answer({ type: "allow", scope: "once" }), answer({ type: "deny" })]));
    }
    const [first, second] = (await answers[0]) ?? [];
    expect(first?.status).toBe("fulfilled");
    expect(second).toMatchObject({ status: "rejected", reason: { code: "session" } });
    const decided = (await stream.done()).records.filter((record) => record.type === "approvalDecided");
    expect(decided).toMatchObject([{ decision: { type: "allow" } }]);
    expect(ran).toEqual(["a.txt"]);
  });

  it("let nothing run for what is neither a yes nor a no", async () => {
    const ran: string[] = [];
    const session = await sessionOf(new ScriptedProvider([calls("a.txt"), "Done."]), writer(ran))
      .withPermissions(ask)
      .build();
    const stream = session.runTurnStream("Hi");
    for await (const event of stream.events()) {
      if (event.type !== "approvalRequested") continue;
      for (const wrong of [
        { type: "denied" },
        { type: "allow" },
        { type: "allow", scope: "ever" },
        "deny",
        undefined,
      ]) {
        await expect(session.approve(event.approvalId, wrong as never)).rejects.toMatchObject({
          ...{ code: "session", details: { reason: "unknown decision" } },
        });
      }
      expect(session.pendingApprovals()).toEqual([event.approvalId]);
      await session.approve(event.approvalId, { type: "deny" });
    }
    expect(ran).toEqual([]);
    expect((await stream.done()).text).toBe("Done.");
  });

  it("give the model the reason of a no", async () => {
    const provider = new ScriptedProvider([calls("a.txt"), "Done."]);
    const session = await sessionOf(provider, writer()).withPermissions(ask).build();
    for await (const event of session.runTurnStream("Hi").events()) {
      if (event.type === "approvalRequested") {
        await session.approve(event.approvalId, { type: "deny", reason: "keep out" });
      }
    }
    expect(transcript(provider.requests[1]?.messages ?? []).at(-1)).toContain("keep out");
  });

  it("given for the session hold for what the pattern names, also after a resume", async () => {
    const docStore = new MemoryDocumentStore();
    const provider = new ScriptedProvider([
      calls("src/a.txt"),
      "1.",
      calls("src/b.txt"),
      "2.",
      calls("etc/c.txt"),
      "3.",
    ]);
    const asked: string[] = [];
    const build = () =>
      sessionOf(provider, writer()).withDocStore(docStore).withSessionId("s").withPermissions(ask).build();
    for (let turn = 0; turn < 3; turn++) {
      const session = await build();
      for await (const event of session.runTurnStream("Hi").events()) {
        if (event.type !== "approvalRequested") continue;
        asked.push(event.access[0]?.target ?? "");
        await session.approve(event.approvalId, { type: "allow", scope: "session", pattern: "src/*" });
      }
      await session.end();
    }
    expect(asked).toEqual(["src/a.txt", "etc/c.txt"]);
  });

  it("are asked for the calls that a running tool makes of others, under their own names", async () => {
    const ran: string[] = [];
    const relay: ToolImpl = {
      definition: () => new FnTool("relay", "Passes it on.", { type: "object" }, async () => "").definition(),
      execute: async (_, ctx) => (await ctx.dispatch?.("echo", { text: "a.txt" })) ?? ToolCallResult.text("none"),
    };
    const provider = new ScriptedProvider([
      [{ call: "relay" }],
      "1.",
      [{ call: "relay" }],
      "2.",
      [{ call: "relay" }],
      "3.",
    ]);
    const session = await sessionOf(provider, writer(ran), relay)
      .withPermissions(policy(({ tool }) => (tool === "relay" ? "allow" : "ask")))
      .build();
    const decisions: ApprovalDecision[] = [
      { type: "deny", reason: "keep out" },
      { type: "allow", scope: "session" },
    ];
    const asked: unknown[] = [];
    for (let turn = 0; turn < 3; turn++) {
      const stream = session.runTurnStream("Hi");
      let outer = "";
      for await (const event of stream.events()) {
        if (event.type === "toolCall") outer = event.id;
        if (event.type !== "approvalRequested") continue;
        expect(event.toolCallId).toBe(outer);
        expect(session.pendingApprovals()).toEqual([event.approvalId]);
        asked.push([event.name, event.arguments, event.access]);
        await session.approve(event.approvalId, decisions.shift() ?? { type: "deny" });
      }
      expect((await stream.done()).failure).toBeUndefined();
    }
    expect(asked).toEqual(Array(2).fill(["echo", { text: "a.txt" }, [{ action: "write", target: "a.txt" }]]));
    expect(ran).toEqual(["a.txt", "a.txt"]);
    expect(transcript(await collect(session.messages())).filter((line) => line.startsWith("relay ->"))).toEqual([
      expect.stringContaining("keep out"),
      "relay -> echo: a.txt",
      "relay -> echo: a.txt",
    ]);
  });

  it("that a tool waits for end with the session, and are not asked for again after a resume", async () => {
    const ran: string[] = [];
    const relay: ToolImpl = {
      definition: () => new FnTool("relay", "Passes it on.", { type: "object" }, async () => "").definition(),
      execute: async (_, ctx) => (await ctx.dispatch?.("echo", { text: "a.txt" })) ?? ToolCallResult.text("none"),
    };
    const provider = new ScriptedProvider([[{ call: "relay" }], "Done."]);
    const builder = sessionOf(provider, writer(ran), relay)
      .withSessionId("s")
      .withPermissions(policy(({ tool }) => (tool === "relay" ? "allow" : "ask")));
    const session = await builder.build();
    for await (const event of session.runTurnStream("Hi").events())
      if (event.type === "approvalRequested") void session.end();
    await session.end();
    const again = await builder.resume("s").build();
    expect(again.pendingApprovals()).toEqual([]);
    await again.ask("Go on");
    checkValid(provider.requests.at(-1)?.messages ?? []);
    expect(ran).toEqual([]);
    await again.end();
  });

  it("know a tool by the kind that the configuration gives it", async () => {
    const kinds: string[] = [];
    const provider = new ScriptedProvider([calls("a.txt"), "Done."]);
    const session = await AgentSession.builder(provider)
      .withModel("m")
      .withToolshed(
        new ToolShed()
          .tool(writer())
          .configure({ tools: [{ id: "echo", kind: "edit" }] })
          .pin("echo"),
      )
      .withPermissions(
        policy(({ kind }) => {
          kinds.push(kind);
          return "allow";
        }),
      )
      .build();
    await session.runTurn("Hi");
    expect(kinds).toEqual(["edit"]);
  });

  it("are let go by abort and by steering, with a result for each call", async () => {
    for (const interrupt of ["abort", "steer"] as const) {
      const provider = new ScriptedProvider([calls("a.txt", "b.txt"), "Done.", "Again."]);
      const session = await sessionOf(provider, writer()).withPermissions(ask).build();
      const stream = session.runTurnStream("Hi");
      for await (const event of stream.events()) {
        if (event.type !== "approvalRequested") continue;
        if (interrupt === "abort") session.abort();
        else session.steer("Do something else");
      }
      expect((await stream.done()).toolResults()).toHaveLength(2);
      expect(session.pendingApprovals()).toEqual([]);
      await session.ask("Go on");
      checkValid(provider.requests.at(-1)?.messages ?? []);
    }
  });
});

describe("a call that waits for leave while the session ends", () => {
  async function suspended() {
    const ran: string[] = [];
    const provider = new ScriptedProvider([calls("a.txt", "b.txt"), "Done.", "And that."]);
    const builder = sessionOf(provider, writer(ran))
      .withSessionId("s")
      .withPermissions(policy((call) => (call.arguments.text === "a.txt" ? "ask" : "allow")));
    const session = await builder.build();
    for await (const event of session.runTurnStream("Hi").events())
      if (event.type === "approvalRequested") void session.end();
    await session.end();
    return { again: await builder.resume("s").build(), provider, ran };
  }

  it("waits on in the log, and runs once leave is given after the resume", async () => {
    const { again, provider, ran } = await suspended();
    expect(ran).toEqual([]);
    const [approval = ""] = again.pendingApprovals();
    const events = again.subscribe();
    await again.approve(approval, { type: "allow", scope: "once" });
    for await (const event of events) if (event.type === "done") break;
    expect(ran).toEqual(["a.txt", "b.txt"]);
    const sent = provider.requests[1]?.messages ?? [];
    checkValid(sent);
    expect(transcript(sent)).toEqual([
      "user: Hi",
      "call echo",
      "call echo",
      "echo -> echo: a.txt",
      "echo -> echo: b.txt",
    ]);
  });

  it("keeps its place in a batch that the model ordered", async () => {
    const ran: string[] = [];
    const batch = [{ text: "a" }, { text: "b", _after: [0] }, { text: "c", _after: [1] }];
    const provider = new ScriptedProvider([batch.map((args) => ({ call: "echo", arguments: args })), "Done."]);
    const builder = AgentSession.builder(provider)
      .withModel("m")
      .withSessionId("s")
      .withToolshed(new ToolShed().tool(writer(ran)).pin("echo").ordering())
      .withPermissions(policy((call) => (call.arguments.text === "b" ? "ask" : "allow")));
    const session = await builder.build();
    for await (const event of session.runTurnStream("Hi").events())
      if (event.type === "approvalRequested") void session.end();
    await session.end();
    expect(ran).toEqual(["a"]);
    const again = await builder.resume("s").build();
    const [approval = ""] = again.pendingApprovals();
    const events = again.subscribe();
    await again.approve(approval, { type: "allow", scope: "once" });
    for await (const event of events) if (event.type === "done") break;
    expect(ran).toEqual(["a", "b", "c"]);
    await again.end();
  });

  it("is asked about again by the next turn, whose prompt comes behind it", async () => {
    const { again, provider, ran } = await suspended();
    const stream = again.runTurnStream("More");
    for await (const event of stream.events()) {
      if (event.type === "approvalRequested") await again.approve(event.approvalId, { type: "deny", reason: "no" });
    }
    expect((await stream.done()).text).toBe("Done.And that.");
    expect(ran).toEqual(["b.txt"]);
    expect(transcript(provider.requests[2]?.messages ?? []).slice(-2)).toEqual(["text: Done.", "user: More"]);
  });
});
