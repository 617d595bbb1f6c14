import type { ParamFault } from "@shedkit/tool";
import { MAX_LETTERS, MIN_LETTERS } from "./hash.js";

/** With three letters a changed line passes for the old one in one of 32,768 cases. */
export const USUAL_LETTERS = 3;

/** For `params.check` of tools with a setting `hashLength`. */
export function checkHashLength({ hashLength }: { hashLength: number }): ParamFault[] {
  if (hashLength >= MIN_LETTERS && hashLength <= MAX_LETTERS) return [];
  const message = `It must be a number of letters from ${MIN_LETTERS} to ${MAX_LETTERS}, and is ${hashLength}.`;
  return [{ field: "hashLength", message }];
}
