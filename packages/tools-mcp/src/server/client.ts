import { type CallToolResult, type Tool as McpTool, ProtocolError, Server } from "@modelcontextprotocol/server";
import type { ToolCallManager, ToolCallOutcome, ToolCallRequest } from "@shedkit/shed";
import { callGates, gateRefusal, metadataOf, type Progress, ToolError, userAnswers } from "@shedkit/tool";
import { functionSpec, type JsonSchema, type Tool, type ToolArguments } from "@shedkit/types";
import { toCallResult } from "./content.js";
import type { ServeShedOptions } from "./options.js";

const SHED = "shed";
const INVALID_PARAMS = -32602;

/** What a client that never looks at the list again needs, since it offers its model no more than it first saw. */
const CALL_PROPERTY = {
  type: "object",
  description: "Calls one of the tools found, where it is not offered to you by itself. Then nothing is looked up.",
  properties: { name: { type: "string" }, arguments: { type: "object" } },
  required: ["name"],
  additionalProperties: false,
};

/** One client of a served shed, with tools of its own. */
export function serverFor(manager: ToolCallManager, options: ServeShedOptions): Server {
  const byShed = options.offer === "shed";
  const server = new Server(
    { name: options.name ?? "shedkit", version: options.version ?? "0.1.0" },
    {
      capabilities: { tools: { listChanged: true } },
      ...(options.instructions !== undefined && { instructions: options.instructions }),
    },
  );
  const list = (): McpTool[] => {
    const { shed, tools } = byShed ? manager.offeredTools() : { ...manager.allDeclarations(), shed: undefined };
    return [...(shed ? [shedDefinition(shed)] : []), ...tools.map((tool) => definitionOf(tool, manager))];
  };
  let told = names(list());
  const tellChanges = (): void => {
    const now = names(list());
    if (now === told) return;
    told = now;
    void server.sendToolListChanged().catch(() => {}); // a client that is gone needs no word
  };
  server.setRequestHandler("tools/list", () => {
    const tools = list();
    told = names(tools);
    return { tools };
  });
  let calls = 0;
  server.setRequestHandler("tools/call", async ({ params }, ctx): Promise<CallToolResult> => {
    const { name, args } = targetOf(params.name, (params.arguments ?? {}) as ToolArguments, byShed);
    const isKnown = manager.get(name) !== undefined || (byShed && name === SHED);
    if (!isKnown && !list().some((tool) => tool.name === name))
      throw new ProtocolError(INVALID_PARAMS, `There is no tool "${name}".`);
    const token = params._meta?.progressToken;
    const signs =
      token === undefined
        ? undefined
        : new Signs((sign) =>
            ctx.mcpReq.notify({
              method: "notifications/progress",
              params: { progressToken: token, ...sign },
            }),
          );
    const request = { id: `mcp-${++calls}`, name, arguments: args };
    const outcome = await run(manager, request, byShed, options, ctx.mcpReq.signal, (progress) =>
      signs?.send(progress),
    );
    await signs?.sent();
    tellChanges();
    return toCallResult(outcome, outputSchemaOf(manager.get(params.name)?.definition()));
  });
  return server;
}

async function run(
  manager: ToolCallManager,
  request: ToolCallRequest,
  byShed: boolean,
  { before }: ServeShedOptions,
  signal: AbortSignal,
  onProgress: (progress: Progress) => void,
): Promise<ToolCallOutcome> {
  // A client may call what its model read of in an answer of `shed`, whatever list it saw.
  if (byShed && request.name !== SHED && !manager.isActive(request.name)) {
    try {
      manager.checkOffered(request.name);
    } catch {
      // Unless the shed is strict, it is active now.
    }
  }
  const leave = async (call: ToolCallRequest, attempt: number): Promise<void> => {
    if (attempt === 1) await allow(manager, call, before);
  };
  const options = {
    signal,
    offeredOnly: byShed,
    before: leave,
    beforeInner: (call: ToolCallRequest, outer: ToolCallRequest) => allow(manager, call, before, outer.id),
    progress: (_: unknown, sign: Progress) => onProgress(sign),
  };
  try {
    for await (const outcome of manager.runCalls([request], options)) return outcome;
  } finally {
    manager.resources.get(userAnswers)?.delete(request.id);
  }
  throw new ToolError("custom", request.name, `${request.name} ended without a result.`);
}

