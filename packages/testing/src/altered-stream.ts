import type { JsonValue } from "@shedkit/types";

/** One change of a stream of server-sent events. */
export interface StreamChange {
  /** Which event, counted around. */
  at: number;
  /** Which value in the event's data, as the number of a member at each level, counted around; `[]` is the whole. */
  path: readonly number[];
  /** What stands there instead. */
  by: JsonValue;
}

/** The stream's events with JSON data, some of them with other values in them: what a server of another mind sends. */
export function alteredStream(stream: string, changes: readonly StreamChange[]): string {
  const events = stream.split("\n").flatMap((line) => (line.startsWith("data: {") ? [line.slice(6)] : []));
  for (const { at, path, by } of changes) {
    const i = at % events.length;
    events[i] = JSON.stringify(altered(JSON.parse(events[i] ?? "") as JsonValue, path, by));
  }
  return events.map((event) => `data: ${event}\n\n`).join("");
}

function altered(value: JsonValue, path: readonly number[], by: JsonValue): JsonValue {
  const [step, ...rest] = path;
  if (step === undefined || typeof value !== "object" || value === null) return by;
  const entries = Object.entries(value) as [string, JsonValue][];
  const entry = entries[step % Math.max(1, entries.length)];
  if (entry === undefined) return by;
  const [key, old] = entry;
  const inner = altered(old, rest, by);
  return Array.isArray(value) ? value.map((one, i) => (`${i}` === key ? inner : one)) : { ...value, [key]: inner };
}
