import type { AnyAgentSession } from "@shedkit/agent";
import { capabilitiesFor, ToolCallResult, type ToolImpl } from "@shedkit/tool";
import { AgenticError, type JsonSchema, type ToolArguments } from "@shedkit/types";
import { isObject, type JsonObject } from "../body.js";
import { ParamError } from "./error.js";

/** A function that the client runs. */
export interface ClientTool {
  name: string;
  description: string;
  parameters: JsonSchema;
}

/** A call that the client is to run. */
export interface ClientCall {
  id: string;
  name: string;
  /** As JSON. */
  arguments: string;
}

/** How long a client's call may take. In milliseconds. */
export const CLIENT_CALL_MS = 600_000;
/** A call that runs beside those of the client is waited for no longer before these are handed over. In milliseconds. */
const BESIDE_MS = 250;

const NO_PARAMETERS: JsonObject = { type: "object", properties: {} };

/** The functions of a request, in the form of chats or of responses; none with `tool_choice: "none"`. Throws ParamError. */
export function clientToolsParam(body: JsonObject): ClientTool[] {
  const { tools, tool_choice: choice } = body;
  if (choice !== undefined && choice !== null && choice !== "auto" && choice !== "none") {
    throw new ParamError("tool_choice", 'The model chooses: "tool_choice" can be "auto" or "none" here.');
  }
  if (tools === undefined || tools === null || choice === "none") return [];
  if (!Array.isArray(tools)) throw new ParamError("tools", '"tools" must be a list of functions.');
  return tools.map((tool, i) => {
    const param = `tools[${i}]`;
    const { type, function: inner } = isObject(tool) ? tool : {};
    if (type !== "function") {
      const message = `Tools of type ${JSON.stringify(type ?? null)} are not taken here; "function" is.`;
      throw new ParamError(`${param}.type`, message);
    }
    const given = isObject(inner) ? inner : (tool as JsonObject);
    const { name, description = null, parameters } = given;
    if (typeof name !== "string" || !/^[\w-]{1,64}$/.test(name) || name === "shed") {
      const message = `${JSON.stringify(name ?? null)} cannot be the name of a function: letters, digits, "_" and "-".`;
      throw new ParamError(`${param}.name`, message);
    }
    if (parameters !== undefined && parameters !== null && !isObject(parameters)) {
      throw new ParamError(`${param}.parameters`, "The parameters must be a JSON Schema.");
    }
    return {
      name,
      description: typeof description === "string" ? description : "",
      parameters: parameters ?? NO_PARAMETERS,
    };
  });
}

interface Waiting {
  call: ClientCall;
  resolve(result: ToolCallResult): void;
}

/** The functions of a client as tools of a session: a call of one waits for what the client says of it. */
export class ClientTools {
  readonly #tools: readonly ClientTool[];
  readonly #parallel: boolean;
  readonly #waiting = new Map<string, Waiting>();
  /** Of the client's, those that the model has made and that have no result. */
  readonly #open = new Set<string>();
  #beside: Promise<void> | undefined;
  #wake: () => void = () => undefined;

  /** `parallel`: several calls are handed over together. */
  constructor(tools: readonly ClientTool[], parallel: boolean) {
    this.#tools = tools;
    this.#parallel = parallel;
  }

  /**
   * Gives them to a session, declared from the start; where it has a tool of that name, the client's takes its place.
   * Returns what takes them away again. Throws ParamError.
   */
  register({ toolManager }: AnyAgentSession): () => void {
    const replaced: ToolImpl[] = [];
    const added: string[] = [];
    const undo = () => {
      for (const name of added) toolManager.deregister(name);
      for (const tool of replaced) toolManager.register(tool);
    };
    for (const [i, tool] of this.#tools.entries()) {
      const own = toolManager.get(tool.name);
      if (own !== undefined) {
        toolManager.deregister(tool.name);
        if (!added.includes(tool.name)) replaced.push(own);
      }
      try {
        toolManager.register(this.#toolOf(tool));
        added.push(tool.name);
      } catch (error) {
        undo();
        if (AgenticError.is(error)) throw new ParamError(`tools[${i}]`, error.message);
        throw error;
      }
    }
    toolManager.activate(added, "pin");
    return undo;
  }

  has(name: string): boolean {
    return this.#tools.some((tool) => tool.name === name);
  }

  /** The model has made a call. */
  made(id: string, name: string): void {
    if (this.has(name)) this.#open.add(id);
    this.#beside = undefined;
  }

  /** A call has its result. */
  ended(id: string): void {
    this.#open.delete(id);
    this.#beside = undefined;
  }

  /** The calls that wait for the client; the first of them where it takes one at a time. */
  get calls(): ClientCall[] {
    const calls = [...this.#waiting.values()].map(({ call }) => call);
    return this.#parallel ? calls : calls.slice(0, 1);
  }

  /** Resolves when there are calls to hand over and no more of them are to be waited for. Listens to what happens last. */
  async ready(): Promise<void> {
    while (this.#waiting.size === 0) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const all = !this.#parallel || [...this.#open].every((id) => this.#waiting.has(id));
    if (all) return wait(0); // what has happened meanwhile is heard first
    this.#beside ??= wait(BESIDE_MS);
    return this.#beside;
  }

  /** What the client says of a call. False where it does not wait. */
  answer(id: string, text: string): boolean {
    const waiting = this.#waiting.get(id);
    waiting?.resolve(ToolCallResult.text(text));
    return waiting !== undefined;
  }

  /** Ends all that waits, with a word to the model. */
  refuse(why: string): void {
    for (const { resolve } of this.#waiting.values()) resolve(ToolCallResult.failure(why));
  }

  #toolOf({ name, description, parameters }: ClientTool): ToolImpl {
    return {
      definition: () => ({
        type: "single",
        definition: { name, category: "client", description, arguments: parameters },
      }),
      metadata: {
        id: name,
        namespace: "client",
        kind: "other",
        // What it does is done elsewhere; calls of one batch are all handed over.
        capabilities: capabilitiesFor("other", { readOnly: true, idempotent: false, timeoutMs: 2 * CLIENT_CALL_MS }),
        foreign: true,
      },
      execute: (args, { callId, signal }) => this.#hand({ id: callId, name, arguments: JSON.stringify(args) }, signal),
    };
  }

  #hand(call: ClientCall, signal: AbortSignal): Promise<ToolCallResult> {
    return new Promise((resolve, reject) => {
      const over = () => {
        this.#waiting.delete(call.id);
        signal.removeEventListener("abort", broken);
      };
      const broken = () => {
        over();
        reject(signal.reason);
      };
      signal.addEventListener("abort", broken, { once: true });
      this.#waiting.set(call.id, {
        call,
        resolve: (result) => {
          over();
          resolve(result);
        },
      });
      this.#wake();
    });
  }
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Arguments of a call that a client brings along, as the log has them. */
export function argumentsOf(text: string): { arguments?: ToolArguments; rawArguments?: string } {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value))
      return { arguments: value as ToolArguments };
  } catch {
    // then it stays the text that it is
  }
  return { rawArguments: text };
}
