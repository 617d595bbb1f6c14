import { useEffect, useState } from "preact/hooks";
import { api, type Hit, type Stored, type ToolEntry } from "./api.js";
import type { ShedSearch } from "./conversation.js";
import { type Current, useStore } from "./store.js";
import { Costs } from "./usage.js";

const TABS = ["Shed", "Log", "Cost"] as const;
type Tab = (typeof TABS)[number];

/** Beside the conversation: what the model was given, what is stored, what it took. */
export function Panel({ onClose }: { onClose: () => void }) {
  const store = useStore();
  const [tab, setTab] = useState<Tab>("Shed");
  const { current } = store;
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (step === 0) return;
    const next = TABS[(TABS.indexOf(tab) + step + TABS.length) % TABS.length] as Tab;
    setTab(next);
    document.getElementById(`tab-${next}`)?.focus();
  };
  return (
    <aside class="panel" id="panel" aria-label="About this session">
      <button type="button" class="quiet only-over" onClick={onClose}>
        Close
      </button>
      <div role="tablist" aria-label="About this session" class="row" onKeyDown={onKeyDown}>
        {TABS.map((name) => (
          <button
            key={name}
            id={`tab-${name}`}
            type="button"
            role="tab"
            aria-selected={name === tab}
            aria-controls="tabpanel"
            tabIndex={name === tab ? 0 : -1}
            onClick={() => setTab(name)}
          >
            {name}
          </button>
        ))}
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a panel of tabs is reached from its tab */}
      <div role="tabpanel" id="tabpanel" aria-labelledby={`tab-${tab}`} tabIndex={0}>
        {current && tab === "Shed" && <Shed key={current.id} current={current} />}
        {current && tab === "Log" && <Log records={current.records} />}
        {current && tab === "Cost" && <Costs key={current.id} session={current.id} records={current.records.length} />}
      </div>
    </aside>
  );
}

/** Which tools there are, which the model has been given, and what it looked for. */
function Shed({ current: { id, conversation } }: { current: Current }) {
  const [tools, setTools] = useState<ToolEntry[]>();
  const [problem, setProblem] = useState("");
  const [words, setWords] = useState("");
  const [hits, setHits] = useState<Hit[]>();
  const { activated, searches } = conversation;
  useEffect(() => {
    api.tools(id).then(
      ({ tools }) => setTools(tools),
      (error: Error) => setProblem(error.message),
    );
  }, [id]);
  const isActive = (tool: ToolEntry) => tool.active || activated.includes(tool.name);
  const search = async (event: Event) => {
    event.preventDefault();
    const found = await api.search(id, words).catch((error: Error) => setProblem(error.message));
    if (found) setHits(found.hits);
  };
  return (
    <>
      <h2>Given to the model</h2>
      {problem && <p class="dim">{problem}</p>}
      {tools && (
        <ToolList tools={tools.filter(isActive)} none="None yet: it begins with shed alone, and looks up the rest." />
      )}
      <h2>Looked for</h2>
      {searches.length === 0 && <p class="dim">Nothing yet.</p>}
      <ol class="searches">
        {searches.map((search) => (
          <Search key={search.callId} search={search} session={id} count={search.found.length} />
        ))}
      </ol>
      <h2>Try a search</h2>
      <form class="row" onSubmit={(event) => void search(event)}>
        <input
          aria-label="What to look for"
          placeholder="read a file"
          value={words}
          onInput={(event) => setWords(event.currentTarget.value)}
        />
        <button type="submit" disabled={words.trim() === ""}>
          Search
        </button>
      </form>
      {hits && <Hits hits={hits} given={[]} />}
      {tools && (
        <details>
          <summary>In the shed: {tools.length} tools</summary>
          <ToolList tools={tools} none="None." />
        </details>
      )}
    </>
  );
}

function ToolList({ tools, none }: { tools: readonly ToolEntry[]; none: string }) {
  if (tools.length === 0) return <p class="dim">{none}</p>;
  return (
    <ul class="tools">
      {tools.map(({ name, category, description }) => (
        <li key={name}>
          <strong>{name}</strong> <span class="dim">{category}</span>
          <p class="dim">{description.split("\n", 1)[0]}</p>
        </li>
      ))}
    </ul>
  );
}

/** A search of the model; its scores are asked for when somebody wants to see them. */
function Search({ search, session }: { search: ShedSearch; session: string; count: number }) {
  const [hits, setHits] = useState<Hit[]>();
  const load = () => {
    if (!hits)
      void api.search(session, search.description).then(
        ({ hits }) => setHits(hits),
        () => setHits([]),
      );
  };
  return (
    <li>
      <details onToggle={load}>
        <summary>
          “{search.description}” <span class="dim">{search.found.join(", ") || "nothing new"}</span>
        </summary>
        {hits && <Hits hits={hits} given={search.found} />}
      </details>
    </li>
  );
}

function Hits({ hits, given }: { hits: readonly Hit[]; given: readonly string[] }) {
  if (hits.length === 0) return <p class="dim">Nothing is found.</p>;
  const best = Math.max(...hits.map(({ score }) => score), Number.MIN_VALUE);
  return (
    <ul class="hits">
      {hits.map(({ name, score, description }) => (
        <li key={name} title={description}>
          <span>
            {name}
            {given.includes(name) ? " ✓" : ""}
          </span>
          <meter aria-label={`Score of ${name}`} min={0} max={best} value={score} />
          <span class="dim">{score.toFixed(2)}</span>
        </li>
      ))}
    </ul>
  );
}

/** The newest records of the log; each is shown whole when it is opened. */
function Log({ records }: { records: readonly Stored[] }) {
  const [count, setCount] = useState(100);
  const shown = records.slice(-count).reverse();
  return (
    <>
      <h2>Session log</h2>
      <p class="dim">Newest first. Nothing in it is ever changed.</p>
      <ol class="log">
        {shown.map((stored) => (
          <Line key={stored.record.id} stored={stored} />
        ))}
      </ol>
      {records.length > count && (
        <button type="button" class="quiet" onClick={() => setCount(count + 100)}>
          More
        </button>
      )}
    </>
  );
}

function Line({ stored: { seq, record } }: { stored: Stored }) {
  const [open, setOpen] = useState(false);
  const what = record.type === "conversation" ? record.message.type : record.type;
  return (
    <li>
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <span class="dim">{seq}</span> {what} <time class="dim">{new Date(record.at).toLocaleTimeString()}</time>
        </summary>
        {open && (
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
          <pre tabIndex={0}>{JSON.stringify(record, null, 2)}</pre>
        )}
      </details>
    </li>
  );
}
