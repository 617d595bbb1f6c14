import {
  descriptionLimit,
  refusalText,
  refusedParameter,
  refusesMedia,
  refusesStrict,
  unreadableMedium,
  wantsTools,
} from "@shedkit/provider/adapter";
import type { Message } from "@shedkit/types";
import type { Quirks, WireMessage } from "./messages.js";
import type { Refused } from "./request.js";

const SPARED = new Set(["model", "messages", "tools", "stream"]);

const LIMITS = ["max_tokens", "max_completion_tokens"];

/** How a server says that it wants messages otherwise, and of which messages it can mean that. */
const QUIRKS: readonly [keyof Quirks, RegExp, (message: WireMessage) => boolean][] = [
  ["shortIds", /tool.?call.?id.*(length of 9|a-z, A-Z, 0-9)/is, ({ role }) => role === "tool"],
  ["answerFirst", /role .?user.? after role .?tool/i, ({ role }) => role === "tool"],
  [
    "toolNames",
    /\b(missing|required)\b[^.]*\bname\b|\bname\b[^.]*\b(missing|required)\b/i,
    ({ role, name }) => role === "tool" && name === undefined,
  ],
  [
    "emptyText",
    /content[^.]*(null|none|string|missing|required)/is,
    ({ role, content }) => role === "assistant" && content === null,
  ],
];

/**
 * What a 400 says that the server does not take, added to what is known of it; undefined where it says nothing of the
 * kind. The request is then built anew without it.
 */
export function learnRefusal(
  error: unknown,
  body: { readonly messages?: unknown },
  conversation: readonly Message[],
  known: Refused,
): Refused | undefined {
  const learned = (quirk: keyof Quirks): Refused => ({ ...known, quirks: { ...known.quirks, [quirk]: true } });
  const unreadable = unreadableMedium(error, body, conversation, known.unreadable);
  if (!known.quirks.textOnly && unreadable !== undefined)
    return { ...known, unreadable: new Set([...known.unreadable, unreadable]) };
  if (!known.quirks.textOnly && refusesMedia(error, body.messages)) return learned("textOnly");
  if (!known.quirks.declareTools && wantsTools(error, body)) return learned("declareTools");
  const text = refusalText(error);
  if (text === undefined) return undefined;
  const descriptions = descriptionLimit(error);
  if (descriptions !== undefined && descriptions !== known.descriptions) return { ...known, descriptions };
  if (/response_format|json_schema/.test(text) && "response_format" in body && !known.schema) {
    return { ...known, schema: true };
  }
  if (refusesStrict(error, body) && !known.strict) return { ...known, strict: true };
  const messages = Array.isArray(body.messages) ? (body.messages as WireMessage[]) : [];
  for (const [quirk, words, meant] of QUIRKS) {
    if (!known.quirks[quirk] && words.test(text) && messages.some(meant)) return learned(quirk);
  }
  const param = refusedParameter(error, body, SPARED);
  if (param === undefined) return undefined;
  // A limit has two names: one that is refused may be known by the other.
  if (LIMITS.includes(param) && !known.limitName && LIMITS.every((name) => text.includes(name))) {
    return { ...known, limitName: true };
  }
  return { ...known, params: new Set([...known.params, param]) };
}
