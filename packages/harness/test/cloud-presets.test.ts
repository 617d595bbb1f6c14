import { ToolShed } from "@shedkit/shed";
import { ScriptedServer, type ServerAnswer } from "@shedkit/testing";
import { FnTool } from "@shedkit/tool";
import { AgenticError, Messages } from "@shedkit/types";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { RouterPreset } from "../src/index.js";

/** What goes to a provider's public address goes to a scripted server. */
async function serve(answers: readonly ServerAnswer[]): Promise<ScriptedServer> {
  const server = await ScriptedServer.start(answers);
  const real = globalThis.fetch;
  vi.stubGlobal("fetch", (input: string | URL | Request, init?: RequestInit) =>
    real(String(input).replace(/^https:\/\/api\.(anthropic|openai)\.com/, server.url), init),
  );
  onTestFinished(async () => {
    vi.unstubAllGlobals();
    await server.close();
  });
  return server;
}

const zone = { type: "object", properties: { zone: { type: "string" } }, additionalProperties: false };
const clock = new FnTool("clock", "Says what time it is.", zone, async () => "noon");

describe.each([
  ["claude", "anthropic", "claude-opus-4-8", "claude-sonnet-4-6", "authorization"],
  ["openaiChat", "openai-chat", "gpt-4o", "gpt-4o-mini", "authorization"],
  ["openaiResponses", "openai-responses", "gpt-4o", "gpt-4o-mini", "authorization"],
] as const)("RouterPreset.%s", (name, wire, main, small, header) => {
  it("answers over its own wire, with its main model and its key, and finds tools", async () => {
    const server = await serve([
      [{ call: "shed", arguments: { description: "what time it is" } }],
      [{ call: "clock", arguments: { zone: "UTC" } }],
      "It is noon.",
    ]);
    const agent = await RouterPreset[name]("sk-given")
      .intoAgentBuilder()
      .withToolshed(new ToolShed().tool(clock))
      .build();
    expect((await agent.ask("What time is it?")).text).toBe("It is noon.");
    await agent.end();
    expect(server.requests.map((request) => [request.wire, request.body.model])).toEqual(
      Array.from({ length: 3 }, () => [wire, main]),
    );
    expect(server.requests[0]?.headers[header]).toBe("Bearer sk-given");
    expect(JSON.stringify(server.requests[2]?.body)).toContain("noon");
  });

  it("sends its memory model over the same wire", async () => {
    const server = await serve(["Remembered."]);
    const preset = RouterPreset[name]("sk-given");
    const { provider, model } = (await preset.load()).route(preset.models.memory ?? "");
    const request = { model, messages: [Messages.user("Hi")], tools: { tools: [], activations: [] }, params: {} };
    for await (const event of provider.stream(request)) if (event.type === "failure") throw event.error;
    expect(server.requests.map((sent) => [sent.wire, sent.body.model])).toEqual([[wire, small]]);
  });

  it("says that the key is wrong, without the key", async () => {
    await serve([{ status: 401, error: { code: "authentication_error", message: "invalid key sk-given" } }]);
    const agent = await RouterPreset[name]("sk-given").intoAgentBuilder().build();
    const answer = await agent.ask("Hi");
    await agent.end();
    if (answer.type !== "failed") throw new Error("it answered");
    expect(AgenticError.is(answer.error, "auth")).toBe(true);
    expect(answer.error.message).toMatch(/401.*Check the key\./);
    expect(answer.error.message).not.toContain("sk-given");
  });

  it("takes no empty key", async () => {
    await expect(RouterPreset[name](" ").load()).rejects.toThrow(/key is empty/);
  });
});
