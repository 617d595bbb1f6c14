import { useEffect, useRef, useState } from "preact/hooks";
import { api } from "./api.js";
import { type Current, useStore } from "./store.js";

/** The title of the session that is shown, its model, and what can be done with it. */
export function SessionHeader() {
  const store = useStore();
  const { current } = store;
  const [renaming, setRenaming] = useState(false);
  if (!current) return <h1>Sessions</h1>;
  const { id, info } = current;
  const title = info.title ?? "New session";
  const stopRenaming = () => {
    setRenaming(false);
    document.querySelector<HTMLElement>(".menu summary")?.focus();
  };
  const rename = async (name: string) => {
    stopRenaming();
    if (name.trim() === title) return;
    const changed = await store.run(() => api.change(id, { title: name }));
    if (changed) current.info = changed;
    await store.run(() => store.list());
  };
  return (
    <>
      {renaming ? (
        <form
          class="row rename"
          onSubmit={(event) => {
            event.preventDefault();
            void rename(String(new FormData(event.currentTarget).get("title") ?? ""));
          }}
        >
          <input
            name="title"
            aria-label="Title of the session"
            defaultValue={title}
            maxLength={200}
            ref={(input) => input?.focus()}
          />
          <button type="submit">Save</button>
          <button type="button" class="quiet" onClick={stopRenaming}>
            Cancel
          </button>
        </form>
      ) : (
        <h1>{title}</h1>
      )}
      <ModelChoice current={current} />
      <Menu key={id} current={current} onRename={() => setRenaming(true)} />
    </>
  );
}

function ModelChoice({ current }: { current: Current }) {
  const store = useStore();
  const choose = async (model: string) => {
    const changed = await store.run(() => api.change(current.id, { model }));
    if (changed) current.info = changed;
  };
  return (
    <>
      <label class="hidden" for="model">
        Model
      </label>
      <select
        id="model"
        value={current.info.model}
        disabled={current.running}
        onChange={(event) => void choose(event.currentTarget.value)}
      >
        {store.models.map((model) => (
          <option key={model.id} value={model.id}>
            {model.name}
          </option>
        ))}
      </select>
    </>
  );
}

function Menu({ current: { id, info, running }, onRename }: { current: Current; onRename: () => void }) {
  const store = useStore();
  const [removing, setRemoving] = useState(false);
  const menu = useRef<HTMLDetailsElement>(null);
  const close = () => {
    if (menu.current) menu.current.open = false;
    setRemoving(false);
  };
  useEffect(() => {
    const onPointerDown = (event: Event) => {
      if (menu.current?.open && !menu.current.contains(event.target as Node)) close();
    };
    addEventListener("pointerdown", onPointerDown);
    return () => removeEventListener("pointerdown", onPointerDown);
  }, []);
  const fork = async () => {
    close();
    const copy = await store.run(() => api.fork(id));
    if (!copy) return;
    store.open(copy.id);
    await store.run(() => store.list());
    store.announce("This is a copy now.");
  };
  const empty = info.records === 0;
  return (
    <details
      class="menu"
      ref={menu}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        close();
        menu.current?.querySelector("summary")?.focus();
      }}
      onFocusOut={(event) => {
        if (event.relatedTarget && !menu.current?.contains(event.relatedTarget as Node)) close();
      }}
    >
      <summary class="button quiet">Session</summary>
      <div class="items">
        <button
          type="button"
          class="quiet"
          onClick={() => {
            close();
            onRename();
          }}
        >
          Rename
        </button>
        <button type="button" class="quiet" onClick={() => void fork()} disabled={empty || running}>
          Fork
        </button>
        {!empty && (
          <>
            <a class="button quiet" href={api.exportUrl(id, "markdown")} download onClick={close}>
              Export to read
            </a>
            <a class="button quiet" href={api.exportUrl(id, "jsonl")} download onClick={close}>
              Export every record
            </a>
          </>
        )}
        {removing ? (
          <button type="button" class="danger" onClick={() => void store.run(() => api.remove(id))}>
            Delete for ever
          </button>
        ) : (
          <button type="button" class="quiet" onClick={() => setRemoving(true)} disabled={running}>
            Delete
          </button>
        )}
      </div>
    </details>
  );
}
