import {
  type AssistantMessage,
  type Message,
  Messages,
  type Tool,
  type ToolDeclarations,
  type ToolResultMessage,
} from "@shedkit/types";
import { describe, expect, it } from "vitest";
import { exchange } from "./open.js";

const tool = (name: string): Tool => ({
  type: "single",
  definition: { name, category: "read", description: `Does ${name}.`, arguments: { type: "object", properties: {} } },
});
const call = (id: string, name: string): AssistantMessage => ({
  type: "assistant",
  id: `a-${id}`,
  turnId: "t",
  stepId: `s-${id}`,
  model: "claude-sonnet-4-5",
  output: { type: "toolCall", id, name, arguments: {} },
});
const result = (id: string, name: string, errorDetail?: string): ToolResultMessage => ({
  type: "toolResult",
  id: `r-${id}`,
  turnId: "t",
  stepId: `s-${id}`,
  toolCallId: id,
  name,
  content: [{ type: "text", text: `result of ${id}` }],
  ...(errorDetail !== undefined && { errorDetail }),
});

const messages: Message[] = [
  Messages.user("Go."),
  call("c1", "shed"),
  result("c1", "shed"),
  call("c2", "late"),
  result("c2", "late", "notActive"),
];
const tools: ToolDeclarations = {
  shed: tool("shed"),
  tools: ["pinned", "found.it", "late"].map(tool),
  activations: [
    { name: "pinned", by: "pin" },
    { name: "found.it", by: { toolCallId: "c1" } },
    { name: "late", by: "call" },
  ],
};

interface Body {
  tools: { name: string; defer_loading?: boolean }[];
  messages: {
    role: string;
    content: { type: string; text?: string; content?: { type: string; tool_name?: string }[] }[];
  }[];
}

const declared = (body: unknown) => (body as Body).tools.map((one) => (one.defer_loading ? `(${one.name})` : one.name));
const revealed = (body: unknown) =>
  (body as Body).messages.map((message) =>
    message.content.flatMap((block) => block.content?.flatMap((inner) => inner.tool_name ?? []) ?? []),
  );

describe("deferral", () => {
  it("hides a tool until the result that activated it, and says its place from the first request on", async () => {
    const first = await exchange(["ok"], { tools: { shed: tool("shed"), tools: [], activations: [] } });
    expect(declared(first.bodies[0])).toEqual(["shed", "(shed_placeholder)"]);
    const { bodies } = await exchange(["ok"], { messages, tools });
    expect(declared(bodies[0])).toEqual(["shed", "pinned", "(shed_placeholder)", "(found_it)", "(late)"]);
    expect(revealed(bodies[0])).toEqual([[], [], ["found_it"], [], ["late"]]);
    const [, , found] = (bodies[0] as unknown as Body).messages;
    expect(found?.content.map((block) => block.text ?? block.type)).toEqual([
      "tool_result",
      "The result of shed (c1):",
      "result of c1",
    ]);
  });

  it("declares a tool openly where the result that activated it is gone", async () => {
    const { bodies } = await exchange(["ok"], { messages: [Messages.user("Summary."), ...messages.slice(3)], tools });
    expect(declared(bodies[0])).toEqual(["shed", "pinned", "found_it", "(shed_placeholder)", "(late)"]);
  });

  it("is not used without shed, nor for models of before", async () => {
    const { shed: _, ...rest } = tools;
    const without = await exchange(["ok"], { messages, tools: rest });
    expect(declared(without.bodies[0])).toEqual(["pinned", "found_it", "late"]);
    const old = await exchange(["ok"], { messages, tools, model: { name: "claude-3-5-haiku-latest" } });
    expect(declared(old.bodies[0])).toEqual(["shed", "pinned", "found_it", "late"]);
  });

  it("gives way to the plain form where the server refuses it, at once and from then on", async () => {
    const refusal = {
      status: 400,
      error: { code: "invalid_request_error", message: "tools.1.defer_loading: Extra inputs are not permitted" },
    };
    const { bodies, events } = await exchange([refusal, "one", "two"], { messages, tools }, { times: 2 });
    expect(bodies.map((body) => declared(body).some((name) => name.startsWith("(")))).toEqual([true, false, false]);
    expect(events.filter((event) => event.type === "finish")).toHaveLength(2);
    expect(events.filter((event) => event.type === "failure")).toEqual([]);
  });
});

describe("cache marks", () => {
  it("stand behind the system prompt, at the end, and where the end was before", async () => {
    const { bodies } = await exchange(["ok"], { messages, tools, system: "You help." });
    const body = bodies[0] as { system: object[]; tools: object[]; messages: { content: object[] }[] };
    expect(body.system[0]).toMatchObject({ cache_control: { type: "ephemeral" } });
    const marked = body.messages.map(({ content }) => content.map((block) => "cache_control" in block));
    expect(marked).toEqual([[false], [false], [false, false, true], [false], [false, false, true]]);
    expect(JSON.stringify(body.tools)).not.toContain("cache_control");
  });

  it("are never more than the API takes, however often the program says something in between", async () => {
    const said = (id: string): AssistantMessage => ({ ...call(id, ""), output: { type: "text", text: id } });
    const noted = ["1", "2", "3"].flatMap((id) => [said(id), Messages.user(`${id}?`), Messages.agent(`note ${id}`)]);
    const model = { name: "claude-opus-4-8" };
    const { bodies, events } = await exchange(["ok"], { messages: noted, model, system: "You help." });
    expect(events.at(-1)).toEqual({ type: "finish", reason: "stop" });
    const { messages: sent } = bodies[0] as unknown as Body;
    const marked = sent.filter(({ content }) => JSON.stringify(content).includes("cache_control"));
    expect(marked.map(({ role, content }) => `${role}: ${content[0]?.text}`)).toEqual([
      "system: note 2",
      "system: note 3",
    ]);
  });

  it("stand on the last open tool where there is no system prompt", async () => {
    const { bodies } = await exchange(["ok"], { messages, tools });
    const { tools: sent } = bodies[0] as { tools: { name: string }[] };
    expect(sent.filter((one) => "cache_control" in one).map((one) => one.name)).toEqual(["pinned"]);
  });
});
