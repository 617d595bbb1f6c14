import { type AgenticError, type Message, Messages, type ModelOutput, type ToolDeclarations } from "@shedkit/types";
import type { ModelEvent, ModelRequest } from "../contract.js";
import type { BackendReply, BackendSettings, OpenBackend, OpenProvider } from "./backend.js";

/** Throws when the two are not the same JSON, whatever the order of keys. */
export function same(got: unknown, wanted: unknown, what: string): void {
  const [a, b] = [show(got), show(wanted)];
  if (a !== b) throw new Error(`${what}: wanted ${b.slice(0, 2000)}, got ${a.slice(0, 2000)}`);
}

/** Throws when the condition does not hold. */
export function holds(condition: boolean, what: string): void {
  if (!condition) throw new Error(what);
}

/** A request of one question. */
export function ask(backend: OpenBackend, more: Partial<ModelRequest> = {}): ModelRequest {
  const messages: readonly Message[] = [Messages.user("Hello")];
  return { model: { name: backend.model }, messages, tools: noTools, params: {}, ...more };
}

const noTools: ToolDeclarations = { tools: [], activations: [] };

/** Everything of a stream, checked for the order that every stream keeps. */
export async function collect(events: AsyncIterable<ModelEvent>): Promise<ModelEvent[]> {
  const all: ModelEvent[] = [];
  for await (const event of events) all.push(event);
  checkOrder(all);
  return all;
}

/** Opens, asks once, closes. */
export async function play(
  open: OpenProvider,
  reply: BackendReply,
  more: Partial<ModelRequest> = {},
  settings: BackendSettings = {},
): Promise<ModelEvent[]> {
  const backend = await open([reply], settings);
  try {
    return await collect(backend.provider.stream(ask(backend, more)));
  } finally {
    await backend.close();
  }
}

/** The finished blocks. */
export function outputsOf(events: readonly ModelEvent[]): ModelOutput[] {
  return events.flatMap((event) => (event.type === "output" ? [event.output] : []));
}

/** The failure that ended a stream. */
export function failureOf(events: readonly ModelEvent[]): AgenticError {
  const last = events.at(-1);
  if (last?.type !== "failure") throw new Error(`wanted a failure at the end, got ${show(last)}`);
  return last.error;
}

const BLOCK_EVENTS: ReadonlySet<ModelEvent["type"]> = new Set([
  "textDelta",
  "thinkingDelta",
  "toolCallStart",
  "output",
]);

/** One terminal, last; `start` at most once and before any block; deltas add up to their output. */
function checkOrder(events: readonly ModelEvent[]): void {
  const types = events.map((event) => event.type);
  const ends = types.filter((type) => type === "finish" || type === "failure").length;
  same(ends, 1, "number of finish and failure events");
  holds(["finish", "failure"].includes(types.at(-1) ?? ""), `the last event is ${types.at(-1)}`);
  holds(types.filter((type) => type === "start").length <= 1, "start came twice");
  const first = types.find((type) => type !== "loading" && type !== "failure");
  holds(first === undefined || first === "start", `the first event is ${first}, not start`);
  const read = types.lastIndexOf("evaluating");
  const said = types.findIndex((type) => BLOCK_EVENTS.has(type));
  holds(said < 0 || read < said, "evaluating came after the answer had begun");
  const deltas = new Map<number, string>();
  for (const event of events) {
    if (event.type === "textDelta" || event.type === "thinkingDelta") add(deltas, event.block, event.text);
    if (event.type === "toolCallDelta") add(deltas, event.block, event.json);
    if (event.type !== "output" || !("text" in event.output)) continue;
    const came = deltas.get(event.block);
    if (came !== undefined) same(came, event.output.text, `the deltas of block ${event.block}, beside its output`);
  }
}

function add(deltas: Map<number, string>, block: number, text: string): void {
  deltas.set(block, (deltas.get(block) ?? "") + text);
}

function show(value: unknown): string {
  return JSON.stringify(sorted(value)) ?? "undefined";
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  );
}
