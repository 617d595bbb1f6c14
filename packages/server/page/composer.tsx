import { useEffect, useRef, useState } from "preact/hooks";
import { type Attachment, api } from "./api.js";
import { useStore } from "./store.js";

/** Where a person writes: a question, or, while the model works, what it should hear at once or afterwards. */
export function Composer() {
  const store = useStore();
  const { current } = store;
  const [text, setText] = useState("");
  const [files, setFiles] = useState<Attachment[]>([]);
  const area = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  useEffect(() => area.current?.focus({ preventScroll: true }), [current?.id]);
  useEffect(() => {
    const box = area.current;
    if (!box) return;
    box.style.height = "auto";
    box.style.height = `${Math.min(box.scrollHeight, 240)}px`;
  }, [text]);
  if (!current) return null;
  const { id, running } = current;

  const send = async (later = false) => {
    if (text.trim() === "") return;
    const meant = await store.meant();
    if (!meant) return;
    const { id, running } = meant;
    const sent = await store.run(() => {
      if (!running) return api.ask(id, text, files);
      return later ? api.followUp(id, text) : api.steer(id, text);
    });
    if (sent === undefined) return;
    if (!running) {
      meant.running = true;
      setFiles([]);
    }
    setText("");
  };
  const stop = () => void store.run(() => api.abort(id));
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.isComposing) return;
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      void send(event.altKey);
    } else if (event.key === "Escape" && running) stop();
  };
  const attach = async (list: FileList | null | undefined) => {
    const read = await Promise.all([...(list ?? [])].map(readFile));
    setFiles((before) => [...before, ...read]);
  };
  return (
    <form
      class="composer"
      aria-label="Write to the model"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      {files.length > 0 && (
        <ul class="attached" aria-label="Attached files">
          {files.map((file) => (
            <li key={file.name}>
              {file.name}{" "}
              <button
                type="button"
                class="quiet"
                aria-label={`Leave out ${file.name}`}
                onClick={() => setFiles(files.filter((other) => other !== file))}
              >
                ×
              </button>
            </li>
          ))}
        </ul>
      )}
      <label class="hidden" for="message">
        {running ? "Tell the model something while it works" : "Ask something"}
      </label>
      <textarea
        id="message"
        ref={area}
        rows={1}
        value={text}
        placeholder={running ? "Tell the model something while it works" : "Ask something"}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={onKeyDown}
        onPaste={(event) => {
          if (event.clipboardData?.files.length) {
            event.preventDefault();
            void attach(event.clipboardData.files);
          }
        }}
      />
      <div class="row">
        <input
          ref={picker}
          type="file"
          multiple
          hidden
          onChange={(event) => {
            void attach(event.currentTarget.files);
            event.currentTarget.value = "";
          }}
        />
        {!running && (
          <button type="button" class="quiet" onClick={() => picker.current?.click()}>
            Attach
          </button>
        )}
        <span class="spring" />
        {running && (
          <>
            <button type="button" onClick={stop}>
              Stop
            </button>
            <button type="button" disabled={text.trim() === ""} onClick={() => void send(true)}>
              Afterwards
            </button>
          </>
        )}
        <button type="submit" class="primary" disabled={text.trim() === ""}>
          {running ? "Steer" : "Send"}
        </button>
      </div>
    </form>
  );
}

async function readFile(file: File): Promise<Attachment> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let binary = "";
  for (let i = 0; i < bytes.length; i += 8192) binary += String.fromCharCode(...bytes.subarray(i, i + 8192));
  return { name: file.name, mediaType: file.type || "application/octet-stream", data: btoa(binary) };
}
