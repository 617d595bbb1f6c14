import { ToolError } from "@shedkit/tool";
import { AFTER, withoutOrdering } from "./ordering.js";
import type { ToolCallRequest, ToolCallStage, ToolCallWorkflow } from "./types.js";

/** What a call does to the world. */
export interface Effect {
  readOnly: boolean;
  /** Names of what it reads or changes. Empty: nobody says. */
  touches: readonly string[];
}

interface Call {
  request: ToolCallRequest;
  /** Positions that must have succeeded. */
  needs: Set<number>;
  /** Positions that must be over, whatever became of them. */
  follows: Set<number>;
}

/**
 * Groups calls into stages by how deep they stand. Explicit order (`dependsOn`, or `_after` where `ordering` is on)
 * decides; beside it, a call that changes what an earlier one touches, or touches what an earlier one changes, comes
 * after it. In a batch without explicit order a call that writes and does not say what it touches runs alone.
 *
 * Throws ToolError `invalidArguments`, naming the ids, for a cycle, an unknown id, or an id used twice.
 */
export function buildWorkflow(
  requests: readonly ToolCallRequest[],
  effectOf: (request: ToolCallRequest) => Effect,
  ordering: boolean,
): ToolCallWorkflow {
  const calls = readCalls(requests, ordering);
  const order = topologicalOrder(calls);
  if (calls.length > 1) addConflicts(calls, order, effectOf);
  return { stages: stagesOf(calls, order), order: requests.map(({ id }) => id) };
}

function readCalls(requests: readonly ToolCallRequest[], ordering: boolean): Call[] {
  const positions = new Map<string, number>();
  for (const [position, { id }] of requests.entries()) {
    if (positions.has(id)) throw refused(`Two calls of the batch have the id "${id}".`);
    positions.set(id, position);
  }
  return requests.map((request) => {
    const { request: plain, after } = ordering ? takeAfter(request, requests) : { request, after: [] };
    const needs = new Set<number>();
    for (const id of plain.dependsOn ?? []) {
      const position = positions.get(id);
      if (position === undefined) {
        throw refused(`The call "${request.id}" depends on "${id}", and no call of the batch has that id.`);
      }
      needs.add(position);
    }
    for (const position of after) needs.add(position);
    const ids = Array.from(needs, (position) => (requests[position] as ToolCallRequest).id);
    return { request: ids.length === 0 ? plain : { ...plain, dependsOn: ids }, needs, follows: new Set() };
  });
}

/** The request without `_after`, and the positions it named. */
function takeAfter(
  request: ToolCallRequest,
  batch: readonly ToolCallRequest[],
): { request: ToolCallRequest; after: number[] } {
  if (!Object.hasOwn(request.arguments, AFTER)) return { request, after: [] };
  const value = request.arguments[AFTER];
  const list = Array.isArray(value) ? value : value === null || value === undefined ? [] : [value];
  const after = list.map((entry: unknown) => {
    const position = typeof entry === "string" ? Number(entry) : entry;
    if (typeof position === "number" && Number.isInteger(position) && batch[position] !== undefined) return position;
    throw refused(
      `The call "${request.id}" has ${JSON.stringify(entry)} in ${AFTER}; the batch has the positions 0 to ${batch.length - 1}.`,
    );
  });
  return { request: { ...request, arguments: withoutOrdering(request.arguments) }, after };
}

/** Positions, every call after those it needs, otherwise in the order of the batch. */
function topologicalOrder(calls: readonly Call[]): number[] {
  const waiting = calls.map(({ needs }) => needs.size);
  const dependents = calls.map((): number[] => []);
  for (const [position, { needs }] of calls.entries()) for (const need of needs) dependents[need]?.push(position);
  const order: number[] = [];
  let ready = waiting.flatMap((count, position) => (count === 0 ? [position] : []));
  while (ready.length > 0) {
    const next: number[] = [];
    for (const position of ready) {
      order.push(position);
      for (const dependent of dependents[position] ?? []) {
        const left = (waiting[dependent] ?? 0) - 1;
        waiting[dependent] = left;
        if (left === 0) next.push(dependent);
      }
    }
    ready = next.sort((a, b) => a - b);
  }
  if (order.length < calls.length) {
    const done = new Set(order);
    const ids = calls.filter((_, position) => !done.has(position)).map(({ request }) => `"${request.id}"`);
    throw refused(`The calls ${ids.join(", ")} wait for each other.`);
  }
  return order;
}

/** Puts calls that must not run side by side one after the other, along an order that is free of cycles. */
function addConflicts(
  calls: readonly Call[],
  order: readonly number[],
  effectOf: (request: ToolCallRequest) => Effect,
): void {
  const explicit = calls.some(({ needs }) => needs.size > 0);
  const effects = calls.map(({ request }) => effectOf(request));
  for (const [rank, position] of order.entries()) {
    for (const earlier of order.slice(0, rank)) {
      if (conflict(effects[position] as Effect, effects[earlier] as Effect, explicit)) {
        calls[position]?.follows.add(earlier);
      }
    }
  }
}

function conflict(a: Effect, b: Effect, explicit: boolean): boolean {
  if (a.readOnly && b.readOnly) return false;
  if (a.touches.length === 0 || b.touches.length === 0) return !explicit; // who gave an order knows what may overlap
  return a.touches.some((target) => b.touches.includes(target));
}

function stagesOf(calls: readonly Call[], order: readonly number[]): ToolCallStage[] {
  const depths: number[] = [];
  const byDepth: ToolCallRequest[][] = [];
  for (const position of order) {
    const { needs, follows } = calls[position] as Call;
    let depth = 0;
    for (const earlier of needs) depth = Math.max(depth, (depths[earlier] ?? 0) + 1);
    for (const earlier of follows) depth = Math.max(depth, (depths[earlier] ?? 0) + 1);
    depths[position] = depth;
  }
  for (const [position, { request }] of calls.entries()) {
    const depth = depths[position] ?? 0;
    const stage = byDepth[depth];
    if (stage) stage.push(request);
    else byDepth[depth] = [request];
  }
  return byDepth.map(
    (stage): ToolCallStage =>
      stage.some(({ executionHint }) => executionHint === "sequential")
        ? { type: "sequential", failFast: true, calls: stage }
        : { type: "parallel", failMode: "collectAll", calls: stage },
  );
}

function refused(message: string): ToolError {
  return new ToolError("invalidArguments", "batch", `${message} No call of the batch was run.`);
}
