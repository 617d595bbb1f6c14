import type { AnswerSink } from "@shedkit/provider/adapter";
import type { WireCall, WireFunction } from "./wire.js";

interface Call {
  key: string;
  index: number | undefined;
  id: string;
  name: string;
  begun: boolean;
  /** What came before the name did. */
  early: string;
}

/**
 * Tells which call a delta belongs to, whatever the server leaves out: by index; by id where there is no index; else
 * the last call goes on. A new id with a name begins a new call, also on an index that was used; so does, without ids, a
 * new name, or a name with arguments behind arguments that were whole.
 */
export class CallReader {
  readonly #sink: AnswerSink;
  readonly #calls: Call[] = [];

  constructor(sink: AnswerSink) {
    this.#sink = sink;
  }

  read(wire: WireCall): void {
    const id = typeof wire.id === "string" ? wire.id : "";
    this.#feed(this.#find(wire, id), id, wire.function ?? {});
  }

  /** The form before tools: one call a message. */
  readLegacy(wire: WireFunction): void {
    this.#feed(this.#calls.at(-1) ?? this.#add(undefined, ""), "", wire);
  }

  #find(wire: WireCall, id: string): Call {
    const index = wire.index ?? undefined;
    const named = Boolean(wire.function?.name);
    const real = id !== "" && id !== "null";
    const known =
      index === undefined
        ? (this.#calls.findLast((call) => real && call.id === id) ?? (named ? undefined : this.#calls.at(-1)))
        : this.#calls.findLast((call) => call.index === index);
    const anew = known?.begun && named && (real ? known.id !== id : this.#isAnother(known, wire.function ?? {}));
    return known === undefined || anew ? this.#add(index, id) : known;
  }

  /** Whether what comes without an id, on the place of a call, is not that call's. */
  #isAnother(known: Call, { name, arguments: args }: WireFunction): boolean {
    if (name !== known.name) return true;
    const json = jsonOf(args);
    const sofar = this.#sink.textOf(known.key) ?? "";
    return json.startsWith("{") && json !== sofar && isWhole(sofar);
  }

  #add(index: number | undefined, id: string): Call {
    const call: Call = { key: `call:${this.#calls.length}`, index, id, name: "", begun: false, early: "" };
    this.#calls.push(call);
    return call;
  }

  #feed(call: Call, id: string, { name, arguments: args }: WireFunction): void {
    if (call.id === "") call.id = id;
    const json = jsonOf(args);
    if (!call.begun && name) {
      call.begun = true;
      call.name = name;
      this.#sink.call(call.key, call.id, name);
      this.#sink.callDelta(call.key, call.early);
    }
    if (!call.begun) call.early += json;
    else if (!isRepeated(this.#sink.textOf(call.key) ?? "", json)) this.#sink.callDelta(call.key, json);
  }
}

function jsonOf(args: WireFunction["arguments"]): string {
  return typeof args === "string" ? args : args ? JSON.stringify(args) : "";
}

/** Some servers send the whole arguments once more at the end. After a whole object nothing can follow. */
function isRepeated(sofar: string, json: string): boolean {
  return json.length >= 2 && sofar === json && isWhole(json);
}

function isWhole(json: string): boolean {
  if (!json.startsWith("{")) return false;
  try {
    JSON.parse(json);
    return true;
  } catch {
    return false;
  }
}
