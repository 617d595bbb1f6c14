import { AgenticError, type AgenticErrorCode } from "@shedkit/types";

/** Throws when the two are not the same JSON. A key that is `undefined` counts as absent. */
export function same(got: unknown, wanted: unknown, what: string): void {
  const [a, b] = [show(got), show(wanted)];
  if (a !== b) throw new Error(`${what}: wanted ${b}, got ${a}`);
}

/** Throws when the condition does not hold. */
export function holds(condition: boolean, what: string): void {
  if (!condition) throw new Error(what);
}

/** Throws when the promise does not reject with an AgenticError of that code. */
export async function refuses(promise: Promise<unknown>, code: AgenticErrorCode, what: string): Promise<void> {
  let value: unknown;
  try {
    value = await promise;
  } catch (error) {
    if (AgenticError.is(error, code)) return;
    throw new Error(`${what}: wanted AgenticError "${code}", got ${String(error)}`, { cause: error });
  }
  throw new Error(`${what}: wanted AgenticError "${code}", got the value ${show(value)}`);
}

/** Everything an iterable yields. */
export async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
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
