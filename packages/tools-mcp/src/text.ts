/** How a server's texts are shortened; each is read by a model or shown to a person. */
export const LIMITS = {
  /** A tool's description, in characters. */
  description: 4000,
  /** The description of one argument. */
  argument: 1000,
  /** What a server says of a failure. */
  message: 2000,
  /** A line of progress. */
  progress: 300,
} as const;

/** They would steer a terminal. */
const CONTROL = /(?![\t\n])\p{Cc}/gu;

/** What a reader does not see and a model reads all the same: directions, joiners, tag characters, fillers. */
const INVISIBLE =
  /[\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb]|\udb40[\udc00-\udc7f\udd00-\uddef]/g;

/**
 * Tags that stand for something in a conversation: the wrapper of reminders, and what models' templates put around calls
 * and turns. No more than these: `<User>` in a source file has to stay as it is.
 */
const WRAPPERS =
  /<(?=\s*\/?\s*(?:system[-_ ]reminder|(?:antml:)?(?:function|tool)_(?:call|response|result|output)s?|antml:\w+|(?:start|end)_of_turn)\b|\|\/?(?:im|start|end|eot|eom|system|user|assistant|tool|channel|message|call|return|constrain)\w*\|?)/gi;

/** A server's text, as data: nothing invisible in it, no tag that could pass for one of ours. */
export function asData(text: string): string {
  return withoutInvisible(text).replace(WRAPPERS, "&lt;");
}

/** As {@link asData}, and no longer than so many characters. */
export function shortData(text: string, max: number): string {
  if (text.length <= max) return asData(text);
  const head = text.slice(0, max).replace(/[\ud800-\udbff]$/, "");
  return `${asData(head)} [... ${text.length - head.length} characters more]`;
}

/** One line of plain text, for messages to people. */
export function oneLine(text: string, max: number = LIMITS.message): string {
  return shortData(text.slice(0, max * 4), max)
    .replace(/\s+/g, " ")
    .trim();
}

function withoutInvisible(text: string): string {
  return text.replace(/\r\n?/g, "\n").replace(CONTROL, "").replace(INVISIBLE, "");
}
