import { evalFreeValidator, type Infer, showIssues, type TypedSchema } from "@shedkit/tool";
import { AgenticError, addUsage, Messages, noUsage } from "@shedkit/types";
import { type Answer, completeAnswer, failedAnswer } from "./answer.js";
import { type Turn, textOfRecord } from "./turn.js";

/** How often a model is told that its answer does not fit. */
const MAX_REPAIRS = 2;

/**
 * The final answer as a value of the schema. An answer that does not fit is shown to the model with what is wrong, and
 * asked for again.
 */
export async function structuredAnswer<S extends TypedSchema>(
  schema: S,
  first: Turn,
  again: (prompt: ReturnType<typeof Messages.agent>) => Promise<Turn>,
): Promise<Answer<Infer<S>>> {
  const check = evalFreeValidator.compile(schema);
  let turn = first;
  let usage = noUsage;
  for (let repairs = 0; ; repairs++) {
    usage = addUsage(usage, turn.usage ?? noUsage);
    if (turn.failure) return failedAnswer(turn.text, turn.failure, usage);
    const text = finalText(turn);
    const { value, problem } = read(text, check);
    if (problem === undefined) return completeAnswer(text, value as Infer<S>, usage);
    if (repairs === MAX_REPAIRS) {
      const error = new AgenticError(
        "generation",
        `The answer does not fit the output schema, also after ${MAX_REPAIRS} repairs: ${problem}`,
        { kind: "badRequest", provider: "", model: modelOf(turn) },
      );
      return failedAnswer(text, error, usage);
    }
    turn = await again(
      Messages.agent(
        `Your answer does not fit: ${problem}\nAnswer again with nothing but JSON of this schema:\n${JSON.stringify(schema)}`,
      ),
    );
  }
}

/** The text behind the last tool result. */
function finalText(turn: Turn): string {
  let text = "";
  for (const record of turn) {
    if (record.type === "conversation" && record.message.type === "toolResult") text = "";
    else text += textOfRecord(record);
  }
  return text;
}

function read(
  text: string,
  check: ReturnType<typeof evalFreeValidator.compile>,
): { value?: unknown; problem?: string | undefined } {
  let value: unknown;
  try {
    // A model that was not held to JSON likes to fence it.
    value = JSON.parse(text.replace(/^\s*```(?:json)?\s*\n([\s\S]*?)\n\s*```\s*$/, "$1"));
  } catch (error) {
    return { problem: `it is not JSON (${error instanceof Error ? error.message : String(error)}).` };
  }
  const issues = check(value);
  return issues.length === 0 ? { value } : { problem: showIssues(issues) };
}

function modelOf(turn: Turn): string {
  for (const record of turn) if (record.type === "step") return record.model;
  return "";
}
