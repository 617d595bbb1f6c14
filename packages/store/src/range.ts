import { AgenticError } from "@shedkit/types";

/** The range of a log of `length` records that is asked for: those after `after`, up to `end`. */
export function rangeOf(
  length: number,
  range: { after?: number | undefined; before?: number | undefined; last?: number | undefined },
  store: string,
): { after: number; end: number } {
  for (const [name, value] of Object.entries(range)) checkNumber(value, name, store, "read");
  const { after = 0, before = Number.POSITIVE_INFINITY, last = Number.POSITIVE_INFINITY } = range;
  const end = Math.min(length, Math.ceil(before) - 1);
  return { after: Math.max(0, Math.floor(after), end - Math.max(0, Math.floor(last))), end };
}

/** How many sessions a page of a listing may have. */
export function pageLimit(limit: number | undefined, store: string): number {
  checkNumber(limit, "limit", store, "sessions");
  return Math.max(0, Math.floor(Math.min(limit ?? 50, 1_000_000_000)));
}

function checkNumber(value: number | undefined, name: string, store: string, operation: string): void {
  if (value === undefined || (typeof value === "number" && !Number.isNaN(value))) return;
  throw new AgenticError("store", `${name} must be a number, not ${String(value)}.`, { store, operation });
}
