import { AgentSession } from "@shedkit/agent";
import { type ModelProvider, Secret } from "@shedkit/provider";
import { AnthropicMessagesProvider } from "@shedkit/provider-anthropic";
import { OpenAIProvider } from "@shedkit/provider-openai-chat";
import { ResponsesProvider } from "@shedkit/provider-openai-responses";
import { ToolShed } from "@shedkit/shed";
import { type ScriptedAnswer, ScriptedServer } from "@shedkit/testing";
import { FnTool, ToolCallResult } from "@shedkit/tool";
import { describe, expect, it } from "vitest";

const cloud = { anthropic: AnthropicMessagesProvider, openai: OpenAIProvider, responses: ResponsesProvider };

function provider(kind: keyof typeof cloud, own: boolean, server: ScriptedServer): ModelProvider {
  const toServer: typeof fetch = (input, init) =>
    fetch(String(input).replace(/^https:\/\/api\.(anthropic|openai)\.com/, server.url), init);
  const where = own ? { fetch: toServer } : { baseUrl: kind === "anthropic" ? server.url : `${server.url}/v1` };
  return cloud[kind].withConfig({ apiKey: new Secret("sk-test"), maxRetries: 0, ...where });
}

const things = ["invoice", "parcel", "flight", "recipe", "meeting", "song", "ticket", "garden", "weather", "payroll"];
const verbs = ["list", "find", "cancel"];

/** Thirty tools; the ones that cancel fail. */
const tools = things.flatMap((thing) =>
  verbs.map((verb) => {
    const schema = { type: "object", properties: { id: { type: "string" }, limit: { type: "integer" } } };
    return new FnTool(`${verb}_${thing}`, `Can ${verb} a ${thing}, by its id.`, schema, async () =>
      verb === "cancel"
        ? ToolCallResult.failure("refused", `The ${thing} cannot be cancelled.`)
        : `one ${thing}, ünïcode 😀`,
    );
  }),
);

/** Twenty answers of which three look for tools and one calls a tool that is not active. */
const answers: readonly ScriptedAnswer[] = Array.from({ length: 20 }, (_, i): ScriptedAnswer => {
  if (i === 19) return "All done.";
  const thinking = { thinking: `Step ${i}.`, signature: `c2ln${i}` };
  if (i === 1) return [thinking, { call: "shed", arguments: { description: "find an invoice", limit: 2 } }];
  if (i === 6) return ["I look.", { call: "shed", arguments: { description: "cancel a flight", limit: 1 } }];
  if (i === 12) return [{ call: "shed", arguments: { description: "list_song" } }];
  if (i === 15) return [{ call: "find_garden", arguments: { id: "g" } }];
  const name = i < 6 ? "find_invoice" : i < 12 ? "cancel_flight" : "list_song";
  return i % 3 === 0
    ? [thinking, "Two.", { call: name, arguments: { id: `a${i}` } }, { call: name, arguments: { id: `b${i}` } }]
    : [{ call: name, arguments: { id: `${i}`, limit: i } }];
});

type Body = { readonly [key: string]: unknown };

/** The parts of a body that come in front of what is new, as the bytes that they are, each left open at its end. */
function parts({ system, instructions, tools, messages, input }: Body): { [part: string]: string } {
  const open = (value: unknown): string =>
    JSON.stringify(value ?? [])
      .replaceAll(/,"cache_control":\{[^}]*\}/g, "") // marks move along, and are no part of what is cached
      .slice(0, -1);
  return { system: open(system ?? instructions), tools: open(tools), messages: open(messages ?? input) };
}

/** Where and how a request does not begin as the one before it; empty where it does. */
function firstDifference(before: Body, after: Body): string {
  const [a, b] = [parts(before), parts(after)];
  for (const part of Object.keys(a)) {
    const [old, now] = [a[part] ?? "", b[part] ?? ""];
    if (now.startsWith(old)) continue;
    let at = 0;
    while (old[at] === now[at]) at++;
    return `${part}, character ${at}: ${old.slice(at - 40, at + 40)} became ${now.slice(at - 40, at + 40)}`;
  }
  return "";
}

describe("the requests of a session of twenty steps with three searches", () => {
  it.each([
    ["anthropic", true, "claude-opus-4-8"],
    ["anthropic", true, "claude-sonnet-4-5"],
    ["anthropic", false, "a-model"],
    ["openai", true, "gpt-4o"],
    ["openai", false, "a-model"],
    ["responses", true, "gpt-5.4"],
    ["responses", true, "gpt-4o"],
    ["responses", false, "a-model"],
  ] as const)("begin each with the bytes of the one before: %s, itself: %s, %s", async (kind, own, model) => {
    await using server = await ScriptedServer.start(answers);
    const agent = await AgentSession.builder(provider(kind, own, server))
      .withModel(model)
      .withSystemPrompt("You help.")
      .withToolshed(new ToolShed().tools(tools))
      .withLoopDetection("off")
      .build();
    const turn = await agent.runTurn("Go.");
    await agent.end();
    expect(turn.failure).toBeUndefined();
    const bodies = server.requests.map(({ body }) => body as Body);
    expect(bodies).toHaveLength(20);
    expect(JSON.stringify(bodies.at(-1))).toContain("find_garden");
    for (const [i, body] of bodies.entries()) {
      const before = bodies[i - 1];
      if (before !== undefined) expect(`request ${i}: ${firstDifference(before, body)}`).toBe(`request ${i}: `);
    }
  });

  it("are told apart by their first differing character", () => {
    const body = { system: "s", tools: [{ name: "a" }], messages: [{ role: "user", content: "one" }] };
    expect(firstDifference(body, { ...body, tools: [{ name: "a" }, { name: "b" }] })).toBe("");
    expect(firstDifference(body, { ...body, tools: [{ name: "b" }, { name: "a" }] })).toMatch(/^tools, character 10: /);
    expect(firstDifference(body, { ...body, messages: [{ role: "user", content: "on" }] })).toMatch(/^messages/);
    expect(firstDifference(body, { ...body, system: "t" })).toMatch(/^system/);
  });
});
