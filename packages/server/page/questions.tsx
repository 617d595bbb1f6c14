import type { JsonValue } from "@shedkit/types";
import { useState } from "preact/hooks";
import { api } from "./api.js";
import type { CallEntry } from "./conversation.js";
import { focusNext } from "./focus.js";
import { store } from "./store.js";

interface Question {
  question: string;
  options?: { label: string; description?: string }[];
  multi_select?: boolean;
}

/** What a call asks a person, as `ask_user` writes it; undefined where it asks for leave, or for a yes. */
export function questionsOf({ approval, args }: CallEntry): Question[] | undefined {
  const { questions } = args;
  if (!approval?.call?.asks || !Array.isArray(questions) || questions.length === 0) return undefined;
  return questions as unknown as Question[];
}

interface Given {
  chosen: string[];
  words: string;
}

/** The questions of a call, each with what can be chosen and a place for words of one's own. */
export function Questions({ id, questions, session }: { id: string; questions: Question[]; session: string }) {
  const [given, setGiven] = useState<Given[]>(questions.map(() => ({ chosen: [], words: "" })));
  const [sent, setSent] = useState(false);
  const change = (at: number, part: Partial<Given>) =>
    setGiven(given.map((one, i) => (i === at ? { ...one, ...part } : one)));
  const send = async () => {
    setSent(true);
    const answer = questions.map((question, i) => answerOf(question, given[i]));
    const ok = await store.run(() => api.approve(session, id, "once", { answer }));
    if (ok === undefined) setSent(false);
    else focusNext();
  };
  return (
    <form
      class="approval questions"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      {questions.map((question, i) => (
        <fieldset key={question.question} disabled={sent}>
          <legend>{question.question}</legend>
          {question.options?.map(({ label, description }) => (
            <label key={label}>
              <input
                type={question.multi_select ? "checkbox" : "radio"}
                name={`${id}-${i}`}
                checked={given[i]?.chosen.includes(label) ?? false}
                onChange={(event) => {
                  const others = question.multi_select ? (given[i]?.chosen.filter((one) => one !== label) ?? []) : [];
                  change(i, { chosen: event.currentTarget.checked ? [...others, label] : others });
                }}
              />
              <span>
                {label} {description && <span class="dim">{description}</span>}
              </span>
            </label>
          ))}
          <input
            aria-label={`In your own words: ${question.question}`}
            placeholder={question.options?.length ? "Or in your own words" : "Your answer"}
            value={given[i]?.words ?? ""}
            onInput={(event) => change(i, { words: event.currentTarget.value })}
          />
        </fieldset>
      ))}
      <div class="row">
        <button type="submit" class="primary" disabled={sent}>
          Answer
        </button>
        <span class="dim">What you leave open, the model decides.</span>
      </div>
    </form>
  );
}

/** Words of one's own win over one choice, and go beside several. */
function answerOf(
  { options = [], multi_select }: Question,
  { chosen, words }: Given = { chosen: [], words: "" },
): JsonValue {
  const own = words.trim();
  const inOrder = options.map(({ label }) => label).filter((label) => chosen.includes(label));
  if (multi_select) return [...inOrder, ...(own ? [own] : [])];
  return own || inOrder[0] || null;
}
