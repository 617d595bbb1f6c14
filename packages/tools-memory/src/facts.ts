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

/** The facts as a model reads them. */
export function listed(facts: readonly JsonValue[]): string {
  return facts.length === 0 ? "Nothing is remembered." : facts.map((fact) => `- ${factText(fact)}`).join("\n");
}

/** Where the one fact is that is meant: its whole text, or a part that only one has. Throws Refusal. */
export function placeOf(facts: readonly JsonValue[], wanted: string): number {
  const texts = facts.map((fact) => folded(factText(fact)));
  const text = folded(wanted);
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
  return text.normalize("NFC").replace(/\s+/g, " ").trim().toLowerCase();
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
