import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { AgentSession } from "@shedkit/agent";
import { MemoryFileSystem } from "@shedkit/fs/memory";
import { ToolShed, ToolShedError } from "@shedkit/shed";
import { ScriptedProvider } from "@shedkit/testing";
import type { ToolConstructor } from "@shedkit/tool";
import { fileNotes } from "@shedkit/tools-memory";
import { Schedules } from "@shedkit/tools-task";
import { searxng } from "@shedkit/tools-web";
import { type Message, newSessionId, type ToolArguments, textOfContent } from "@shedkit/types";
import { describe, expect, it, onTestFinished } from "vitest";
import { ToolPreset } from "../src/index.js";

const names = (preset: Iterable<ToolConstructor>) => [...preset].map((tool) => tool.name);
const fs = () =>
  new MemoryFileSystem({
    "a.txt": "from a\n",
    "notes/tea.md": "Likes tea.",
    "skills/deploy/SKILL.md": "---\nname: deploy\ndescription: How to deploy.\n---\nCarefully.\n",
  });

const schedules = new Schedules({ due: () => undefined });
const ready: readonly [ToolPreset, string[]][] = [
  [ToolPreset.notes(fileNotes(fs(), { folder: "notes" })), ["memory_search", "memory_get"]],
  [ToolPreset.todo(), ["todo"]],
  [ToolPreset.askUser(), ["ask_user"]],
  [ToolPreset.background(), ["wait", "monitor"]],
  [ToolPreset.schedule(schedules), ["schedule"]],
  [ToolPreset.webFetch(), ["web_fetch"]],
  [ToolPreset.webSearch(searxng({ baseUrl: "http://localhost" })), ["web_search"]],
  [ToolPreset.skills([{ name: "project", fs: fs(), folder: "skills" }]), ["skill"]],
];

describe("presets of more tools", () => {
  it("name their tools, and make them without a session", async () => {
    for (const [preset, expected] of ready) {
      expect(names(preset)).toEqual(expected);
      expect((await preset.asChildTools()).map((tool) => tool.metadata?.id)).toEqual(expected);
    }
  });

  it("need a session for sub-agents and plans", async () => {
    for (const preset of [ToolPreset.agent(), ToolPreset.planMode()]) {
      await expect(preset.asChildTools()).rejects.toBeInstanceOf(ToolShedError);
    }
    expect(names(ToolPreset.agent())).toEqual(["agent"]);
    expect(names(ToolPreset.planMode({ planFile: "plan.md" }))).toEqual(["enter_plan", "exit_plan"]);
  });

  it("work: skills, notes, schedules", async () => {
    const all = ready.reduce((merged, [preset]) => merged.merge(preset), ToolPreset.fromConstructors([]));
    const manager = await all.intoManager(newSessionId());
    const said = async (name: string, args: ToolArguments) =>
      (await manager.executeOne({ id: `${name} ${JSON.stringify(args)}`, name, arguments: args })).text;
    expect(await said("skill", { name: "deploy" })).toBe("Carefully.");
    expect(await said("memory_search", { query: "tea" })).toContain("tea.md:1-1");
    expect(await said("schedule", { command: "create", prompt: "x", every: "1h" })).toContain("schedule-1");
    expect(await schedules.list()).toHaveLength(1);
    expect(await said("wait", {})).toBe("Nothing runs in the background.");
  });

  it("read PDFs of the web, show what else there is as files, and keep to the sites that are named", async () => {
    const page = "BT /F1 12 Tf 72 720 Td (Hello from a PDF) Tj ET";
    const pdf = `%PDF-1.4
1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj
2 0 obj << /Type /Pages /Kids [4 0 R] /Count 1 >> endobj
3 0 obj << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> endobj
4 0 obj << /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> /Contents 5 0 R >> endobj
5 0 obj << /Length ${page.length} >> stream
${page}
endstream endobj
trailer << /Size 6 /Root 1 0 R >>
%%EOF`;
    const http = createServer((request, response) => {
      response.writeHead(200, { "content-type": "application/pdf" }).end(request.url === "/bad" ? "%PDF-1.4" : pdf);
    });
    await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void http.close().closeAllConnections());
    const url = `http://localhost:${(http.address() as AddressInfo).port}`;
    const place = fs();
    const settings = { allowLocal: true, documents: true, fs: place, allowedDomains: ["localhost"] };
    const manager = await ToolPreset.webFetch(settings).intoManager(newSessionId());
    const fetch = async (to: string) =>
      (await manager.executeOne({ id: to, name: "web_fetch", arguments: { url: to } })).text;
    expect(await fetch(url)).toBe(`${url}/\n\n[Page 1 of 1]\nHello from a PDF`);
    expect(await fetch(`${url}/bad`)).toContain("damaged or broken off");
    expect(new TextDecoder().decode(await place.readFile("downloads/bad.pdf"))).toBe("%PDF-1.4");
    await expect(fetch("https://example.com/")).rejects.toThrow("not among the sites that may be read here: localhost");
  });

  it("give sub-agents their own tools, those of a session too, and let the parent wait for them", async () => {
    const said = (message: Message | undefined) =>
      message?.type === "user" || message?.type === "toolResult" ? textOfContent(message.content) : "";
    const parent = [
      { call: "agent", arguments: { command: "start", task: "Read a.txt" } },
      { call: "wait", arguments: { timeout_ms: 60_000 } },
      { call: "agent", arguments: { command: "result", id: "agent-1" } },
    ];
    const child = [
      { call: "shed", arguments: { description: "read a file" } },
      { call: "read", arguments: { path: "a.txt" } },
      { call: "shed", arguments: { description: "memory" } },
      { call: "memory", arguments: { command: "add", fact: "It says from a." } },
      "All read.",
    ];
    const provider = new ScriptedProvider(({ messages }) => {
      const steps = said(messages[0]) === "Go" ? parent : child;
      return steps.shift() ?? "Done.";
    });
    const childTools = ToolPreset.files(fs()).merge(ToolPreset.sessionMemory());
    const shed = new ToolShed().tools(ToolPreset.agent({ childTools })).tools(ToolPreset.background());
    const session = await AgentSession.builder(provider)
      .withModel("m")
      .withToolshed(shed.pin(...shed.names()))
      .build();
    onTestFinished(() => session.end());
    const turn = await session.runTurn("Go");
    expect(turn.failure).toBeUndefined();
    expect(turn.toolResults().map(({ content }) => textOfContent(content).split("\n")[0])).toEqual([
      "agent-1 has begun.",
      "agent-1 (Read a.txt): done",
      "All read.",
    ]);
    const asked = provider.requests.find(({ messages }) => said(messages[0]) === "Read a.txt");
    expect(asked?.tools.tools).toEqual([]); // it looks up its own
    expect(provider.requests.flatMap(({ messages }) => messages.map(said))).toContainEqual(
      expect.stringContaining("from a"),
    );
  });
});
