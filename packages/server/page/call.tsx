import { useState } from "preact/hooks";
import { api } from "./api.js";
import type { CallEntry } from "./conversation.js";
import { changeOf, type DiffLine } from "./diff.js";
import { focusNext } from "./focus.js";
import { Images } from "./images.js";
import { Questions, questionsOf } from "./questions.js";
import { store } from "./store.js";

/** More of a result than this is shown on demand. */
const SHOWN = 4000;

/** A tool call: a line, and behind it its arguments, what it changes, and its result. */
export function Call({ call, session }: { call: CallEntry; session: string }) {
  const { name, args, state, result, decision, progress } = call;
  const change = changeOf(args);
  const asks = call.approval !== undefined;
  const questions = questionsOf(call);
  const wants = call.approval?.call?.asks ? "asks you" : "asks for leave";
  return (
    <div class={`call ${state}`}>
      <details open={asks && questions === undefined}>
        <summary>
          <span class="mark" aria-hidden="true" />
          <span class="name">{name}</span> <span class="hint">{hintOf(call)}</span>
          <span class="state">{asks ? wants : state === "done" ? "" : state}</span>
        </summary>
        {change ? <Diff lines={change} /> : <Arguments args={args} />}
        {decision !== undefined && <p class="dim">You: {decision}</p>}
        {result === undefined ? progress && <p class="dim">{progress}</p> : <Result text={result} />}
        {call.images && <Images images={call.images} />}
      </details>
      {call.approval &&
        (questions ? (
          <Questions id={call.approval.id} questions={questions} session={session} />
        ) : (
          <Approval id={call.approval.id} call={call} session={session} />
        ))}
    </div>
  );
}

function hintOf({ args }: CallEntry): string {
  const first =
    args.path ?? args.file_path ?? args.command ?? args.description ?? args.query ?? args.pattern ?? args.url;
  const text = typeof first === "string" ? first : Object.keys(args).length > 0 ? JSON.stringify(args) : "";
  return text.length > 90 ? `${text.slice(0, 89)}…` : text;
}

function Arguments({ args }: { args: CallEntry["args"] }) {
  const entries = Object.entries(args);
  if (entries.length === 0) return <p class="dim">Without arguments.</p>;
  return (
    <dl class="arguments">
      {entries.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{typeof value === "string" ? value : JSON.stringify(value)}</dd>
        </div>
      ))}
    </dl>
  );
}

function Result({ text }: { text: string }) {
  const [all, setAll] = useState(false);
  const cut = !all && text.length > SHOWN;
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
      <pre class="result" tabIndex={0}>
        {cut ? text.slice(0, SHOWN) : text || "(empty)"}
      </pre>
      {cut && (
        <button type="button" class="quiet" onClick={() => setAll(true)}>
          Show all {text.length.toLocaleString()} characters
        </button>
      )}
    </>
  );
}

const SIGNS = { "+": "added", "-": "removed", " ": "kept", "@": "about" } as const;

function Diff({ lines }: { lines: readonly DiffLine[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
    <pre class="diff" tabIndex={0}>
      {lines.map(({ sign, text }, i) => (
        <span key={i} class={SIGNS[sign]}>
          {sign === "@" ? text : `${sign} ${text}`}
          {"\n"}
        </span>
      ))}
    </pre>
  );
}

function Approval({ id, call, session }: { id: string; call: CallEntry; session: string }) {
  const [reason, setReason] = useState("");
  const [sent, setSent] = useState(false);
  const decide = async (decision: "once" | "always" | "deny") => {
    setSent(true);
    const ok = await store.run(() => api.approve(session, id, decision, reason ? { reason } : {}));
    if (ok === undefined) setSent(false);
    else focusNext();
  };
  const { access = [], asks = false, reason: why } = call.approval?.call ?? {};
  return (
    <fieldset class="approval" disabled={sent}>
      <legend>{asks ? `Do you agree to ${call.name}?` : `May ${call.name} run?`}</legend>
      {access.length > 0 && <p class="dim">{access.map(({ action, target }) => `${action} ${target}`).join(", ")}</p>}
      {why !== undefined && <p>{why}</p>}
      <div class="row">
        <button type="button" class="primary" onClick={() => void decide("once")}>
          {asks ? "Yes" : "Allow once"}
        </button>
        {!asks && why === undefined && (
          <button type="button" onClick={() => void decide("always")}>
            Always in this session
          </button>
        )}
      </div>
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault();
          void decide("deny");
        }}
      >
        <input
          aria-label="Why not (told to the model)"
          placeholder="Why not? (optional, told to the model)"
          value={reason}
          onInput={(event) => setReason(event.currentTarget.value)}
        />
        <button type="submit" class="danger">
          No
        </button>
      </form>
    </fieldset>
  );
}
