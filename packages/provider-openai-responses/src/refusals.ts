import { refusalText, refusedParameter, refusesMedia } from "@shedkit/provider/adapter";
import type { Refused } from "./request.js";

const SPARED = new Set(["model", "input", "tools", "stream", "instructions"]);

/**
 * What a 400 says that the server does not take, added to what is known of it; undefined where it says nothing of the
 * kind. The request is then built anew without it.
 */
export function learnRefusal(error: unknown, body: { readonly input?: unknown }, known: Refused): Refused | undefined {
  if (!known.media && refusesMedia(error, body.input)) return { ...known, media: true };
  const text = refusalText(error);
  if (text === undefined) return undefined;
  if (/additional_tools/.test(text) && !known.additionalTools) return { ...known, additionalTools: true };
  const param = refusedParameter(error, body, SPARED);
  return param === undefined ? undefined : { ...known, params: new Set([...known.params, param]) };
}
