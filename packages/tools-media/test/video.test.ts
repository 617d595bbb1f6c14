import { MemoryFileSystem } from "@shedkit/fs/memory";
import { ToolCallManager } from "@shedkit/shed";
import { callTool, type ToolCallResult } from "@shedkit/tool";
import { newSessionId } from "@shedkit/types";
import { describe, expect, it } from "vitest";
import { openAIVideos, videoTool } from "../src/index.js";
import { json, mp4, PNG, type Received, service } from "./helpers.js";

const VIDEO = mp4(3_000_000);

/** A service with one job, which stands as `states` say, one after the other. */
async function videos(states: readonly object[], { content = VIDEO as Buffer | string, type = "video/mp4" } = {}) {
  let [at, deleted] = [0, false];
  const { url, asked } = await service((response, { method, url }) => {
    if (method === "POST") return json(response, { id: "vid/1", object: "video", status: "queued", progress: 0 });
    if (method === "DELETE") {
      deleted = true;
      return json(response, { id: "vid/1", deleted: true });
    }
    if (deleted) return json(response, { error: { message: "No such video" } }, 404);
    if (url.endsWith("/content")) return response.writeHead(200, { "content-type": type }).end(content);
    return json(response, { id: "vid/1", ...states[Math.min(at++, states.length - 1)] });
  });
  return { url, asked };
}

/** `video` as a session has it: what it remembers is there from call to call. */
function session(url: string, fs = new MemoryFileSystem(), options: object = {}, params: object = {}) {
  const manager = new ToolCallManager(newSessionId());
  const tool = videoTool(openAIVideos({ baseUrl: url, maxRetries: 0, ...options }), fs, { pollMs: 1, ...params });
  manager.register(tool);
  manager.activate(["video"]);
  const call = (args: { [key: string]: unknown }, signal?: AbortSignal): Promise<ToolCallResult> =>
    manager.executeOne({ id: "1", name: "video", arguments: args as never }, { signal });
  return { call, fs, manager };
}

async function formOf({ body, headers }: Received) {
  const form = await new Response(new Uint8Array(body), {
    headers: { "content-type": String(headers["content-type"]) },
  }).formData();
  return Object.fromEntries(form.entries());
}

