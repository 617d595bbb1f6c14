import { refusalText, refusedParameter, refusesMedia, unreadableMedium, wantsTools } from "@shedkit/provider/adapter";
import type { Message } from "@shedkit/types";
import type { Abilities } from "./models.js";

/** What a server turned out not to take. */
export interface Refused {
  readonly abilities: Partial<Abilities>;
  readonly params: ReadonlySet<string>;
  /** Names of images and files that it could not read. */
  readonly unreadable: ReadonlySet<string>;
}

export const nothingRefused: Refused = { abilities: {}, params: new Set(), unreadable: new Set() };

interface SentBody {
  readonly messages?: unknown;
  readonly thinking?: unknown;
  readonly tool_choice?: unknown;
}

const thinkingOf = ({ thinking }: SentBody) => (thinking as { type?: string; display?: string } | undefined) ?? {};
const isForced = ({ tool_choice }: SentBody) => (tool_choice as { type?: string } | undefined)?.type === "any";

/** What a server says of an ability, in a request that made use of it, and whether the model then has the ability. */
const ABILITIES: readonly [keyof Abilities, RegExp, boolean, (body: SentBody) => boolean][] = [
  ["deferral", /defer_loading|tool_reference|tool reference/i, false, () => true],
  ["outputFormat", /output_config\.format|output_format|json_schema|output_config: extra/i, false, () => true],
  ["display", /display/i, false, (body) => thinkingOf(body).display !== undefined],
  ["noThinking", /thinking/i, false, (body) => thinkingOf(body).type === "disabled"],
  ["forcedCalls", /tool_choice|forced? (tool|call)/i, false, isForced],
  ["adaptiveThinking", /adaptive/i, false, (body) => thinkingOf(body).type === "adaptive"],
  ["adaptiveThinking", /adaptive/i, true, (body) => thinkingOf(body).type === "enabled"],
  ["midSystem", /role[^.]*system|system[^.]*role|unexpected role/i, false, () => true],
];
const SPARED = new Set(["model", "messages", "tools", "stream", "max_tokens", "system"]);

/**
 * What a 400 says that the server does not take, added to what is known of it; undefined where it says nothing of the
 * kind. The request is then built anew without it.
 */
export function learnRefusal(
  error: unknown,
  body: SentBody,
  messages: readonly Message[],
  abilities: Abilities,
  known: Refused,
): Refused | undefined {
  const learned = (ability: keyof Abilities, has: boolean): Refused => ({
    ...known,
    abilities: { ...known.abilities, [ability]: has },
  });
  const unreadable = unreadableMedium(error, body, messages, known.unreadable);
  if (abilities.media && unreadable !== undefined)
    return { ...known, unreadable: new Set([...known.unreadable, unreadable]) };
  if (abilities.media && refusesMedia(error, body.messages)) return learned("media", false);
  if (abilities.undeclaredCalls && wantsTools(error, body)) return learned("undeclaredCalls", false);
  const text = refusalText(error);
  if (text === undefined) return undefined;
  for (const [ability, words, has, used] of ABILITIES) {
    // Told once: a server that says the contrary of what it said is not asked again.
    if (abilities[ability] === has || (ability === "adaptiveThinking" && ability in known.abilities)) continue;
    if (words.test(text) && used(body)) return learned(ability, has);
  }
  const param = refusedParameter(error, body, SPARED);
  return param === undefined ? undefined : { ...known, params: new Set([...known.params, param]) };
}
