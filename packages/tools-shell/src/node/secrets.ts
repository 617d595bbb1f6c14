import type { Secrets } from "../terminal.js";

const LEAST = 8; // characters: shorter ones stand in any text
const MOST = 4096;
/** A word or a number, which stands in texts that have nothing to do with it: `postgres`, `password`, `86400000`. */
const PLAIN = /^(?:[a-z]{1,15}|[A-Z]{1,15}|\d{1,15})$/;

/** Takes the values of variables that commands do not see out of what they write. Paths and plain words are no secrets. */
export function secretsOf(values: readonly string[]): Secrets {
  const secrets = [...new Set(values)]
    .filter((value) => value.length >= LEAST && value.length <= MOST && !value.startsWith("/") && !PLAIN.test(value))
    .sort((a, b) => b.length - a.length); // one may be a part of another
  return {
    hide: (text) => secrets.reduce((shown, secret) => shown.replaceAll(secret, "[hidden]"), text),
    begun: (text) => Math.max(0, ...secrets.map((secret) => begunOf(text, secret))),
  };
}

/** How many characters at the end of a text are the beginning of another, but not all of it. */
function begunOf(text: string, secret: string): number {
  for (let length = Math.min(secret.length - 1, text.length); length > 0; length--) {
    if (text.endsWith(secret.slice(0, length))) return length;
  }
  return 0;
}
