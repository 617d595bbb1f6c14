import { AgenticError } from "@shedkit/types";

/** Throws AgenticError `session` for what cannot travel: functions, live objects, what JSON would lose. */
export function checkData(value: unknown, path = "options"): void {
  const type = typeof value;
  if (value === null || value === undefined || type === "string" || type === "boolean") return;
  if (type === "number" && Number.isFinite(value)) return;
  if (Array.isArray(value)) {
    for (const [i, item] of value.entries()) checkData(item, `${path}[${i}]`);
    return;
  }
  const prototype: unknown = type === "object" ? Object.getPrototypeOf(value) : undefined;
  if (prototype === Object.prototype || prototype === null) {
    for (const [key, item] of Object.entries(value as object)) checkData(item, `${path}.${key}`);
    return;
  }
  const what = type === "object" ? `a ${(value as object).constructor.name}` : `a ${type}`;
  throw new AgenticError(
    "session",
    `${path} is ${what}, which belongs to this process: the turn runs on another. Give plain data, and keep what is alive in the workers' definition.`,
    { reason: "not durable" },
  );
}
