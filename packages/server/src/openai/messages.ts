import {
  type ContentPart,
  type JsonValue,
  type Message,
  Messages,
  type ModelOutput,
  newId,
  type UserMessage,
} from "@shedkit/types";
import { isObject, type JsonObject } from "../body.js";
import { argumentsOf } from "./client-tools.js";
import { ParamError } from "./error.js";
import type { CallResult } from "./parked.js";

/** A conversation that a client brought: what was said, and what the agent is asked now. */
export interface Brought {
  history: Message[];
  prompt: UserMessage;
  /** The results of calls that stand behind all that was said: what an answer that waits for them goes on with. */
  results: CallResult[];
}

/** What the agent is told where the client says nothing but what its calls came to. */
const GO_ON = "The results of the calls are there. Go on.";

/** The messages of a request. The last ones must be the user's, or results of calls. Throws ParamError. */
export function broughtMessages(items: readonly JsonValue[], param: string, model: string): Brought {
  const reader = new Reader(model);
  const history = items.flatMap((item, i) => reader.messages(item, `${param}[${i}]`));
  const last = history.at(-1);
  if (last?.type === "toolResult") {
    return { history, prompt: Messages.agent(GO_ON), results: reader.results };
  }
  if (last?.type === "user" && last.role === "user") {
    return { history: history.slice(0, -1), prompt: last, results: [] };
  }
  throw new ParamError(param, `The last of "${param}" must be a message of the user, or the result of a call.`);
}

export function systemMessage(text: string): UserMessage {
  return { type: "user", id: newId(), role: "system", content: [{ type: "text", text }] };
}

export function userText(text: string): UserMessage {
  return { type: "user", id: newId(), role: "user", content: [{ type: "text", text }] };
}

/** Reads one message after the other: a result belongs to a call before it. */
class Reader {
  /** Those behind the last message. */
  results: CallResult[] = [];
  readonly #model: string;
  readonly #calls = new Map<string, Extract<Message, { type: "assistant" }>>();

  constructor(model: string) {
    this.#model = model;
  }

  messages(item: JsonValue, param: string): Message[] {
    const given = isObject(item) ? item : {};
    const { type = "message", role } = given;
    if (type === "function_call") return [this.#call(given.call_id, given, param)];
    if (type === "function_call_output") return [this.#result(given.call_id, given.output, `${param}.output`)];
    if (type === "reasoning") return []; // thoughts are the agent's own, and not shown to clients
    if (type !== "message")
      throw new ParamError(`${param}.type`, `Items of type "${String(type)}" are not taken here.`);
    if (role === "tool") return [this.#result(given.tool_call_id, given.content, `${param}.content`)];
    this.results = [];
    const calls = role === "assistant" && Array.isArray(given.tool_calls) ? given.tool_calls : [];
    const empty = calls.length > 0 && (given.content === null || given.content === undefined || given.content === "");
    const parts = empty ? [] : contentOf(given.content, `${param}.content`);
    switch (role) {
      case "user":
        return [{ type: "user", id: newId(), role: "user", content: parts }];
      case "system":
      case "developer":
        return [{ type: "user", id: newId(), role: "system", content: parts }];
      case "assistant": {
        const text = parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
        const step = { turnId: newId(), stepId: newId() };
        const said = empty ? [] : [this.#answer({ type: "text", text }, step)];
        const made = calls.map((call, i) => {
          const { id, function: called } = isObject(call) ? call : {};
          return this.#call(id, isObject(called) ? called : {}, `${param}.tool_calls[${i}]`, step);
        });
        return [...said, ...made];
      }
      default:
        throw new ParamError(`${param}.role`, `Messages of the role "${String(role)}" are not taken here.`);
    }
  }

  #answer(output: ModelOutput, step = { turnId: newId(), stepId: newId() }): Extract<Message, { type: "assistant" }> {
    return { type: "assistant", id: newId(), ...step, model: this.#model, output };
  }

  #call(id: JsonValue | undefined, { name, arguments: args }: JsonObject, param: string, step?: Step): Message {
    if (typeof id !== "string" || typeof name !== "string" || typeof args !== "string") {
      throw new ParamError(param, `"${param}" must have the texts of a call: its id, its name and its arguments.`);
    }
    this.results = [];
    const message = this.#answer({ type: "toolCall", id, name, ...argumentsOf(args) }, step);
    this.#calls.set(id, message);
    return message;
  }

  #result(id: JsonValue | undefined, content: JsonValue | undefined, param: string): Message {
    const call = typeof id === "string" ? this.#calls.get(id) : undefined;
    const text = contentOf(content, param)
      .map((part) => (part.type === "text" ? part.text : ""))
      .join("");
    this.results.push({ id: String(id), text, param, orphan: call === undefined });
    const name = call?.output.type === "toolCall" ? call.output.name : "";
    const { turnId, stepId } = call ?? { turnId: newId(), stepId: newId() };
    const result = { toolCallId: String(id), name, content: [{ type: "text" as const, text }] };
    return { type: "toolResult", id: newId(), turnId, stepId, ...result };
  }
}

interface Step {
  turnId: string;
  stepId: string;
}

function contentOf(content: JsonValue | undefined, param: string): ContentPart[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  if (!Array.isArray(content)) throw new ParamError(param, `"${param}" must be a text or a list of parts.`);
  return content.map((part, i) => partOf(part, `${param}[${i}]`));
}

function partOf(part: JsonValue, param: string): ContentPart {
  const { type, text, image_url: image } = isObject(part) ? part : {};
  switch (type) {
    case "text":
    case "input_text":
    case "output_text":
      if (typeof text === "string") return { type: "text", text };
      throw new ParamError(`${param}.text`, `"${param}.text" must be a text.`);
    case "image_url":
    case "input_image": {
      const url = isObject(image) ? image.url : image;
      if (typeof url !== "string") throw new ParamError(`${param}.image_url`, "An image must have a URL.");
      const data = /^data:([\w/+.-]+);base64,([A-Za-z0-9+/=]+)$/.exec(url);
      if (data) return { type: "image", source: { type: "base64", data: data[2] ?? "" }, mediaType: data[1] ?? "" };
      return { type: "image", source: { type: "url", url }, mediaType: "image/*" };
    }
    default:
      throw new ParamError(`${param}.type`, `Parts of type "${String(type)}" are not taken here.`);
  }
}
