import { refusalText, refusedParameter } from "@shedkit/provider/adapter";
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
const SPARED = new Set(["model", "messages", "tools", "stream", "max_tokens", "system"]);

/**
 * What a 400 says that the server does not take, added to what is known of it; undefined where it says nothing of the
 * kind. The request is then built anew without it.
 */
export function learnRefusal(error: unknown, body: object, abilities: Abilities, known: Refused): Refused | undefined {
  const text = refusalText(error);
  if (text === undefined) return undefined;
  for (const [ability, words] of ABILITIES) {
    if (abilities[ability] && words.test(text)) {
      return { ...known, abilities: { ...known.abilities, [ability]: false } };
    }
  }
  const param = refusedParameter(error, body, SPARED);
  return param === undefined ? undefined : { ...known, params: new Set([...known.params, param]) };
}
