import { AgenticError } from "@shedkit/types";

/** A value as JSON, as it is now. Throws AgenticError `store` for one that JSON cannot write. */
export function jsonText(value: unknown, store: string, operation: string): string {
  let text: string | undefined;
  let why = `it is ${typeof value}`;
  let cause: unknown;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    cause = error; // a BigInt, a circle
    why = error instanceof Error ? error.message : String(error);
  }
  if (text !== undefined) return text;
  throw new AgenticError(
    "store",
    `What is to be stored is no JSON: ${why}. Store texts, numbers, booleans, null, and lists and objects of them.`,
    { store, operation },
    cause === undefined ? {} : { cause },
  );
}