describe("video", () => {
  it("is started, followed to its end, downloaded", async () => {
    const states = [
      { status: "queued" },
      { status: "in_progress", progress: 40 },
      { status: "in_progress", progress: 40 },
      { status: "completed", progress: 100 },
    ];
    const { url, asked } = await videos(states);
    const { call, fs, manager } = session(url, undefined, { model: "wan", apiKey: "key-123456", extra: { fps: 16 } });
    const started = await call({ command: "start", prompt: "A harbour at dawn", size: "1280x720", seconds: 4 });
    expect(started.output).toEqual({ id: "video-1", job: "vid/1", status: "queued" });
    expect(started.text).toContain('video { command: "check", id: "video-1" }');
    expect(asked[0]).toMatchObject({
      method: "POST",
      url: "/v1/videos",
      headers: { authorization: "Bearer key-123456" },
    });
    expect(await formOf(asked[0] as Received)).toEqual({
      prompt: "A harbour at dawn",
      model: "wan",
      size: "1280x720",
      seconds: "4",
      fps: "16",
    });

    const progress: string[] = [];
    let last: ToolCallResult | undefined;
    const check = { id: "2", name: "video", arguments: { command: "check", id: "video-1", wait_ms: 60_000 } };
    for await (const event of manager.stream(check)) {
      if (event.type === "progress") progress.push(event.text ?? "");
      if (event.type === "result") last = event.result;
    }
    expect(progress).toEqual(["video-1 waits for its turn.", "video-1 is being made, 40 %."]);
    expect(last?.output).toEqual({ videos: [{ id: "video-1", status: "done", progress: 100 }] });
    expect(last?.text).toContain('command: "download"');
    expect(asked.at(-1)?.url).toBe("/v1/videos/vid%2F1");

    const saved = await call({ command: "download", id: "video-1" });
    expect(saved.output).toEqual({
      id: "video-1",
      path: "videos/a-harbour-at-dawn.mp4",
      mediaType: "video/mp4",
      bytes: VIDEO.length,
    });
    expect(Buffer.from(await fs.readFile("videos/a-harbour-at-dawn.mp4")).equals(VIDEO)).toBe(true);
    expect((await call({ command: "check" })).text).toBe("video-1: is done (A harbour at dawn)");
  });

  it("says that it is not done, and downloads nothing then", async () => {
    const { url, asked } = await videos([{ status: "in_progress", progress: 7.4 }]);
    const { call } = session(url);
    await call({ command: "start", prompt: "x" });
    const waited = await call({ command: "check", id: "video-1", wait_ms: 3 });
    expect(waited.text).toBe("video-1 is being made, 7 %. To wait for it, give wait_ms.");
    const result = await call({ command: "download", id: "video-1" });
    expect(result.errorDetail).toBe("not done: running");
    expect(asked.some(({ url }) => url.endsWith("/content"))).toBe(false);
  });

  it("tells why it failed", async () => {
    const { url } = await videos([
      { status: "failed", error: { code: "moderation", message: "The prompt was blocked" } },
    ]);
    const { call } = session(url);
    await call({ command: "start", prompt: "x" });
    const result = await call({ command: "check", id: "video-1", wait_ms: 60_000 });
    expect(result).toMatchObject({ errorDetail: "failed", text: "video-1 failed: The prompt was blocked." });
    expect((await call({ command: "download", id: "video-1" })).text).toContain("failed");
  });

  it("is cancelled at the service, twice as well", async () => {
    const { url, asked } = await videos([{ status: "in_progress" }]);
    const { call } = session(url);
    await call({ command: "start", prompt: "x" });
    expect((await call({ command: "cancel", id: "video-1" })).output).toEqual({ id: "video-1", status: "cancelled" });
    expect(asked.at(-1)).toMatchObject({ method: "DELETE", url: "/v1/videos/vid%2F1" });
    expect((await call({ command: "cancel", id: "video-1" })).errorDetail).toBeUndefined();
    expect((await call({ command: "check" })).text).toBe("video-1: was cancelled (x)");
  });

  it("goes on at the service where the waiting for it is stopped", async () => {
    const controller = new AbortController();
    const { url, asked } = await service((response, { method }) => {
      if (method === "POST") return json(response, { id: "v", status: "queued" });
      if (asked.length === 3) response.once("close", () => controller.abort());
      return json(response, { id: "v", status: "in_progress" });
    });
    const { call } = session(url, undefined, {}, { pollMs: 100_000 });
    await call({ command: "start", prompt: "x" });
    await call({ command: "check", id: "video-1" });
    const waiting = call({ command: "check", id: "video-1", wait_ms: 600_000 }, controller.signal);
    await expect(waiting).rejects.toMatchObject({ kind: "cancelled" });
    expect(asked.map(({ method }) => method)).toEqual(["POST", "GET", "GET"]);
    expect((await call({ command: "check", id: "video-1" })).text).toContain("is being made");
  });

  it("begins with an image of the file system, and is described as JSON where that is wanted", async () => {
    const { url, asked } = await videos([{ status: "queued" }]);
    const fs = new MemoryFileSystem({ "a/first.png": new Uint8Array(PNG), "a.txt": "no image" });
    const { call } = session(url, fs);
    await call({ command: "start", prompt: "x", image: "a/first.png" });
    const file = (await formOf(asked[0] as Received)).input_reference as File;
    expect([file.name, file.type, Buffer.from(await file.arrayBuffer()).equals(PNG)]).toEqual([
      "first.png",
      "image/png",
      true,
    ]);
    await session(url, fs, { body: "json" }).call({ command: "start", prompt: "x", seconds: 4, image: "a/first.png" });
    expect(JSON.parse(String(asked[1]?.body))).toEqual({
      prompt: "x",
      seconds: 4,
      input_reference: { image_url: `data:image/png;base64,${PNG.toString("base64")}` },
    });
    expect((await call({ command: "start", prompt: "x", image: "a.txt" })).errorDetail).toBe("no image");
    await expect(call({ command: "start", prompt: "x", image: "none.png" })).rejects.toMatchObject({
      kind: "execution",
    });
    await expect(call({ command: "start", prompt: "x", image: "../a.png" })).rejects.toMatchObject({
      kind: "permissionDenied",
    });
    expect(asked).toHaveLength(2);
  });

  it("starts nothing that makes no sense", async () => {
    const { url, asked } = await videos([]);
    const { call } = session(url, undefined, {}, { maxSeconds: 8, sizes: ["640x360"] });
    expect((await call({ command: "start", prompt: "\n" })).text).toContain("prompt is empty");
    expect((await call({ command: "start", prompt: "x", seconds: 9 })).text).toContain("8 are the most");
    expect((await call({ command: "start", prompt: "x", size: "1x1" })).text).toContain("640x360");
    expect((await call({ command: "check", id: "video-7" })).text).toBe(
      'There is no video "video-7". None was started.',
    );
    expect((await call({ command: "check" })).text).toBe("No video was started.");
    expect(asked).toEqual([]);
  });

  it.each<[string, { content: Buffer | string; type?: string }, string]>([
    ["cut off in the middle", { content: VIDEO.subarray(0, 1_000_000) }, "broke off after 1000000 bytes"],
    [
      "an error in place of the video",
      { content: '{"error":{"message":"Expired"}}', type: "application/json" },
      "Expired",
    ],
    ["a page in place of the video", { content: "<html>", type: "text/html" }, "gave no video, but text/html"],
    ["something else", { content: "hello", type: "video/mp4" }, "5 bytes that are no video"],
    ["nothing", { content: "" }, "0 bytes that are no video"],
    ["too much", { content: mp4(4_100_000) }, "4100000 bytes are the most"],
  ])("is downloaded as %s", async (_, answer, told) => {
    const { url } = await videos([{ status: "completed" }], answer);
    const { call, fs } = session(url, undefined, {}, { maxBytes: 4_100_000 });
    await call({ command: "start", prompt: "x" });
    await expect(call({ command: "download", id: "video-1", path: "a.mp4" })).rejects.toThrow(told);
    expect(await fs.readdir(".")).toEqual([]);
  });

  it("tells how far a download is", async () => {
    const { url } = await videos([{ status: "completed" }]);
    const { call, manager } = session(url);
    await call({ command: "start", prompt: "x" });
    const told: number[] = [];
    const request = { id: "2", name: "video", arguments: { command: "download", id: "video-1" } };
    for await (const event of manager.stream(request)) {
      if (event.type === "progress") told.push((event.data as { bytes: number }).bytes);
    }
    expect(told.length).toBeGreaterThan(0);
    expect(told).toEqual(told.toSorted((a, b) => a - b));
  });

  it("overwrites nothing unless it is told to", async () => {
    const { url } = await videos([{ status: "completed" }]);
    const { call, fs } = session(url, new MemoryFileSystem({ "a.mp4": "mine" }));
    await call({ command: "start", prompt: "x" });
    expect((await call({ command: "download", id: "video-1", path: "a.mp4" })).errorDetail).toBe('exists: "a.mp4"');
    await call({ command: "download", id: "video-1", path: "a.mp4", overwrite: true });
    expect((await fs.stat("a.mp4")).size).toBe(VIDEO.length);
  });

  it("is asked about once more where the service is busy", async () => {
    let busy = 2;
    const { url } = await service((response, { method }) => {
      if (method === "POST") return json(response, { id: "v", status: "queued" });
      if (busy-- > 0) return json(response, {}, 500, { "retry-after-ms": "1" });
      return json(response, { id: "v", status: "succeeded" });
    });
    const { call } = session(url, undefined, { maxRetries: 2 });
    await call({ command: "start", prompt: "x" });
    expect((await call({ command: "check", id: "video-1" })).text).toContain("is done");
  });

  it.each<[string, unknown]>([
    ["no id", { status: "queued" }],
    ["an id that is a number", { id: 1, status: "queued" }],
    ["no status", { id: "v" }],
    ["a list", []],
  ])("is refused where the service answers with %s", async (_, body) => {
    const { url } = await service((response) => json(response, body));
    await expect(session(url).call({ command: "start", prompt: "x" })).rejects.toMatchObject({ kind: "execution" });
  });

  it("never leaves the videos of the service, whatever ids it gives", async () => {
    const { url, asked } = await service((response, { method }) =>
      json(
        response,
        method === "POST"
          ? { id: asked.length === 1 ? ".." : "../../v1/models?x#y", status: "queued" }
          : { id: "v", status: "queued" },
      ),
    );
    const { call } = session(url);
    await call({ command: "start", prompt: "x" });
    await expect(call({ command: "cancel", id: "video-1" })).rejects.toThrow("cannot be the id of a video");
    await call({ command: "start", prompt: "x" });
    await call({ command: "cancel", id: "video-2" });
    expect(asked.at(-1)?.url).toBe("/v1/videos/..%2F..%2Fv1%2Fmodels%3Fx%23y");
  });

  it("is used without a session by the ids of the service", async () => {
    const { url } = await videos([{ status: "completed" }]);
    const fs = new MemoryFileSystem();
    const tool = videoTool(openAIVideos({ baseUrl: url }), fs);
    const started = await callTool(tool, { command: "start", prompt: "x" });
    const { job } = started.output as { job: string };
    await callTool(tool, { command: "download", id: job, path: "a" });
    expect((await fs.stat("a.mp4")).size).toBe(VIDEO.length);
  });
});
