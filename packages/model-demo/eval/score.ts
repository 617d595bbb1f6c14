import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import type { EvalCase } from "./cases.js";

/** `wrong`: it states as a fact, or claims to have done, what is not so. `refused`: it says that it cannot, or gives up. */
export type Verdict = "right" | "wrong" | "refused";

/** What came of a case. */
export interface Outcome {
  /** Undefined where the turn failed. */
  answer: string | undefined;
  root: string;
  facts: readonly string[];
}

const REFUSAL = /\b(?:could not|cannot|can't|couldn't|do(?:es)? not|don't|no such|not found|unable)\b/i;

export function verdictOf(wanted: EvalCase, { answer, root, facts }: Outcome): Verdict {
  if (answer === undefined || answer.trim() === "") return "refused";
  const refuses = REFUSAL.test(answer);
  if (wanted.exactly !== undefined && answer !== wanted.exactly) return refuses ? "refused" : "wrong";
  if (wanted.exactly !== undefined) return "right";
  if (wanted.absent || wanted.beyond) return refuses ? "right" : "wrong";
  if (refuses) return "refused";
  const said = (wanted.says ?? []).every((text) => says(answer, text));
  const held = Object.entries(wanted.holds ?? {}).every(([name, text]) => textOf(root, name)?.trimEnd() === text);
  const { changed, remembers } = wanted;
  const text = changed && (textOf(root, changed.path) ?? "");
  const isChanged = !changed || (text?.includes(changed.has) && !text.includes(changed.not));
  const isKnown = remembers === undefined || facts.some((fact) => bare(fact) === bare(remembers));
  return said && held && isChanged && isKnown ? "right" : "wrong";
}

/** Whether an answer says a text, as a word of its own: `1.2` is not said by `1.2.3`, nor `port` by `report`. */
function says(answer: string, text: string): boolean {
  const escaped = text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  return new RegExp(`(?<![\\w.-])${escaped}(?![\\w-]|[.,:/]\\w)`).test(answer);
}

function textOf(root: string, name: string): string | undefined {
  const file = path.join(root, name);
  return existsSync(file) ? readFileSync(file, "utf8") : undefined;
}

function bare(text: string): string {
  return text.toLowerCase().replace(/[.\s]+$/, "");
}
