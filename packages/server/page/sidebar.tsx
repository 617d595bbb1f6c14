import { useRef } from "preact/hooks";
import type { SessionEntry } from "./api.js";
import { useStore } from "./store.js";

/** The sessions: searched, opened, begun. */
export function Sidebar({ onClose }: { onClose: () => void }) {
  const store = useStore();
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const search = (text: string) => {
    store.search = text;
    clearTimeout(timer.current);
    timer.current = setTimeout(() => void store.run(() => store.list()), 150);
  };
  return (
    <nav class="sidebar" id="sessions" aria-label="Sessions">
      <div class="row">
        <button
          type="button"
          class="primary spring"
          onClick={() => {
            void store.run(() => store.begin());
            onClose();
          }}
        >
          New session
        </button>
        <button type="button" class="quiet only-narrow" onClick={onClose}>
          Close
        </button>
      </div>
      <label class="hidden" for="search">
        Search the sessions
      </label>
      <input
        id="search"
        type="search"
        placeholder="Search"
        value={store.search}
        onInput={(event) => search(event.currentTarget.value)}
      />
      <ul>
        {store.sessions.map((session) => (
          <Item key={session.id} session={session} chosen={session.id === store.current?.id} onChoose={onClose} />
        ))}
      </ul>
      {store.sessions.length === 0 && (
        <p class="dim">{store.search ? "No session has that in it." : "Nothing was said yet."}</p>
      )}
      {store.more && (
        <button type="button" class="quiet" onClick={() => void store.run(() => store.list(true))}>
          More
        </button>
      )}
    </nav>
  );
}

function Item({ session, chosen, onChoose }: { session: SessionEntry; chosen: boolean; onChoose: () => void }) {
  const { id, title, label, updatedAt, running } = session;
  return (
    <li>
      <a href={`#/s/${encodeURIComponent(id)}`} aria-current={chosen ? "page" : undefined} onClick={onChoose}>
        <span class="title">{title ?? "New session"}</span>
        <span class="dim">
          {running ? "working · " : ""}
          {when(updatedAt)}
          {label ? ` · ${label}` : ""}
        </span>
      </a>
    </li>
  );
}

function when(time: number): string {
  const date = new Date(time);
  const today = date.toDateString() === new Date().toDateString();
  return today
    ? date.toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit" })
    : date.toLocaleDateString(undefined, { month: "short", day: "numeric" });
}
