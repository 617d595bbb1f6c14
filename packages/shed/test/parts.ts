import { capabilitiesFor, Resources, type SessionParts, ToolCallResult, type ToolImpl } from "@shedkit/tool";
import type { Embedder, SessionId, ToolArguments } from "@shedkit/types";
import { ToolCallManager } from "../src/index.js";
import type { ManagerOptions } from "../src/options.js";
import type { ToolCallRequest } from "../src/types.js";

const SESSION = "01test" as SessionId;

export function parts(embedder?: Embedder): SessionParts {
  return {
    sessionId: SESSION,
    context: { search: async () => [] },
    memory: { facts: async () => [], edit: async () => 1 },
    resources: new Resources(),
    ...(embedder ? { embedder } : {}),
  };
}

interface ToolOptions {
  description?: string;
  category?: string;
  readOnly?: boolean;
  idempotent?: boolean;
  touches?: (args: ToolArguments) => readonly string[];
  run?: (args: ToolArguments, signal: AbortSignal) => Promise<ToolCallResult | string> | string;
  shouldList?: () => boolean;
}

/** A tool that takes an optional `path` and answers its name, unless told otherwise. */
export function tool(name: string, options: ToolOptions = {}): ToolImpl {
  const { description = `The tool ${name}.`, category = "test", run = () => name, shouldList } = options;
  return {
    definition: () => ({
      type: "single",
      definition: {
        name,
        category,
        description,
        arguments: {
          type: "object",
          properties: { path: { type: "string", description: "A path." } },
          additionalProperties: false,
        },
      },
    }),
    metadata: {
      id: name,
      namespace: "test",
      kind: options.readOnly ? "read" : "other",
      capabilities: capabilitiesFor("other", {
        readOnly: options.readOnly ?? false,
        idempotent: options.idempotent ?? options.readOnly ?? false,
        ...(options.touches ? { touches: options.touches } : {}),
      }),
      ...(shouldList ? { shouldList } : {}),
    },
    async execute(args, ctx) {
      const result = await run(args, ctx.signal);
      return typeof result === "string" ? ToolCallResult.text(result) : result;
    },
  };
}

export function manager(tools: readonly ToolImpl[], options: ManagerOptions = {}): ToolCallManager {
  const made = new ToolCallManager(SESSION, options);
  for (const each of tools) made.register(each);
  return made;
}

export function call(id: string, name: string, extra: Partial<ToolCallRequest> = {}): ToolCallRequest {
  return { id, name, arguments: {}, ...extra };
}

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}
