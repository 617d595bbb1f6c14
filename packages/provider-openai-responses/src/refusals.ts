import {
  descriptionLimit,
  refusalText,
  refusedParameter,
  refusesMedia,
  refusesStrict,
  unreadableMedium,
} from "@shedkit/provider/adapter";
import type { Message } from "@shedkit/types";
import type { Refused } from "./request.js";

const SPARED = new Set(["model", "input", "tools", "stream", "instructions"]);

/**
 * What a 400 says that the server does not take, added to what is known of it; undefined where it says nothing of the
 * kind. The request is then built anew without it.
 */
export function learnRefusal(
  error: unknown,
  body: { readonly input?: unknown },
  messages: readonly Message[],
  known: Refused,
): Refused | undefined {
  const unreadable = unreadableMedium(error, body, messages, known.unreadable);
  if (!known.media && unreadable !== undefined)
    return { ...known, unreadable: new Set([...known.unreadable, unreadable]) };
  if (!known.media && refusesMedia(error, body.input)) return { ...known, media: true };
  const text = refusalText(error);
  if (text === undefined) return undefined;
  const descriptions = descriptionLimit(error);
  if (descriptions !== undefined && descriptions !== known.descriptions) return { ...known, descriptions };
  if (/text\.format|response_format|json_schema/.test(text) && "text" in body && !known.schema) {
    return { ...known, schema: true };
  }
  if (refusesStrict(error, body) && !known.strict) return { ...known, strict: true };
  if (/additional_tools/.test(text) && !known.additionalTools) return { ...known, additionalTools: true };
  const param = refusedParameter(error, body, SPARED);
  return param === undefined ? undefined : { ...known, params: new Set([...known.params, param]) };
}
