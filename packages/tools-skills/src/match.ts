import { IgnoreRules } from "@shedkit/fs";
import type { Skill } from "./skills.js";

/** The skills that fit a need, best first; one that is called so stands before all. */
export function fitting(skills: readonly Skill[], query: string, limit: number): Skill[] {
  const exact = query.trim().toLowerCase();
  const asked = new Set(words(query));
  const scored = skills.map((skill) => {
    const name = skill.name.toLowerCase();
    const points =
      name === exact
        ? Number.POSITIVE_INFINITY
        : score(asked, words(name), 3) + score(asked, words(skill.description), 1);
    return { skill, points };
  });
  return scored
    .filter(({ points }) => points > 0)
    .sort((a, b) => b.points - a.points)
    .slice(0, limit)
    .map(({ skill }) => skill);
}

/** Whether a skill that is for certain files is for one of these. */
export function isFor(skill: Skill, paths: readonly string[]): boolean {
  const rules = new IgnoreRules(skill.paths.join("\n"));
  const base = skill.base === "." ? "" : `${skill.base}/`;
  return paths.some((path) => {
    const clean = path.replace(/^(?:\.\/)+/, "");
    return clean.startsWith(base) && rules.test(clean.slice(base.length), false) === true;
  });
}

/** Too common to tell anything. */
const COMMON = new Set(
  "a an and are as at be by for from how i in is it my of on or that the this to use when with you".split(" "),
);
const ALIKE = 4; // letters

function words(text: string): string[] {
  const all =
    text
      .normalize("NFKC")
      .toLowerCase()
      .match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
  return all.flatMap((word) => (UNSPACED.test(word) ? pairs(word) : COMMON.has(word) ? [] : [word]));
}

/** Scripts that put no space between words: their letters are compared in pairs. */
const UNSPACED =
  /\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Thai}|\p{Script=Lao}|\p{Script=Khmer}/u;

function pairs(word: string): string[] {
  const letters = [...word];
  return letters.length < 2 ? letters : letters.slice(1).map((letter, i) => `${letters[i]}${letter}`);
}

function score(asked: ReadonlySet<string>, there: readonly string[], weight: number): number {
  let points = 0;
  for (const word of asked) {
    if (there.includes(word)) points += weight;
    else if (word.length >= ALIKE && there.some((other) => isAlike(word, other))) points += weight / 2;
  }
  return points;
}

/** `release`, `releases`, `releasing`: they begin alike, for most of the longer one. */
function isAlike(word: string, other: string): boolean {
  if (other.startsWith(word) || word.startsWith(other)) return other.length >= ALIKE;
  let same = 0;
  while (same < word.length && word[same] === other[same]) same++;
  return same > ALIKE && same >= 0.6 * Math.max(word.length, other.length);
}
