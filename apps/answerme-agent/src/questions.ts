import type { ApprovalDecision, JsonValue, ToolArguments } from "@shedkit/types";
import type { Prompt } from "./prompt.js";
import type { Renderer } from "./renderer.js";

/** What a call asks a person, as `ask_user` writes it. */
interface Question {
  question: string;
  options: readonly { label: string; description?: string | undefined; preview?: string | undefined }[];
  severalMay: boolean;
}

/** Asks what the call asks, one question after the other; undefined: the person stopped the turn instead. */
export async function askQuestions(
  args: ToolArguments,
  prompt: Prompt,
  renderer: Renderer,
): Promise<ApprovalDecision | undefined> {
  const questions = questionsOf(args);
  if (questions.length === 0) return askConsent(args, prompt, renderer);
  const answers: JsonValue[] = [];
  for (const question of questions) {
    const marks = marksOf(question);
    const options = question.options.map(({ label, description, preview }, i) => {
      const shown = preview ? `\n${preview.replace(/^/gm, "       ")}` : "";
      return `  ${marks[i]}  ${label}${description ? `: ${description}` : ""}${shown}`;
    });
    renderer.notice([question.question, ...options].join("\n"));
    const answer = await prompt.line(`${wantedOf(question)}: `);
    if (answer.type === "interrupt") return undefined;
    answers.push(answer.type === "line" ? answerOf(answer.text, question) : null);
  }
  return { type: "allow", scope: "once", answer: answers };
}

/** A call that waits for a yes, such as a plan that is to be carried out. What follows the yes goes along. */
async function askConsent({ plan }: ToolArguments, prompt: Prompt, renderer: Renderer) {
  if (typeof plan === "string") renderer.notice(plan);
  const what = typeof plan === "string" ? "Carry this plan out?" : "Go on?";
  const answer = await prompt.line(`${what} [y]es, [n]o, or say what to change: `);
  if (answer.type === "interrupt") return undefined;
  const text = answer.type === "line" ? answer.text : "";
  const [yes, remark = ""] = /^(?:y|yes)(?:[\s,;:.!]+(.*))?$/is.exec(text) ?? [];
  const decision: ApprovalDecision =
    yes === undefined
      ? { type: "deny", ...(/^(n|no)?$/i.test(text) ? {} : { reason: `the user said: ${text}` }) }
      : { type: "allow", scope: "once", ...(remark !== "" && { answer: remark }) };
  return decision;
}

function questionsOf({ questions }: ToolArguments): Question[] {
  if (!Array.isArray(questions)) return [];
  return (questions as Partial<Question & { multi_select: boolean }>[]).map((one) => ({
    question: one.question ?? "",
    options: one.options ?? [],
    severalMay: one.multi_select === true,
  }));
}

/** How options are chosen: by numbers, or by letters where numbers are what there is to choose from. */
function marksOf({ options }: Question): string[] {
  const numbers = options.some(({ label }) => /^\d+$/.test(label));
  return options.map((_, i) => (numbers ? String.fromCharCode(97 + i) : String(i + 1)));
}

function wantedOf({ options, severalMay }: Question): string {
  if (options.length === 0) return "Your answer";
  return severalMay ? "Which ones, with commas between, or in your own words" : "Which one, or in your own words";
}

/** The options chosen, or what was said instead; null where nothing was. */
function answerOf(text: string, question: Question): JsonValue {
  if (text === "") return null;
  const { options, severalMay } = question;
  const marks = marksOf(question);
  const chosen = (word: string) => {
    const same = (mark: string) => mark.toLowerCase() === word.toLowerCase();
    return (options.find(({ label }) => same(label)) ?? options[marks.findIndex(same)])?.label;
  };
  const one = chosen(text);
  if (one !== undefined) return severalMay ? [one] : one;
  const several = severalMay ? text.split(/\s*,\s*|\s+/).filter((word) => word !== "") : [];
  const labels = several.map(chosen);
  if (labels.length > 0 && labels.every((label) => label !== undefined)) return [...new Set(labels)];
  return text;
}
