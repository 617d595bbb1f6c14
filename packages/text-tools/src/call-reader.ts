import type { JsonValue, ToolArguments } from "@shedkit/types";
import type { TextEvent } from "./family.js";
import { JsonScanner, type Member } from "./json-scanner.js";

const ARGUMENT_KEYS = ["arguments", "parameters", "args"];
const LONG_INTEGER = /(?<![.\d])\d{16}/; // not the digits of a fraction

type CallEvent = Extract<TextEvent, { type: "call" }>;

/** Reads one call, `{"name": ..., "arguments": {...}}`, as its text comes. */
export class CallReader {
  #text = "";
  #scanner: JsonScanner | undefined;
  #offset = 0; // where the object begins
  #started = false;
  #streamed = 0;

  /** Everything read so far. */
  get text(): string {
    return this.#text;
  }

  /** Where the call's object ends in `text`, once it is whole. */
  get objectEnd(): number | undefined {
    return this.#scanner?.end === undefined ? undefined : this.#offset + this.#scanner.end;
  }

  /** Whether the text cannot be a call object: it begins with something else. */
  get notAnObject(): boolean {
    return this.#scanner === undefined && this.#text.trim() !== "";
  }

  push(text: string): TextEvent[] {
    this.#text += text;
    if (!this.#scanner) {
      this.#offset = this.#text.search(/\S/);
      if (this.#offset < 0 || this.#text.charAt(this.#offset) !== "{") return [];
      this.#scanner = new JsonScanner();
    }
    const object = this.#object();
    this.#scanner.read(object);
    return this.#stream(this.#scanner.members, object);
  }

  /** The calls that a text between the markers holds. Empty: it holds none. */
  finish(body: string): TextEvent[] {
    const calls =
      this.#scanner?.end === undefined ? brokenCalls(body) : objectCall(this.#scanner.members, this.#object());
    return calls.flatMap((call, i) => [...(i === 0 && this.#started ? [] : announced(call)), call]);
  }

  #object(): string {
    return this.#offset === 0 ? this.#text : this.#text.slice(this.#offset);
  }

  /** Shows arguments while they come, where the name came first and they are an object. */
  #stream(members: readonly Member[], object: string): TextEvent[] {
    const name = members[0];
    const args = members[1];
    if (name?.key !== "name" || !args || !ARGUMENT_KEYS.includes(args.key) || object.charAt(args.start) !== "{")
      return [];
    const events: TextEvent[] = [];
    if (!this.#started) {
      const text = parsed(object.slice(name.start, name.end));
      if (typeof text !== "string" || text === "") return [];
      this.#started = true;
      this.#streamed = args.start;
      events.push({ type: "callStart", name: text });
    }
    const end = args.end ?? object.length;
    if (end > this.#streamed) events.push({ type: "callDelta", json: object.slice(this.#streamed, end) });
    this.#streamed = Math.max(end, this.#streamed);
    return events;
  }
}

function announced(call: CallEvent): TextEvent[] {
  const json = call.rawArguments ?? JSON.stringify(call.arguments ?? {});
  return [
    { type: "callStart", name: call.name },
    { type: "callDelta", json },
  ];
}

function objectCall(members: readonly Member[], object: string): CallEvent[] {
  const raw = (member: Member) => object.slice(member.start, member.end).trim();
  const nameMember = members.find((member) => member.key === "name");
  const name = nameMember && parsed(raw(nameMember));
  if (typeof name !== "string" || name === "") return [];
  const args = members.find((member) => ARGUMENT_KEYS.includes(member.key));
  if (args) return [{ type: "call", name, ...readArguments(raw(args)) }];
  // Some models write the arguments beside the name.
  const rest = members.filter((member) => member !== nameMember && member.key !== "id" && member.key !== "type");
  const json = `{${rest.map((member) => `${JSON.stringify(member.key)}: ${raw(member)}`).join(", ")}}`;
  return [{ type: "call", name, ...readArguments(json) }];
}

/** Calls in a text that is no single whole object: a list of calls, or one that broke off or has a slip in it. */
function brokenCalls(body: string): CallEvent[] {
  const list = parsed(body);
  if (Array.isArray(list)) {
    return list.flatMap((item: unknown) => {
      const reader = new CallReader();
      reader.push(JSON.stringify(item));
      return reader.finish(reader.text).filter((event): event is CallEvent => event.type === "call");
    });
  }
  const name = /"name"\s*:\s*"([^"\\]+)"/.exec(body)?.[1];
  if (name === undefined || !body.trimStart().startsWith("{")) return [];
  const args = /"(?:arguments|parameters|args)"\s*:\s*/.exec(body);
  const raw = args ? body.slice(args.index + args[0].length).trim() : "";
  return [{ type: "call", name, rawArguments: raw }];
}

/** The arguments that a JSON text holds: an object, an object written as a string, or the text as it is. */
export function readArguments(raw: string): Pick<CallEvent, "arguments" | "rawArguments"> {
  const value = parsed(raw);
  if (value === null) return { arguments: {} };
  const text = typeof value === "string" ? value : raw;
  const object = typeof value === "string" ? parsed(value) : value;
  if (typeof value === "string" && value.trim() === "") return { arguments: {} };
  if (typeof object !== "object" || object === null || Array.isArray(object) || LONG_INTEGER.test(text)) {
    return { rawArguments: text };
  }
  return { arguments: object as ToolArguments };
}

function parsed(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}
