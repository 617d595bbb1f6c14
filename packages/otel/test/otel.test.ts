import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { context, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { OTLPMetricExporter } from "@opentelemetry/exporter-metrics-otlp-http";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { MeterProvider, PeriodicExportingMetricReader } from "@opentelemetry/sdk-metrics";
import { BatchSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { AgentSession, type ModelSource } from "@shedkit/agent";
import { ToolShed } from "@shedkit/shed";
import { Gate, type ScriptedAnswer, ScriptedProvider } from "@shedkit/testing";
import { FnTool, metadataOf, ToolCallResult, type ToolImpl } from "@shedkit/tool";
import { AgenticError, newSessionId, noUsage } from "@shedkit/types";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { type OtelOptions, otelObserver } from "../src/index.js";

type Value = {
  stringValue?: string;
  intValue?: number | string;
  doubleValue?: number;
  arrayValue?: { values: Value[] };
};
type KeyValues = { key: string; value: Value }[];

interface SpanJson {
  name: string;
  kind: number;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: KeyValues;
  events: { name: string; attributes: KeyValues }[];
  status: { code?: number; message?: string };
}

interface PointJson {
  attributes: KeyValues;
  count: number | string;
  sum: number;
}

/** An OTLP receiver over HTTP, and a session whose observer sends to it. */
async function receiver(options: OtelOptions = {}) {
  const bodies: { [path: string]: string[] } = {};
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += chunk;
    bodies[request.url ?? ""] = [...(bodies[request.url ?? ""] ?? []), body];
    response.writeHead(200, { "content-type": "application/json" }).end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const traces = new TracerProvider({
    spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter({ url: `${url}/v1/traces` }) })],
  });
  const exporter = new OTLPMetricExporter({ url: `${url}/v1/metrics` });
  const meters = new MeterProvider({ readers: [new PeriodicExportingMetricReader({ exporter })] });
  onTestFinished(async () => {
    await traces.shutdown();
    await meters.shutdown();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const tracer = traces.getTracer("test");
  return {
    tracer,
    observer: otelObserver({ tracer, meter: meters.getMeter("test"), ...options }),
    /** Everything that came, as text. */
    text: () => Object.values(bodies).flat().join("\n"),
    spans: async (): Promise<SpanJson[]> => {
      await traces.forceFlush();
      return (bodies["/v1/traces"] ?? []).flatMap((body) =>
        JSON.parse(body).resourceSpans.flatMap((resource: { scopeSpans: { spans: SpanJson[] }[] }) =>
          resource.scopeSpans.flatMap(({ spans }) => spans),
        ),
      );
    },
    points: async (metric: string): Promise<PointJson[]> => {
      await meters.forceFlush();
      const { resourceMetrics } = JSON.parse(bodies["/v1/metrics"]?.at(-1) ?? "");
      const all = resourceMetrics[0].scopeMetrics[0].metrics as {
        name: string;
        histogram: { dataPoints: PointJson[] };
      }[];
      return all.find(({ name }) => name === metric)?.histogram.dataPoints ?? [];
    },
  };
}

function attributes(list: KeyValues): { [key: string]: unknown } {
  const plain = ({ stringValue, intValue, doubleValue, arrayValue }: Value): unknown =>
    arrayValue
      ? arrayValue.values.map(plain)
      : (stringValue ?? (intValue === undefined ? doubleValue : Number(intValue)));
  return Object.fromEntries(list.map(({ key, value }) => [key, plain(value)]));
}

const echo = new FnTool(
  "echo",
  "Says a text back.",
  { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  async (args) => `echo: ${args.str("text")}`,
);

function sessionOf(provider: ModelSource, ...tools: ToolImpl[]) {
  const shed = new ToolShed().tools(tools);
  return AgentSession.builder(provider)
    .withModel("m")
    .withToolshed(shed.pin(...shed.names()));
}

const script: ScriptedAnswer[] = [
  { parts: [{ call: "echo", arguments: { text: "a secret word" } }], usage: { input: 100, output: 7, cacheRead: 50 } },
  { parts: ["The private answer."], usage: { input: 200, output: 5 } },
];

beforeAll(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
});
afterAll(() => context.disable());

describe("a session watched by OpenTelemetry", () => {
  it("sends a span for the turn, and in it one for each model call and tool call", async () => {
    const { observer, tracer, spans } = await receiver({ agentName: "helper" });
    const provider = new ScriptedProvider(script, { id: "openai-chat" });
    const session = await sessionOf(provider, echo).withObserver(observer).build();
    const request = tracer.startSpan("request");
    await context.with(trace.setSpan(context.active(), request), () =>
      session.ask("A private question", { metadata: { tenant: "blue", tags: ["a"] } }),
    );
    request.end();
    const all = await spans();
    expect(all.map(({ name }) => name)).toEqual([
      "chat m",
      "execute_tool echo",
      "chat m",
      "invoke_agent helper",
      "request",
    ]);
    const [first, tool, second, turn] = all as [SpanJson, SpanJson, SpanJson, SpanJson];
    for (const { parentSpanId, traceId } of [first, tool, second]) {
      expect({ parentSpanId, traceId }).toEqual({ parentSpanId: turn.spanId, traceId: turn.traceId });
    }
    expect(turn.parentSpanId).toBe(request.spanContext().spanId);
    expect([first.kind, tool.kind, turn.kind]).toEqual([3, 1, 1]); // client, internal, internal
    expect(attributes(first.attributes)).toEqual({
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "openai",
      "gen_ai.request.model": "m",
      "gen_ai.conversation.id": session.sessionId,
      "gen_ai.usage.input_tokens": 150,
      "gen_ai.usage.output_tokens": 7,
      "gen_ai.usage.cache_read.input_tokens": 50,
      "gen_ai.usage.cache_creation.input_tokens": 0,
      "gen_ai.response.finish_reasons": ["tool_calls"],
    });
    expect(attributes(tool.attributes)).toMatchObject({
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": "echo",
      "gen_ai.tool.type": "function",
    });
    expect(attributes(turn.attributes)).toMatchObject({
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.agent.name": "helper",
      "gen_ai.provider.name": "openai",
      "gen_ai.request.model": "m",
      "shedkit.metadata.tenant": "blue",
      "shedkit.metadata.tags": '["a"]',
      "gen_ai.usage.input_tokens": 350,
      "gen_ai.usage.output_tokens": 12,
    });
  });

  it("is the parent of what tools and backends trace themselves, also where calls run side by side", async () => {
    const { observer, tracer, spans } = await receiver();
    const own = (name: string) => tracer.startSpan(name).end();
    const meet = new Gate();
    let there = 0;
    const work: ToolImpl = {
      definition: () => ({
        type: "single",
        definition: { name: "work", category: "test", description: "Works.", arguments: { type: "object" } },
      }),
      metadata: { ...metadataOf(echo), id: "work", capabilities: { ...metadataOf(echo).capabilities, readOnly: true } },
      async *execute({ n }) {
        own(`first ${n}`);
        if (++there === 2) meet.open();
        await meet.wait(); // both are running now
        yield { type: "progress", text: "half" };
        own(`last ${n}`);
        yield { type: "result", result: ToolCallResult.text("done") };
      },
    };
    const scripted = new ScriptedProvider([[1, 2].map((n) => ({ call: "work", arguments: { n } })), "Done."]);
    const provider: ModelSource = {
      id: "traced",
      serves: () => "yes",
      async *stream(request: Parameters<typeof scripted.stream>[0]) {
        own("request");
        for await (const event of scripted.stream(request)) {
          if (event.type === "finish") own("answer");
          yield event;
        }
      },
    };
    const session = await sessionOf(provider, work).withObserver(observer).build();
    await session.ask("Hi");
    const all = await spans();
    const parents = (name: string) =>
      all
        .filter((span) => span.name === name)
        .map(({ parentSpanId }) => all.find(({ spanId }) => spanId === parentSpanId))
        .map((parent) => `${parent?.name} ${attributes(parent?.attributes ?? [])["gen_ai.tool.call.id"] ?? ""}`.trim());
    const calls = all.filter(({ name }) => name === "execute_tool work").map((span) => attributes(span.attributes));
    const ids = calls.map((call) => call["gen_ai.tool.call.id"] as string).sort();
    expect(ids).toHaveLength(2);
    for (const [i, id] of ids.entries()) {
      expect(parents(`first ${i + 1}`)).toEqual([`execute_tool work ${id}`]);
      expect(parents(`last ${i + 1}`)).toEqual([`execute_tool work ${id}`]);
    }
    expect(parents("request")).toEqual(["chat m", "chat m"]);
    expect(parents("answer")).toEqual(["chat m", "chat m"]);
    await session.end();
  });

  it("sends how many tokens and how long, told apart by few attributes", async () => {
    const { observer, points } = await receiver();
    const session = await sessionOf(new ScriptedProvider(script), echo).withObserver(observer).build();
    await session.ask("Hi");
    const tokens = await points("gen_ai.client.token.usage");
    const sums = tokens.map((point) => [attributes(point.attributes)["gen_ai.token.type"], point.sum]);
    expect(new Map(sums as [string, number][])).toEqual(
      new Map([
        ["input", 350],
        ["output", 12],
      ]),
    );
    const seconds = await points("gen_ai.client.operation.duration");
    const counts = seconds.map((point) => ({ ...attributes(point.attributes), count: Number(point.count) }));
    expect(counts).toEqual([
      { "gen_ai.operation.name": "chat", "gen_ai.provider.name": "scripted", "gen_ai.request.model": "m", count: 2 },
      { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "echo", count: 1 },
      {
        ...{ "gen_ai.operation.name": "invoke_agent", "gen_ai.provider.name": "scripted" },
        ...{ "gen_ai.request.model": "m", count: 1 },
      },
    ]);
  });

  it("takes no time that is below zero, whatever the clock does", async () => {
    const { observer, spans, points } = await receiver();
    const told = { sessionId: newSessionId(), turnId: "t" };
    observer.observe({ ...told, type: "turnStarted", at: 5000 });
    observer.observe({ ...told, type: "turnEnded", at: 1000, usage: { ...noUsage } });
    const [turn] = await spans();
    expect(turn?.endTimeUnixNano).toBe(turn?.startTimeUnixNano);
    expect((await points("gen_ai.client.operation.duration")).map(({ sum }) => sum)).toEqual([0]);
  });

  it("says nothing of what is said, unless it is asked to", async () => {
    const broken = new FnTool("broken", "Fails.", { type: "object", properties: {} }, async () => {
      throw new Error("a secret place");
    });
    const run = async (contents: boolean) => {
      const { observer, spans, points, text } = await receiver({ contents });
      const provider = new ScriptedProvider([
        ...script.slice(0, 1),
        { call: "broken" },
        ["Private", { fail: new AgenticError("auth", "The secret key is refused.", { provider: "scripted" }) }],
      ]);
      const builder = sessionOf(provider, echo, broken).withSystemPrompt("A private prompt").withObserver(observer);
      await (await builder.build()).ask("A private question");
      await points("gen_ai.client.token.usage");
      return { all: await spans(), text: text() };
    };
    const silent = await run(false);
    expect(silent.all).toHaveLength(6);
    expect(silent.text).not.toMatch(/private|secret/i);
    const open = await run(true);
    const [first, tool] = open.all as [SpanJson, SpanJson];
    const asked = attributes(first.attributes);
    expect(JSON.parse(asked["gen_ai.system_instructions"] as string)).toEqual([
      { type: "text", content: "A private prompt" },
    ]);
    expect(JSON.parse(asked["gen_ai.input.messages"] as string)).toEqual([
      { role: "user", parts: [{ type: "text", content: "A private question" }] },
    ]);
    expect(JSON.parse(asked["gen_ai.output.messages"] as string)).toMatchObject([
      { role: "assistant", parts: [{ type: "tool_call", name: "echo", arguments: { text: "a secret word" } }] },
    ]);
    expect(attributes(tool.attributes)).toMatchObject({
      "gen_ai.tool.call.arguments": '{"text":"a secret word"}',
      "gen_ai.tool.call.result": "echo: a secret word",
    });
    expect(open.all.at(-1)?.status.message).toBe("The secret key is refused.");
  });

  it("says what kind of error ended a call, and its HTTP status", async () => {
    const { observer, spans, points } = await receiver();
    const details = { kind: "badRequest", provider: "scripted", model: "m" } as const;
    const fail = new AgenticError("generation", "No.", details, { status: 400 });
    const session = await sessionOf(new ScriptedProvider([{ fail }]))
      .withObserver(observer)
      .build();
    await session.ask("Hi");
    const [chat, turn] = (await spans()) as [SpanJson, SpanJson];
    expect([chat.status.code, turn.status.code]).toEqual([2, 2]);
    expect(attributes(chat.attributes)).toMatchObject({
      "error.type": "badRequest",
      "http.response.status_code": 400,
      "gen_ai.response.finish_reasons": ["error"],
    });
    const [point] = await points("gen_ai.client.operation.duration");
    expect(attributes(point?.attributes ?? [])["error.type"]).toBe("badRequest");
  });

  it("ends every span of a turn that is aborted, also of a tool that does not hear it", async () => {
    const { observer, spans } = await receiver();
    const never = new Gate();
    const deaf = new FnTool("deaf", "Hangs.", { type: "object", properties: {} }, async () => {
      session.abort();
      await never.wait();
      return "";
    });
    const session = await sessionOf(new ScriptedProvider([{ call: "deaf" }]), deaf)
      .withObserver(observer)
      .build();
    await session.ask("Hi");
    const all = await spans();
    expect(all.map(({ name }) => name).sort()).toEqual(["chat m", "execute_tool deaf", "invoke_agent"]);
    const tool = all.find(({ name }) => name === "execute_tool deaf");
    expect(attributes(tool?.attributes ?? [])).toMatchObject({ "error.type": "cancelled" });
  });
});
