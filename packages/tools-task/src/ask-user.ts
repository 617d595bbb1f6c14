import { defineTool, ToolCallResult, ToolError, type TypedTool, userAnswers } from "@shedkit/tool";
import type { JsonValue } from "@shedkit/types";
import * as Type from "@sinclair/typebox";

/** An answer offered. */
export interface UserOption {
  label: string;
  /** What choosing it means. */
  description?: string | undefined;
  /** What it would look like (code, a layout), as plain text of several lines: for hosts that show it beside the option. */
  preview?: string | undefined;
}

/** Settings of `ask_user`. */
export interface AskUserOptions {
  /**
   * How long an answer is waited for, in milliseconds; then the model is told that there is none, and goes on. Counted anew where a
   * session is resumed. Default: as long as it takes.
   */
  timeoutMs?: number | undefined;
}

/** A question with the answers offered. */
export interface UserQuestion {
  question: string;
  /** What the person can choose from; another answer is always possible. */
  options?: UserOption[] | undefined;
  multi_select?: boolean | undefined;
}

/** The arguments of `ask_user`. */
export interface AskUserInput {
  questions: UserQuestion[];
}

/** What `ask_user` gives beside its text. */
export interface AskUserOutput {
  /** In the order of the questions. No answer: none was given. */
  answers: { question: string; answer: string[] }[];
}

const MOST = 8;

const Input = Type.Object(
  {
    questions: Type.Array(
      Type.Object(
        {
          question: Type.String({ minLength: 1, maxLength: 2000, description: "The whole question." }),
          options: Type.Optional(
            Type.Array(
              Type.Object(
                {
                  label: Type.String({ minLength: 1, maxLength: 200 }),
                  description: Type.Optional(Type.String({ maxLength: 1000, description: "What choosing it means." })),
                  preview: Type.Optional(
                    Type.String({
                      maxLength: 5000,
                      description: "What it would look like, e.g. code, where that tells more.",
                    }),
                  ),
                },
                { additionalProperties: false },
              ),
              { maxItems: 20, description: "What to choose from. The user may always answer something else." },
            ),
          ),
          multi_select: Type.Optional(Type.Boolean({ description: "Several may be chosen.", default: false })),
        },
        { additionalProperties: false },
      ),
      { maxItems: MOST },
    ),
  },
  { additionalProperties: false },
);

const Output = Type.Object({
  answers: Type.Array(Type.Object({ question: Type.String(), answer: Type.Array(Type.String()) })),
});

/**
 * Asks the user, and waits for the answer as a call waits for leave: the session shows `approvalRequested` with `asks`, and
 * the host answers with `session.approve(id, { type: "allow", scope: "once", answer })`. `answer` is a list with a text, a
 * list of texts or `null` for each question; for one question alone, also its text.
 */
export function askUserTool({ timeoutMs }: AskUserOptions = {}): TypedTool<AskUserInput, AskUserOutput> {
  return defineTool({
    id: "ask_user",
    namespace: "task",
    kind: "askUser",
    category: "task",
    description:
      "Ask the user a question and wait for the answer.\nFor what only the user can decide, before it matters. Give options " +
      "where you can tell them; put all questions that you have into one call.",
    input: Input,
    output: Output,
    capabilities: { readOnly: true, idempotent: false },
    asks: ({ questions }) => fault(questions) === undefined,
    asksForMs: timeoutMs,
    run: ({ questions }, ctx) => {
      const wrong = fault(questions);
      if (wrong === "none") {
        const text = "Nothing was asked. Go on with what you know.";
        return new ToolCallResult([{ type: "text", text }], { output: { answers: [] } });
      }
      if (wrong !== undefined) {
        const text = `${JSON.stringify(wrong)} is asked more than once. Nobody was asked: ask each question once.`;
        return ToolCallResult.failure("duplicate question", text);
      }
      const kept = ctx.resources.get(userAnswers);
      const answers = answersOf(kept?.get(ctx.callId), questions, ctx.names.tool);
      kept?.delete(ctx.callId);
      const output = { answers: questions.map(({ question }, i) => ({ question, answer: answers[i] ?? [] })) };
      return new ToolCallResult([{ type: "text", text: shown(output) }], { output });
    },
  });
}

/** What keeps the questions from being asked: there are none, or this one stands there twice. */
function fault(questions: readonly UserQuestion[]): string | undefined {
  if (questions.length === 0) return "none";
  const texts = questions.map(({ question }) => question.trim());
  return texts.find((text, i) => texts.indexOf(text) !== i);
}

/** The texts of each answer. Throws ToolError `execution` where the host answered something else. */
function answersOf(answer: JsonValue | undefined, questions: readonly UserQuestion[], tool: string): string[][] {
  if (answer === undefined || answer === null) return [];
  const all = questions.length === 1 && !isNested(answer) ? [answer] : answer;
  if (Array.isArray(all) && all.length === questions.length) {
    const texts = all.map((one: JsonValue) => textsOf(one));
    if (texts.every((one) => one !== undefined)) return texts;
  }
  const message =
    `The program that asked the user gave no answer that can be read: it wants a list with a text, a list of texts or null ` +
    `for each of the ${questions.length} questions.`;
  throw new ToolError("execution", tool, message);
}

/** A list with something else in it than texts: it holds the answers to all questions. */
function isNested(answer: JsonValue): boolean {
  return Array.isArray(answer) && answer.length === 1 && (answer[0] === null || Array.isArray(answer[0]));
}

function textsOf(one: JsonValue): string[] | undefined {
  if (one === null) return [];
  const list: readonly JsonValue[] = Array.isArray(one) ? one : [one as JsonValue];
  if (!list.every((text) => typeof text === "string")) return undefined;
  return list.map((text) => text.trim()).filter((text) => text !== "");
}

function shown({ answers }: AskUserOutput): string {
  const lines = answers.map(({ question, answer }) => `${question}\n-> ${answer.join("; ") || "(no answer)"}`);
  const open = answers.some(({ answer }) => answer.length === 0);
  return [...lines, ...(open ? ["Decide yourself what was not answered, and say so."] : [])].join("\n\n");
}
