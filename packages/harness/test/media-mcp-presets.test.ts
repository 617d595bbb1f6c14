import { AgentSession } from "@shedkit/agent";
import { MemoryFileSystem } from "@shedkit/fs/memory";
import { ToolShed } from "@shedkit/shed";
import { type ScriptedAnswer, ScriptedProvider } from "@shedkit/testing";
import { FnTool } from "@shedkit/tool";
import { McpServers, parseMcpServers } from "@shedkit/tools-mcp";
import { serveShed } from "@shedkit/tools-mcp/server";
import { listenHttp } from "@shedkit/tools-mcp/server/node";
import { newSessionId, textOfContent } from "@shedkit/types";
import { describe, expect, it, onTestFinished } from "vitest";
import { type ImageMaker, ToolPreset, type VideoMaker } from "../src/index.js";

const PNG = new Uint8Array(
  Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "base64",
  ),
);
const images: ImageMaker = { host: "images.test", generate: async () => [{ data: PNG, mediaType: "image/png" }] };
const videos: VideoMaker = {
  host: "videos.test",
  start: async () => ({ id: "v", status: "queued" }),
  poll: async (id) => ({ id, status: "done" }),
  cancel: async () => undefined,
  download: async () => ({ data: new Uint8Array([1]), mediaType: "video/mp4" }),
};

async function sessionOf(shed: ToolShed, answers: ScriptedAnswer[]) {
  const provider = new ScriptedProvider([...answers, "Done."]);
  const session = await AgentSession.builder(provider).withModel("m").withToolshed(shed).build();
  onTestFinished(() => session.end());
  return { session, provider };
}

describe("ToolPreset.media", () => {
  const names = (options: Parameters<typeof ToolPreset.media>[1]) =>
    new ToolShed().tools(ToolPreset.media(new MemoryFileSystem(), options)).names();

  it("has each tool only where its client is", () => {
    expect(names({})).toEqual([]);
    expect(names({ images })).toEqual(["image_gen"]);
    expect(names({ videos })).toEqual(["video"]);
    expect(names({ images, videos })).toEqual(["image_gen", "video"]);
  });

  it("lets a session make images, which the model sees, and videos, which it knows after a restart too", async () => {
    const fs = new MemoryFileSystem();
    const shed = new ToolShed().tools(ToolPreset.media(fs, { images, videos, image_gen: { folder: "out" } }));
    const { session, provider } = await sessionOf(shed, [
      { call: "shed", arguments: { description: "make a picture", limit: 1 } },
      { call: "image_gen", arguments: { prompt: "A hut" } },
      { call: "shed", arguments: { description: "make a video", limit: 1 } },
      { call: "video", arguments: { command: "start", prompt: "A hut" } },
    ]);
    const turn = await session.runTurn("Go");
    expect(turn.failure).toBeUndefined();
    const [, made, , started] = turn.toolResults();
    expect(made?.content.map(({ type }) => type)).toEqual(["text", "image"]);
    expect((await fs.stat("out/a-hut.png")).size).toBe(PNG.length);
    expect(textOfContent(started?.content ?? [])).toContain("video-1 waits for its turn");
    expect(provider.requests[2]?.tools.tools).toHaveLength(1);

    const again = await AgentSession.builder(
      new ScriptedProvider([
        { call: "video", arguments: { command: "check" } },
        { call: "video", arguments: { command: "download", id: "video-1" } },
        "Done.",
      ]),
    )
      .withModel("m")
      .withToolshed(shed)
      .withDocStore(session.docStore)
      .resume(session.sessionId);
    await session.end();
    const resumed = await again.build();
    onTestFinished(() => resumed.end());
    const texts = (await resumed.runTurn("And?")).toolResults().map(({ content }) => textOfContent(content));
    expect(texts[0]).toBe("video-1: is done (A hut)");
    expect(texts[1]).toContain('Saved video-1 as "videos/a-hut.mp4"');
  });
});

describe("tools that are ready, in a preset", () => {
  it("those of MCP servers merge with others, and go where presets go", async () => {
    const clock = new FnTool("time", "Tells the time of day.", { type: "object" }, async () => "10:08");
    const server = await listenHttp(serveShed(new ToolShed().tool(clock)));
    onTestFinished(() => server.close());
    const servers = await McpServers.connect(parseMcpServers({ mcpServers: { clock: { url: server.url } } }));
    onTestFinished(() => servers.close());

    const preset = ToolPreset.files(new MemoryFileSystem()).merge(servers.tools());
    expect([...preset].map(({ name }) => name)).toEqual(["read", "write", "edit", "list", "clock__time"]);
    const { session } = await sessionOf(new ToolShed().tools(preset), [
      { call: "shed", arguments: { description: "what time is it", limit: 1 } },
      { call: "clock__time", arguments: {} },
    ]);
    servers.follow(session.toolManager);
    const [, told] = (await session.runTurn("Go")).toolResults();
    expect(textOfContent(told?.content ?? [])).toBe("10:08");

    const children = await ToolPreset.fromConstructors(servers.tools()).asChildTools();
    expect(children).toEqual(servers.tools());
    const manager = await ToolPreset.fromConstructors(servers.tools()).intoManager(newSessionId());
    expect(manager.names()).toEqual(["clock__time"]);
  });
});
