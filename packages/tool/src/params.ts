import type { JsonValue } from "@shedkit/types";
import { type Resource, resource } from "./resources.js";

/** A tool's memory between calls. */
export interface StateHandle<T> {
  get(): T;
  set(value: T): void;
}

/** Where the settings of the tool of that full id stand. Absent: its defaults. */
export function paramsOf(fullId: string): Resource<JsonValue> {
  return resource(`params ${fullId}`);
}

/** Where the memory of the tool of that full id stands. Absent: made on the first call, and lost with the resources. */
export function stateOf(fullId: string): Resource<StateHandle<unknown>> {
  return resource(`state ${fullId}`);
}
