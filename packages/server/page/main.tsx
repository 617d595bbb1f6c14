import { render } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { api } from "./api.js";
import { Chat } from "./chat.js";
import { Composer } from "./composer.js";
import { WAITING } from "./focus.js";
import { SessionHeader } from "./header.js";
import { Panel } from "./panel.js";
import { Sidebar } from "./sidebar.js";
import { store, useStore } from "./store.js";

const SHORTCUTS = [
  ["Enter", "send, or steer while the model works"],
  ["Shift + Enter", "a new line"],
  ["Alt + Enter", "while the model works: say it afterwards"],
  ["Escape", "stop, in the text field"],
  ["Alt + N", "a new session"],
  ["Alt + S", "search the sessions"],
  ["Alt + M", "to the text field"],
  ["Alt + A", "to the call that waits for you"],
  ["Alt + P", "show or hide the panel"],
  ["Alt + K", "this list"],
] as const;

function App() {
  const { login, current, problem, announced } = useStore();
  const [sidebar, setSidebar] = useState(false);
  const [panel, setPanel] = useState(() => matchMedia("(min-width: 75rem)").matches);
  const help = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const focus = (selector: string) => document.querySelector<HTMLElement>(selector)?.focus();
    const keys: { readonly [code: string]: () => void } = {
      KeyN: () => void store.run(() => store.begin()),
      KeyS: () => {
        setSidebar(true);
        focus("#search");
        requestAnimationFrame(() => focus("#search")); // where it was not shown before
      },
      KeyM: () => focus("#message"),
      KeyA: () => focus(WAITING),
      KeyP: () => setPanel((shown) => !shown),
      KeyK: () => help.current?.showModal(),
    };
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key === "Escape") setSidebar(false);
      const action = event.altKey && !event.ctrlKey && !event.metaKey ? keys[event.code] : undefined;
      if (!action) return;
      event.preventDefault();
      action();
    };
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, []);
  useEffect(() => {
    document.title = current?.info.title ?? "Sessions";
  }, [current?.info.title]);
  if (login) return <Login />;
  const waits = current && current.conversation.waiting.length > 0;
  return (
    <div class={`app${sidebar ? " with-sidebar" : ""}${panel ? " with-panel" : ""}`}>
      <button type="button" class="skip" onClick={() => document.getElementById("message")?.focus()}>
        To the text field
      </button>
      <Sidebar onClose={() => setSidebar(false)} />
      <main>
        <header>
          <button
            type="button"
            class="quiet only-narrow"
            aria-expanded={sidebar}
            aria-controls="sessions"
            onClick={() => setSidebar(!sidebar)}
          >
            Sessions
          </button>
          <SessionHeader />
          <button
            type="button"
            class="quiet"
            aria-expanded={panel}
            aria-controls="panel"
            onClick={() => setPanel(!panel)}
          >
            Panel
          </button>
          <button type="button" class="quiet not-narrow" onClick={() => help.current?.showModal()}>
            Keys
          </button>
        </header>
        {current && !current.connected && <p class="notice info strip">Not connected; trying again.</p>}
        <Chat />
        <div class="writing">
          {problem && (
            <p class="notice error strip" role="alert">
              {problem}
            </p>
          )}
          {waits && <p class="notice info strip">A tool call waits for your leave (Alt + A).</p>}
          <Composer />
        </div>
      </main>
      {panel && <Panel onClose={() => setPanel(false)} />}
      <div class="hidden" role="status" aria-live="polite">
        {announced}
      </div>
      <dialog ref={help} aria-labelledby="keys">
        <h2 id="keys">Keys</h2>
        <dl class="keys">
          {SHORTCUTS.map(([key, what]) => (
            <div key={key}>
              <dt>
                <kbd>{key}</kbd>
              </dt>
              <dd>{what}</dd>
            </div>
          ))}
        </dl>
        <form method="dialog">
          <button type="submit">Close</button>
        </form>
      </dialog>
    </div>
  );
}

function Login() {
  const { problem } = useStore();
  const enter = async (event: SubmitEvent & { currentTarget: HTMLFormElement }) => {
    event.preventDefault();
    const token = String(new FormData(event.currentTarget).get("token") ?? "");
    try {
      await api.login(token);
      await store.start();
    } catch (error) {
      store.problem = (error as Error).message;
      store.changed();
    }
  };
  return (
    <main class="login">
      <form onSubmit={(event) => void enter(event as never)}>
        <h1>Who are you?</h1>
        <p>Open the address that the program printed, or paste the token from it.</p>
        <label for="token">Token</label>
        <input id="token" name="token" type="password" autocomplete="off" required />
        {problem && (
          <p class="notice error" role="alert">
            {problem}
          </p>
        )}
        <button type="submit" class="primary">
          Enter
        </button>
      </form>
    </main>
  );
}

addEventListener("hashchange", () => void store.run(() => store.showHash()));
render(<App />, document.getElementById("app") as HTMLElement);
void store.start();
