import { AgentSession, type PermissionPolicy } from "@shedkit/agent";
import type { ModelProvider } from "@shedkit/provider";
import { ToolShed } from "@shedkit/shed";
import { type DocumentStore, MemoryDocumentStore } from "@shedkit/store";
import { FnTool, type ToolImpl } from "@shedkit/tool";
import type { SessionRecord } from "@shedkit/types";
import { onTestFinished } from "vitest";
import { createServer, newToken, type OpenRequest, type ServerOptions } from "../src/index.js";
import { type Listening, listen } from "../src/node.js";

export const TOKEN = newToken();

/** A server on loopback whose sessions talk to `provider`; closed when the test is over. */
export interface Served extends Listening {
  docStore: DocumentStore;
  /** With the token. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Response>;
  json<T = Record<string, unknown>>(method: string, path: string, body?: unknown): Promise<T>;
  /** A new session's id. */
  session(): Promise<string>;
  events(session: string, after?: string, signal?: AbortSignal): AsyncGenerator<SseEvent, void, void>;
  opened: OpenRequest[];
}

export interface ServeOptions extends Partial<ServerOptions> {
  tools?: readonly ToolImpl[];
  permissions?: PermissionPolicy;
  /** Whether the tools are active from the start. Default: true. */
  pinned?: boolean;
  /** Default: a free one. */
  port?: number;
}

export async function serve(provider: ModelProvider, options: ServeOptions = {}): Promise<Served> {
  const { tools = [], permissions, pinned = true, port, ...rest } = options;
  const docStore = options.docStore ?? new MemoryDocumentStore();
  const opened: OpenRequest[] = [];
  const server = createServer({
    token: TOKEN,
    models: [{ id: "m", name: "Model M" }, { id: "other" }],
    open: (request) => {
      opened.push(request);
      const all = new ToolShed().tools(tools);
      const shed = pinned ? all.pin(...tools.map(nameOf)) : all;
      let builder = AgentSession.builder(provider)
        .withModel(request.model ?? "m")
        .withToolshed(shed)
        .withDocStore(request.docStore)
        .withSessionId(request.sessionId);
      if (permissions) builder = builder.withPermissions(permissions);
      return builder.build();
    },
    ...rest,
    docStore,
  });
  const listening = await listen(server, { port });
  onTestFinished(() => listening.close());
  const call: Served["call"] = (method, path, body, headers = {}) =>
    fetch(`${listening.url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${TOKEN}`,
        ...(body !== undefined && { "content-type": "application/json" }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
  const json: Served["json"] = async (method, path, body) => {
    const response = await call(method, path, body);
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text === "" ? {} : JSON.parse(text);
  };
  return {
    ...listening,
    docStore,
    opened,
    call,
    json,
    session: async () => (await json<{ id: string }>("POST", "/api/sessions", {})).id,
    async *events(session, after, signal) {
      const headers = after === undefined ? {} : { "last-event-id": after };
      const response = await fetch(`${listening.url}/api/sessions/${session}/events`, {
        headers: { authorization: `Bearer ${TOKEN}`, ...headers },
        ...(signal && { signal }),
      });
      if (!response.ok || !response.body) throw new Error(`events: ${response.status} ${await response.text()}`);
      yield* sseEvents(response.body);
    },
  };
}

function nameOf(tool: ToolImpl): string {
  const definition = tool.definition();
  return definition.type === "single" ? definition.definition.name : definition.name;
}

export interface SseEvent {
  event: string;
  id?: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: what came over the wire is looked at by the test
  data: any;
}

async function* sseEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<SseEvent, void, void> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const piece of body) {
    text += decoder.decode(piece, { stream: true });
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      const fields = new Map(
        text
          .slice(0, end)
          .split("\n")
          .map((line) => line.split(/: (.*)/s, 2) as [string, string]),
      );
      text = text.slice(end + 2);
      const data = fields.get("data");
      if (data !== undefined)
        yield { event: fields.get("event") ?? "message", id: fields.get("id"), data: JSON.parse(data) };
    }
  }
}

/** Reads events until one is the last record of a turn, or as `isLast` says. */
export async function until(
  events: AsyncIterable<SseEvent>,
  isLast: (event: SseEvent) => boolean = isTurnEnd,
): Promise<SseEvent[]> {
  const seen: SseEvent[] = [];
  for await (const event of events) {
    seen.push(event);
    if (isLast(event)) break;
  }
  return seen;
}

export function isTurnEnd({ event, data }: SseEvent): boolean {
  return event === "record" && (data.type === "summary" || data.type === "failedAction");
}

export function recordsOf(events: readonly SseEvent[]): SessionRecord[] {
  return events.filter(({ event }) => event === "record").map(({ data }) => data as SessionRecord);
}

const textArgument = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };

export function echoTool(): FnTool {
  return new FnTool("echo", "Says a text back.", textArgument, async (args) => `echo: ${args.str("text")}`);
}

/** Asks for leave for every call. */
export const asking: PermissionPolicy = { decide: async () => "ask" };