/** Throws ToolError where a call may not run. `id` is that of the client's call, whatever call it is part of. */
async function allow(
  manager: ToolCallManager,
  call: ToolCallRequest,
  before: ServeShedOptions["before"],
  id = call.id,
): Promise<void> {
  const impl = manager.get(call.name);
  if (impl === undefined) return;
  const { access, asks } = metadataOf(impl);
  const { kind, capabilities } = manager.metadata(call.name) ?? metadataOf(impl);
  const { resources } = manager;
  if (before === undefined && asks === undefined && !resources.get(callGates)?.size) return;
  const args = manager.validateArguments(call);
  try {
    const told = { tool: call.name, kind, capabilities, arguments: args, access: access?.(args) ?? [] };
    const refusal = gateRefusal(resources, told);
    if (refusal !== undefined) throw new Error(refusal);
    const asking = asks?.(args) ?? false;
    if (before) {
      await before({ ...told, asks: asking });
      if (asking) resources.getOrDefault(userAnswers, () => new Map()).set(id, null); // let run, and no more said
    } else if (asking) throw new Error("it waits for a person's yes, and this server has nobody to ask");
  } catch (fault) {
    if (fault instanceof ToolError) throw fault;
    const message = `${call.name} may not be called: ${fault instanceof Error ? fault.message : String(fault)}`;
    throw new ToolError("permissionDenied", call.name, message, { cause: fault });
  }
}

/** What is really called: `shed` passes a call on. */
function targetOf(name: string, args: ToolArguments, byShed: boolean): { name: string; args: ToolArguments } {
  if (!byShed || name !== SHED || args.call === undefined) return { name, args };
  const { name: inner, arguments: own = {} } = args.call as { name?: unknown; arguments?: ToolArguments };
  if (typeof inner !== "string") throw new ProtocolError(INVALID_PARAMS, "call.name: wanted the name of a tool.");
  return { name: inner, args: own };
}

function shedDefinition(shed: Tool): McpTool {
  const { name, description, parameters } = functionSpec(shed);
  const { properties } = parameters as { properties: object };
  // One of the two is needed; a client's model that gives neither is told so.
  const inputSchema = { ...parameters, properties: { ...properties, call: CALL_PROPERTY }, required: [] };
  const text = `${description} One that is not offered to you afterwards is called by \`call\`.`;
  return { name, description: text, inputSchema: asObject(inputSchema), annotations: { readOnlyHint: false } };
}

function definitionOf(tool: Tool, manager: ToolCallManager): McpTool {
  const { name, description, parameters } = functionSpec(tool);
  const impl = manager.get(name);
  const capabilities = impl && metadataOf(impl).capabilities;
  const outputSchema = outputSchemaOf(tool);
  return {
    name,
    description,
    inputSchema: asObject(parameters),
    ...(outputSchema && { outputSchema }),
    ...(capabilities && {
      annotations: {
        readOnlyHint: capabilities.readOnly,
        destructiveHint: capabilities.destructive,
        idempotentHint: capabilities.idempotent,
      },
    }),
  };
}

/** What a client may hold a tool's results against: the protocol has structured results only where one is declared. */
function outputSchemaOf(tool: Tool | undefined): McpTool["outputSchema"] {
  const returns = tool && functionSpec(tool).returns;
  return returns !== undefined && "type" in returns && returns.type === "object" ? asObject(returns) : undefined;
}

function asObject(schema: JsonSchema): McpTool["inputSchema"] {
  return { ...schema, type: "object" };
}

function names(tools: readonly McpTool[]): string {
  return tools.map(({ name }) => name).join(" ");
}

interface Sign {
  progress: number;
  total?: number;
  message?: string;
}

/** Sends progress in order, one after the other, and never holds up the tool. */
class Signs {
  readonly #notify: (sign: Sign) => Promise<void>;
  #last = Promise.resolve();
  #waiting = 0;
  #count = 0;

  constructor(notify: (sign: Sign) => Promise<void>) {
    this.#notify = notify;
  }

  send({ text, data }: Progress): void {
    if (this.#waiting >= MAX_WAITING) return; // a client that reads slowly misses some
    const steps = data as { progress?: unknown; total?: unknown } | undefined;
    // The protocol wants it to grow with each.
    this.#count = Math.max(this.#count + 1, typeof steps?.progress === "number" ? steps.progress : 0);
    const sign = {
      progress: this.#count,
      ...(typeof steps?.total === "number" && { total: steps.total }),
      ...(text !== undefined && { message: text }),
    };
    this.#waiting++;
    this.#last = this.#last
      .then(() => this.#notify(sign))
      .then(undefined, () => {})
      .finally(() => this.#waiting--);
  }

  sent(): Promise<void> {
    return this.#last;
  }
}

const MAX_WAITING = 100;
