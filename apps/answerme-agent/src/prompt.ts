import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import type { History } from "./history.js";

/** What came of asking for a line. */
export type PromptAnswer = { type: "line"; text: string } | { type: "end" } | { type: "interrupt" };

export interface PromptOptions {
  input: Readable;
  output: NodeJS.WriteStream;
  /** Whether a terminal's line can be edited here, not by the terminal alone. Default: true. */
  editing?: boolean | undefined;
  /** What was typed before, and where what is typed is kept. Default: this prompt's own. */
  history?: Pick<History, "lines" | "add"> | undefined;
  /** What the last word may become, and the word. */
  complete?: ((line: string) => Promise<[string[], string]>) | undefined;
}

export interface LineOptions {
  signal?: AbortSignal | undefined;
  /** Whether the line is kept for arrow up, and completed. Default: false. */
  isMessage?: boolean | undefined;
}

/** Asks a terminal to say where what is pasted begins and ends; and no more. */
const TELL_PASTES = "\u001b[?2004h";
const TELL_NO_PASTES = "\u001b[?2004l";

/**
 * Asks for lines. The terminal is taken for one answer at a time, so that between answers ctrl-C is a signal and stops
 * the turn. Several lines that come at once (pasted), and lines that end in `\`, are one answer.
 */
export class Prompt {
  readonly #options: PromptOptions;
  #history: string[] = [];
  /** Typed ahead of the next question. */
  #ahead = "";
  /** Takes the lines that come while nothing was asked. */
  #listener: ((line: string) => void) | undefined;

  constructor(options: PromptOptions) {
    this.#options = options;
    this.#history = [...(options.history?.lines ?? [])];
  }

  /** While something runs, what the person types goes to `onLine`, a line at a time. The terminal edits the line. */
  async during<T>(onLine: (line: string) => void, run: () => Promise<T>): Promise<T> {
    const { input } = this.#options;
    this.#listener = onLine;
    input.on("data", this.#onData).resume();
    try {
      return await run();
    } finally {
      this.#listener = undefined;
      input.off("data", this.#onData).pause();
    }
  }

  readonly #onData = (chunk: Buffer | string) => {
    for (const line of chunk.toString().split("\n")) if (line.trim() !== "") this.#listener?.(line.trim());
  };

  line(question: string, { signal, isMessage = false }: LineOptions = {}): Promise<PromptAnswer> {
    const { input, output, complete } = this.#options;
    if (signal?.aborted) return Promise.resolve({ type: "interrupt" });
    input.off("data", this.#onData);
    const terminal = output.isTTY === true && this.#options.editing !== false;
    const lines = createInterface({
      input,
      output,
      terminal,
      prompt: question,
      history: isMessage ? [...this.#history] : [],
      historySize: isMessage ? 500 : 0,
      removeHistoryDuplicates: true,
      ...(isMessage && complete && { completer: completer(complete) }),
    });
    return new Promise((resolve) => {
      /** Of the lines before, which ended in a backslash. */
      let kept = "";
      /** The lines of this moment, or of what is pasted. */
      let batch: string[] = [];
      let isPasting = false;
      const onKey = (_: unknown, key: { name?: string } | undefined) => {
        if (key?.name === "paste-start") isPasting = true;
        if (key?.name === "paste-end") isPasting = false;
      };
      if (terminal) {
        input.on("keypress", onKey);
        output.write(TELL_PASTES);
      }
      let finished = false;
      const finish = (answer: PromptAnswer) => {
        if (finished) return;
        finished = true;
        signal?.removeEventListener("abort", interrupt);
        this.#ahead = lines.line;
        lines.close();
        if (terminal) {
          input.off("keypress", onKey);
          output.write(TELL_NO_PASTES);
        }
        if (answer.type !== "line" && output.isTTY) output.write("\n");
        if (this.#listener) input.on("data", this.#onData).resume();
        resolve(answer);
      };
      const interrupt = () => finish({ type: "interrupt" });
      const take = () => {
        const text = kept + batch.join("\n");
        batch = [];
        if (!text.endsWith("\\")) return finish({ type: "line", text: text.trim() });
        kept = `${text.slice(0, -1)}\n`;
        lines.setPrompt("... ");
        lines.prompt();
      };
      signal?.addEventListener("abort", interrupt, { once: true });
      lines.on("history", (history: string[]) => {
        if (!isMessage) return;
        this.#history = history;
        this.#options.history?.add(history[0] ?? "");
      });
      lines.on("line", (line) => {
        batch.push(line);
        if (!isPasting) setImmediate(() => batch.length > 0 && !isPasting && take());
      });
      lines.on("close", () => {
        const text = (kept + batch.join("\n")).trim();
        batch = [];
        finish(text === "" ? { type: "end" } : { type: "line", text });
      });
      lines.on("SIGINT", () => {
        if (lines.line === "" && kept === "" && batch.length === 0) return interrupt();
        kept = "";
        batch = [];
        lines.setPrompt(question);
        lines.write(null, { ctrl: true, name: "e" });
        lines.write(null, { ctrl: true, name: "u" });
      });
      lines.prompt();
      if (this.#ahead !== "") lines.write(this.#ahead);
    });
  }
}

type Complete = NonNullable<PromptOptions["complete"]>;

function completer(complete: Complete) {
  return (line: string, done: (error: null, found: [string[], string]) => void) => {
    complete(line).then(
      (found) => done(null, found),
      () => done(null, [[], line]),
    );
  };
}
