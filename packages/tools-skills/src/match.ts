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
      .match(/[\p{L}\p{N}]+/gu) ?? [];
  return all.filter((word) => !COMMON.has(word));
}

function score(asked: ReadonlySet<string>, there: readonly string[], weight: number): number {
  let points = 0;
  for (const word of asked) {
    if (there.includes(word)) points += weight;
    else if (word.length >= ALIKE && there.some((other) => isAlike(word, other))) points += weight / 2;
  }
  return points;
}

function isAlike(word: string, other: string): boolean {
  return other.length >= ALIKE && (other.startsWith(word) || word.startsWith(other));
}
