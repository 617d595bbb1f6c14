import type { Abilities } from "./models.js";

/** What a server turned out not to take. */
export interface Refused {
  readonly abilities: Partial<Abilities>;
  readonly params: ReadonlySet<string>;
}

export const nothingRefused: Refused = { abilities: {}, params: new Set() };

const ABILITIES: readonly [keyof Abilities, RegExp][] = [
  ["deferral", /defer_loading|tool_reference|tool reference/i],
  ["outputFormat", /output_config\.format|output_format|json_schema|output_config: extra/i],
  ["adaptiveThinking", /adaptive/i],
  ["midSystem", /role[^.]*system|system[^.]*role|unexpected role/i],
];
const PARAMS = ["temperature", "top_p", "top_k", "thinking", "output_config", "stop_sequences", "tool_choice"];

/**
 * What a 400 says that the server does not take, added to what is known of it; undefined where it says nothing of the
 * kind. The request is then built anew without it.
 */
export function learnRefusal(error: unknown, body: object, abilities: Abilities, known: Refused): Refused | undefined {
  const { status, message } = error as { status?: unknown; message?: unknown };
  if ((status !== 400 && status !== 422) || typeof message !== "string") return undefined;
  for (const [ability, words] of ABILITIES) {
    if (abilities[ability] && words.test(message)) {
      return { ...known, abilities: { ...known.abilities, [ability]: false } };
    }
  }
  if (!/not support|unsupported|deprecated|not permitted|cannot both|unexpected|unknown|extra inputs/i.test(message)) {
    return undefined;
  }
  const param = PARAMS.find((key) => key in body && !known.params.has(key) && new RegExp(`\\b${key}\\b`).test(message));
  return param === undefined ? undefined : { ...known, params: new Set([...known.params, param]) };
}
