import { type ModelPreset, ProviderRouter, Secret } from "@shedkit/provider";
import { ToolShed } from "@shedkit/shed";
import { ScriptedProvider } from "@shedkit/testing";
import type { SessionId } from "@shedkit/types";
import { describe, expect, it } from "vitest";
import { AgentSession } from "../src/index.js";
import { checkValid, collect, echoTool, hangingTool, sessionOf, transcript } from "./helpers.js";

describe("fork", () => {
  it("goes on from here without changing the session it came from", async () => {
    const provider = new ScriptedProvider(["One.", "Two.", "Three."]);
    const session = await sessionOf(provider, echoTool()).withSystemPrompt("Be kind.").build();
    await session.ask("1");
    const fork = await session.fork();
    expect(fork.sessionId).not.toBe(session.sessionId);
    await fork.ask("2");
    await session.ask("3");
    expect(transcript(await collect(fork.messages()))).toEqual(["user: 1", "text: One.", "user: 2", "text: Two."]);
    expect(transcript(await collect(session.messages()))).toEqual(["user: 1", "text: One.", "user: 3", "text: Three."]);
    expect(provider.requests[1]).toMatchObject({ system: "Be kind." });
    const infos = (await session.docStore.sessions()).items;
    expect(infos.find((info) => info.id === fork.sessionId)?.parent).toMatchObject({ session: session.sessionId });
  });

  it("goes on from a record, with the tools that were active there", async () => {
    const provider = new ScriptedProvider([{ call: "shed", arguments: { description: "echo" } }, "Found.", "Two."]);
    const session = await sessionOf(provider).withToolshed(new ToolShed().tool(echoTool())).build();
    const turn = await session.runTurn("1");
    const early = await session.fork(turn.at(0)?.id ?? "");
    expect(early.toolManager.isActive("echo")).toBe(false);
    const late = await session.fork(turn.at(-1)?.id ?? "");
    expect(late.toolManager.isActive("echo")).toBe(true);
    await expect(session.fork("no such record")).rejects.toMatchObject({ code: "session" });
  });

  it("of a session in mid-turn is a valid conversation", async () => {
    const hanging = hangingTool();
    const provider = new ScriptedProvider([{ call: "hang" }, "Forked.", "Stopped."]);
    const session = await sessionOf(provider, hanging.tool).build();
    const running = session.runTurn("Hi");
    await hanging.started;
    const fork = await session.fork();
    expect((await fork.ask("Go on")).text).toBe("Forked.");
    checkValid(provider.requests[1]?.messages ?? []);
    session.abort();
    expect((await running).toolResults()).toHaveLength(1);
  });

  it("that its user may not have leaves no copy behind", async () => {
    let own: string | undefined;
    const session = await sessionOf(new ScriptedProvider(["One."]))
      .withAccess({
        canAccessSession: async (_, id) => {
          own ??= id;
          return id === own;
        },
        canUseModel: async () => true,
        canUseTool: async () => true,
        canSpend: async () => true,
        recordUsage: async () => undefined,
        tokenBudget: async () => undefined,
      })
      .build();
    await session.ask("1");
    await expect(session.fork()).rejects.toMatchObject({ code: "session", details: { reason: "access denied" } });
    expect((await session.docStore.sessions()).items.map(({ id }) => id)).toEqual([session.sessionId]);
  });

  it("shares the models that a preset loaded; the last one closes them", async () => {
    const provider = new ScriptedProvider(["One.", "Two."]);
    let loads = 0;
    const preset: ModelPreset = {
      models: { primary: "m" },
      load: async () => {
        loads++;
        return ProviderRouter.single(provider);
      },
    };
    const session = await AgentSession.builder(preset).build();
    await session.ask("1");
    const fork = await session.fork();
    await session.end();
    expect(provider.closed).toBe(false);
    await fork.ask("2");
    await fork.end();
    expect(loads).toBe(1);
    expect(provider.closed).toBe(true);
  });
});

describe("export", () => {
  const key = `sk-${"a1".repeat(12)}`;

  it("as JSON lines has every record, with secrets masked", async () => {
    const provider = new ScriptedProvider([
      { call: "echo", arguments: { text: `hunter2 and ${key}`, hunter2: "x" } },
      "The password is hunter2.",
    ]);
    const session = await sessionOf(provider, echoTool()).build();
    const turn = await session.runTurn("Say hunter2");
    const lines = (await collect(session.export({ format: "jsonl", secrets: ["hunter2"] })))
      .join("")
      .trimEnd()
      .split("\n");
    expect(lines).toHaveLength(turn.length);
    const text = lines.join("\n");
    expect(text).not.toContain("hunter2");
    expect(text).not.toContain(key);
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({
      type: "conversation",
      message: { content: [{ text: "Say [secret]" }] },
    });
  });

  it("as Markdown can be read, whatever the texts have in them", async () => {
    const provider = new ScriptedProvider([{ call: "echo", arguments: { text: "```\n# no heading\n```" } }, "Done."]);
    const session = await sessionOf(provider, echoTool()).build();
    await session.ask("Hi");
    const text = (await collect(session.export({ format: "markdown" }))).join("");
    expect(text).toContain(`# Session ${session.sessionId}`);
    expect(text).toContain("## User\n\nHi");
    expect(text).toContain("**Call echo**");
    expect(text).toContain("````\necho: ```\n# no heading\n```\n````");
    expect(text).toContain("## Assistant\n\nDone.");
  });

  it("masks a secret however it is written: quoted, over several lines, in arguments that are no JSON", async () => {
    const secret = 'pa"ss\\wo\nrd';
    const provider = new ScriptedProvider([
      [{ thinking: `They said ${secret}.` }, { call: "echo", arguments: { text: secret } }],
      { call: "echo", raw: `{"text":${JSON.stringify(secret)}` },
      "Done.",
    ]);
    const session = await sessionOf(provider, echoTool()).build();
    await session.ask(secret);
    for (const format of ["jsonl", "markdown"] as const) {
      const text = (await collect(session.export({ format, secrets: [new Secret(secret)] }))).join("");
      expect(text).not.toMatch(/pa.{0,3}ss/);
      expect(text.match(/\[secret\]/g)?.length).toBeGreaterThanOrEqual(4);
    }
  });

  it("of a session with nothing in it is empty", async () => {
    const session = await sessionOf(new ScriptedProvider([]))
      .withSessionId("empty" as SessionId)
      .build();
    expect(await collect(session.export({ format: "jsonl" }))).toEqual([]);
  });
});
