import { ToolCallResult } from "@shedkit/tool";
import type { JsonValue, MemoryAccess } from "@shedkit/types";

/** A change that cannot be made: `detail` in a few words, `text` for the model. */
export class Refusal extends Error {
  readonly detail: string;

  constructor(detail: string, text: string) {
    super(text);
    this.detail = detail;
  }
}

/** The words of a fact. */
function factText(fact: JsonValue): string {
  if (typeof fact === "string") return fact;
  if (typeof fact === "object" && fact !== null && "fact" in fact && typeof fact.fact === "string") return fact.fact;
  return JSON.stringify(fact);
}

// What a reader does not see, and a model reads all the same.
const UNSEEN = /\p{Cc}|[\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]|[\u{e0000}-\u{e007f}]/gu;

/** A fact on one line: what is shown as a list must not be able to have more entries than there are. */
export function oneLine(text: string): string {
  return text
    .replace(/[\s\u0085]+/g, " ")
    .replace(UNSEEN, "")
    .trim();
}

/** The facts as a model reads them. */
export function listed(facts: readonly JsonValue[]): string {
  return facts.length === 0 ? "Nothing is remembered." : facts.map((fact) => `- ${oneLine(factText(fact))}`).join("\n");
}

/** Where the one fact is that is meant: its whole text, or a part that only one has. Throws Refusal. */
export function placeOf(facts: readonly JsonValue[], wanted: string): number {
  const texts = facts.map((fact) => folded(factText(fact)));
  const text = folded(wanted);
  if (text === "") {
    throw new Refusal("no fact named", `It is not said which fact is meant. Give words of it:\n${listed(facts)}`);
  }
  const whole = texts.indexOf(text);
  if (whole >= 0) return whole;
  const places = texts.flatMap((candidate, i) => (candidate.includes(text) ? [i] : []));
  const [only] = places;
  if (only !== undefined && places.length === 1) return only;
  if (only === undefined) {
    throw new Refusal(
      "no such fact",
      `Nothing is remembered that says ${JSON.stringify(wanted)}. It is:\n${listed(facts)}`,
    );
  }
  const alike = places.flatMap((i) => facts[i] ?? []);
  throw new Refusal(
    "several facts",
    `${places.length} facts say ${JSON.stringify(wanted)}. Give more of the one you mean:\n${listed(alike)}`,
  );
}

/** True where both say the same, but for case and spaces. */
export function isSame(fact: JsonValue, text: string): boolean {
  return folded(factText(fact)) === folded(text);
}

function folded(text: string): string {
  return oneLine(text.normalize("NFC")).toLowerCase();
}

/** Makes a change, alone. `change` throws Refusal where there is none to make, which leaves the facts as they are. */
export async function changing(
  memory: MemoryAccess,
  change: (facts: readonly JsonValue[]) => readonly JsonValue[],
  said: string,
): Promise<ToolCallResult> {
  let count = 0;
  try {
    const version = await memory.edit((facts) => {
      const changed = change(facts);
      count = changed.length;
      return changed;
    });
    const text = `${said} ${count === 1 ? "1 fact is" : `${count} facts are`} remembered.`;
    return new ToolCallResult([{ type: "text", text }], { output: { version, facts: count } });
  } catch (error) {
    if (error instanceof Refusal) return ToolCallResult.failure(error.detail, error.message);
    throw error;
  }
}
