import { ToolError, toToolError } from "@shedkit/tool";
import type { ToolCallRequest, ToolCallStage, ToolCallWorkflow } from "../types.js";
import { AFTER, positionsOf } from "./ordering.js";

/** What a call does to the world. */
export interface Effect {
  readOnly: boolean;
  /** Names of what it reads or changes. Empty: nobody says. */
  touches: readonly string[];
}

/** Of a call that will not run. */
export const NO_EFFECT: Effect = { readOnly: true, touches: [] };

/** The request without `_after`, and what that was. */
export type TakeAfter = (request: ToolCallRequest) => { request: ToolCallRequest; after?: unknown };

const MAX_SHOWN = 100; // characters of an `_after` that makes no sense

interface Call {
  request: ToolCallRequest;
  /** Positions that must have succeeded. */
  needs: Set<number>;
  /** Positions that must be over, whatever became of them. */
  follows: Set<number>;
  /** Why it will not run. */
  fault?: ToolError | undefined;
}

/**
 * Groups calls into stages by how deep they stand. Explicit order (`dependsOn`, or `_after` where `take` takes it out)
 * decides; beside it, a call that changes what an earlier one touches, or touches what an earlier one changes, comes
 * after it. In a batch without explicit order a call that writes and does not say what it touches runs alone. A call
 * whose `_after` makes no sense, or whose `effectOf` throws, has a fault and will not run.
 *
 * Throws ToolError `invalidArguments`, naming the ids, for a cycle, an unknown id, or an id used twice.
 */
export function buildWorkflow(
  requests: readonly ToolCallRequest[],
  effectOf: (request: ToolCallRequest) => Effect,
  take?: TakeAfter | undefined,
): ToolCallWorkflow {
  const [only] = requests;
  if (only && requests.length === 1 && !take && only.dependsOn === undefined) {
    return { stages: [stageOf([only])], order: [only.id] };
  }
  const calls = readCalls(requests, take);
  const order = topologicalOrder(calls);
  if (calls.length > 1) addConflicts(calls, order, effectOf);
  const faults = calls.flatMap(({ request, fault }) => (fault ? [[request.id, fault] as const] : []));
  return {
    stages: stagesOf(calls, order),
    order: requests.map(({ id }) => id),
    ...(faults.length > 0 && { faults: new Map(faults) }),
  };
}

function readCalls(requests: readonly ToolCallRequest[], take: TakeAfter | undefined): Call[] {
  const positions = new Map<string, number>();
  for (const [position, { id }] of requests.entries()) {
    if (positions.has(id)) throw refused(`Two calls of the batch have the id "${id}".`);
    positions.set(id, position);
  }
  return requests.map((given, own) => {
    const { request, after }: ReturnType<TakeAfter> = take?.(given) ?? { request: given };
    const needs = new Set<number>();
    for (const id of request.dependsOn ?? []) {
      const position = positions.get(id);
      if (position === undefined) {
        throw refused(`The call "${request.id}" depends on "${id}", and no call of the batch has that id.`);
      }
      needs.add(position);
    }
    const call: Call = { request, needs, follows: new Set() };
    try {
      for (const position of positionsAfter(after, own, requests)) needs.add(position);
    } catch (fault) {
      call.fault = toToolError(fault, request.name);
    }
    const ids = Array.from(needs, (position) => (requests[position] as ToolCallRequest).id);
    if (ids.length > 0) call.request = { ...request, dependsOn: ids };
    return call;
  });
}

/**
 * Where the calls stand that `_after` names. Of a batch that goes on after a break, calls that are done are not there
 * any more. Throws ToolError `invalidArguments` where one is no other call's.
 */
function positionsAfter(after: unknown, own: number, requests: readonly ToolCallRequest[]): number[] {
  if (after === undefined) return [];
  const { id, name, position: written = own } = requests[own] as ToolCallRequest;
  const named = positionsOf(after);
  const places = new Map(requests.map(({ position }, place) => [position ?? place, place]));
  const goesOn = requests.some(({ position }) => position !== undefined);
  const isOther = (position: number) => position !== written && (places.has(position) || (goesOn && position >= 0));
  if (named?.every(isOther)) return named.flatMap((position) => places.get(position) ?? []);
  const last = Math.max(...places.keys());
  const came = JSON.stringify(after)?.slice(0, MAX_SHOWN) ?? "";
  const wanted =
    last === 0
      ? "it is the only call of the batch: leave it out"
      : `wanted are positions of other calls of the batch, from 0 to ${last} without its own, ${written}`;
  const message = `The call "${id}" was not run. ${AFTER} is ${came}; ${wanted}. Call ${name} again if it is still needed.`;
  throw new ToolError("invalidArguments", name, message);
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
  const effects = calls.map((call): Effect => {
    if (call.fault) return NO_EFFECT;
    try {
      return effectOf(call.request);
    } catch (fault) {
      call.fault = toToolError(fault, call.request.name);
      return NO_EFFECT;
    }
  });
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
  return byDepth.map(stageOf);
}

function stageOf(calls: readonly ToolCallRequest[]): ToolCallStage {
  return calls.some(({ executionHint }) => executionHint === "sequential")
    ? { type: "sequential", failFast: true, calls }
    : { type: "parallel", failMode: "collectAll", calls };
}

function refused(message: string): ToolError {
  return new ToolError("invalidArguments", "batch", `${message} No call of the batch was run.`);
}
