import type { Refused } from "./request.js";

const NEVER = new Set(["model", "messages", "tools", "stream"]);

/**
 * What a 400 says that the server does not take, added to what is known of it; undefined where it says nothing of the
 * kind. The request is then built anew without it.
 */
export function learnRefusal(error: unknown, body: object, known: Refused): Refused | undefined {
  const { status, param, message } = error as { status?: unknown; param?: unknown; message?: unknown };
  if ((status !== 400 && status !== 422) || typeof message !== "string") return undefined;
  const sent = (key: string): boolean => key in body && !known.params.has(key) && !NEVER.has(key);
  if (/response_format|json_schema/.test(message) && "response_format" in body && !known.schema) {
    return { ...known, schema: true };
  }
  if (/\bstrict\b/.test(message) && !known.strict) return { ...known, strict: true };
  if (!/unsupported|unrecognized|unknown|not supported|not permitted|extra (inputs|fields)|unexpected/i.test(message)) {
    return undefined;
  }
  const named = typeof param === "string" ? (param.split(".", 1)[0] ?? "") : "";
  const key = sent(named)
    ? named
    : Object.keys(body).find((one) => sent(one) && new RegExp(`\\b${one}\\b`).test(message));
  return key === undefined ? undefined : { ...known, params: new Set([...known.params, key]) };
}
