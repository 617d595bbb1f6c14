import { useLayoutEffect, useRef } from "preact/hooks";
import { Call } from "./call.js";
import type { Entry } from "./conversation.js";
import { Images } from "./images.js";
import { GrowingMarkdown, Markdown } from "./markdown.js";
import { memo } from "./memo.js";
import { useStore } from "./store.js";

/** The conversation. It stays at its end while it grows, unless somebody scrolled up. */
export function Chat() {
  const store = useStore();
  const { current } = store;
  const box = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  useLayoutEffect(() => {
    if (box.current && follows.current) box.current.scrollTop = box.current.scrollHeight;
  });
  useLayoutEffect(() => {
    follows.current = true;
  }, [current?.id]);
  if (!current) return <div class="chat" />;
  const { conversation, records, running, activity } = current;
  const onScroll = () => {
    const { scrollTop, scrollHeight, clientHeight } = box.current as HTMLDivElement;
    follows.current = scrollHeight - scrollTop - clientHeight < 60;
  };
  const entries = [...conversation.entries, ...conversation.live];
  const waits = conversation.waiting.length > 0;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
    <div class="chat" ref={box} onScroll={onScroll} tabIndex={0} role="log" aria-live="off" aria-label="Conversation">
      <div class="column">
        {(records[0]?.seq ?? 1) > 1 && (
          <button type="button" class="quiet earlier" onClick={() => void store.run(() => store.earlier())}>
            Show what was said earlier
          </button>
        )}
        {entries.length === 0 && !running && <Welcome />}
        {entries.map((entry) => (
          <Shown key={entry.id} entry={entry} rev={entry.rev} session={current.id} />
        ))}
        {[...conversation.queued].map(([id, text]) => (
          <div key={id} class="message user queued">
            <p class="who">Waiting to be taken up</p>
            <p class="said">{text}</p>
          </div>
        ))}
        {running && !waits && (
          <p class="activity">
            <span class="pulse" aria-hidden="true" />
            {activity.text || "working"}
            {activity.share !== undefined && (
              <progress value={Math.min(1, activity.share)} aria-label={activity.text}>
                {Math.round(100 * activity.share)} %
              </progress>
            )}
          </p>
        )}
      </div>
    </div>
  );
}

function Welcome() {
  return (
    <div class="welcome">
      <h2>What would you like to know?</h2>
      <p>
        Ask about the files. The model looks up the tools it needs; what would change something asks for your leave
        first.
      </p>
    </div>
  );
}

/** `rev` is there so that a change inside of the entry is seen. */
const Shown = memo(({ entry, session }: { entry: Entry; rev: number; session: string }) => {
  switch (entry.kind) {
    case "user":
      if (entry.role !== "user") {
        return (
          <details class="aside">
            <summary>The model was told by the program</summary>
            <p class="said">{entry.text}</p>
          </details>
        );
      }
      return (
        <article class="message user" aria-label="You">
          {entry.files.length > 0 && <p class="files">{entry.files.map((name) => `📎 ${name}`).join("  ")}</p>}
          <Images images={entry.images} />
          <p class="said">{entry.text}</p>
        </article>
      );
    case "text":
      return (
        <article class="message answer" aria-label="Answer" aria-busy={entry.live}>
          {entry.live ? <GrowingMarkdown text={entry.text} /> : <Markdown text={entry.text} />}
        </article>
      );
    case "thinking":
      return (
        <details class="aside" open={entry.live}>
          <summary>{entry.live ? "Thinking" : "Thought"}</summary>
          <p class="said">{entry.text}</p>
        </details>
      );
    case "call":
      return <Call call={entry} session={session} />;
    case "notice":
      return (
        <p class={`notice ${entry.tone}`} role={entry.tone === "error" ? "alert" : undefined}>
          {entry.text}
        </p>
      );
  }
});
