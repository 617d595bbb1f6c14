import { refusalText, refusedParameter } from "@shedkit/provider/adapter";
import type { Refused } from "./request.js";

const SPARED = new Set(["model", "messages", "tools", "stream"]);

/**
 * What a 400 says that the server does not take, added to what is known of it; undefined where it says nothing of the
 * kind. The request is then built anew without it.
 */
export function learnRefusal(error: unknown, body: object, known: Refused): Refused | undefined {
  const text = refusalText(error);
  if (text === undefined) return undefined;
  if (/response_format|json_schema/.test(text) && "response_format" in body && !known.schema) {
    return { ...known, schema: true };
  }
  if (/\bstrict\b/.test(text) && !known.strict) return { ...known, strict: true };
  const param = refusedParameter(error, body, SPARED);
  return param === undefined ? undefined : { ...known, params: new Set([...known.params, param]) };
}
