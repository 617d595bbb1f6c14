import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { ModelEvent, ModelRequest } from "@shedkit/provider";
import { type TinyOnnxOptions, tinyOnnx } from "@shedkit/testing";
import { type Message, Messages, type SessionId, type Tool, type ToolDeclarations } from "@shedkit/types";
import { afterAll } from "vitest";
import { TransformersProvider } from "../src/index.js";

/** Holds the models of a test file; removed after it. */
export const folder = mkdtempSync(join(tmpdir(), "transformers-"));

const providers: TransformersProvider[] = [];
let models = 0;

afterAll(async () => {
  await Promise.all(providers.map((provider) => provider.close()));
  rmSync(folder, { recursive: true, force: true });
});

/** A provider on one thread that is closed after the test file. */
export function cpuProvider(options: ConstructorParameters<typeof TransformersProvider>[0] = {}): TransformersProvider {
  const provider = new TransformersProvider({ threads: 1, ...options });
  providers.push(provider);
  return provider;
}

/** Writes a tiny model; returns its folder. */
export function tinyModel(options: TinyOnnxOptions = {}): string {
  const root = join(folder, `tiny-${++models}`);
  for (const [path, bytes] of Object.entries(tinyOnnx(options))) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), bytes);
  }
  return root;
}

const noTools: ToolDeclarations = { tools: [], activations: [] };

export function tool(name: string, properties: object): Tool {
  const args = { type: "object", properties, additionalProperties: false };
  return { type: "single", definition: { name, category: "test", description: `The tool ${name}`, arguments: args } };
}

export function request(
  model: string,
  messages: readonly (Message | string)[],
  extra: Partial<Omit<ModelRequest, "model" | "messages">> & { session?: string } = {},
): ModelRequest {
  const { session, ...rest } = extra;
  return {
    model: { name: model },
    messages: messages.map((message) => (typeof message === "string" ? Messages.user(message) : message)),
    tools: noTools,
    params: {},
    ...(session !== undefined && { sessionId: session as SessionId }),
    ...rest,
  };
}

export async function collect(events: AsyncIterable<ModelEvent>): Promise<ModelEvent[]> {
  const all: ModelEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

/** The one event of a type that there must be. */
export function only<T extends ModelEvent["type"]>(events: readonly ModelEvent[], type: T): ModelEvent & { type: T } {
  const found = events.filter((event): event is ModelEvent & { type: T } => event.type === type);
  const [first] = found;
  if (first === undefined || found.length > 1) {
    throw new Error(`${found.length} events of type ${type} in ${JSON.stringify(events)}`);
  }
  return first;
}

export function outputs(events: readonly ModelEvent[]) {
  return events.flatMap((event) => (event.type === "output" ? [event.output] : []));
}
