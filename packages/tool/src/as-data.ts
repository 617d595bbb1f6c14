/** They would steer a terminal. */
const CONTROL = /(?![\t\n])\p{Cc}/gu;

/** What a reader does not see and a model reads all the same: directions, joiners, tag characters, fillers. */
const INVISIBLE =
  /[\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]|[\u{e0100}-\u{e01ef}]/gu;

/** Two of them could become one character, when what stands between them is taken out. */
const HALF = /\p{Surrogate}/gu;

/**
 * Tags that stand for something in a conversation: the wrapper of reminders, and what models' templates put around calls
 * and turns. No more than these: `<User>` in a source file has to stay as it is.
 */
const WRAPPERS =
  /<(?=\s*\/?\s*(?:system[-_ ]reminder|(?:antml:)?(?:function|tool)_(?:call|response|result|output)s?|antml:\w+|(?:start|end)_of_turn)\b|\|\/?(?:im|start|end|eot|eom|system|user|assistant|tool|channel|message|call|return|constrain)\w*\|?)/gi;

/**
 * A text of strangers (a page, a server's answer) as data: nothing invisible and no control characters in it, `\n` at the end
 * of lines, no tag that could pass for one of a conversation. Everything else stays as it is. It keeps no text from
 * persuading a model.
 */
export function asData(text: string): string {
  const whole = text.replace(/\r\n?/g, "\n").replace(HALF, "\ufffd");
  return whole.replace(CONTROL, "").replace(INVISIBLE, "").replace(WRAPPERS, "&lt;");
}
