import { type GbnfRules, literal } from "./gbnf.js";

/**
 * The rule of any text that ends with the first `mark`, the mark included: one state a character of it. The mark's
 * first character must not come again in it.
 */
export function textUntil(rules: GbnfRules, mark: string): string {
  const hint = `until-${mark}`;
  const states = Array.from(mark, (_, i) => rules.reserve(`${hint}-${i}`));
  const first = mark.charAt(0);
  states.forEach((name, i) => {
    const next = states[i + 1];
    const char = mark.charAt(i);
    const on = next === undefined ? literal(char) : `${literal(char)} ${next}`;
    if (i === 0) rules.set(name, `[^${inClass(first)}] ${name} | ${on}`);
    else rules.set(name, `[^${inClass(first)}${inClass(char)}] ${states[0]} | ${literal(first)} ${states[1]} | ${on}`);
  });
  return states[0] ?? '""';
}

function inClass(char: string): string {
  return /[\]\\^-]/.test(char) ? `\\${char}` : char;
}
