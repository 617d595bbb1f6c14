import type { AgentProgress, TurnEvent } from "@shedkit/agent";
import type { Usage } from "@shedkit/types";
import type { ChangeLine } from "./change.js";
import { clipped, rowsOf } from "./columns.js";
import { MarkdownStream } from "./markdown.js";
import { ProgressBar, tokens } from "./progress.js";
import type { ModelNotice, Renderer } from "./renderer.js";
import { printable, styled, type Terminal, width } from "./terminal.js";
import { toolCallLine, toolResultLine } from "./tool-line.js";
import { WordWrap } from "./wrap.js";

interface TextOptions {
  quiet?: boolean | undefined;
  now?: (() => number) | undefined;
}

/** How long the word that is being written may be held back. In milliseconds. */
const PAUSE_MS = 100;

/** Smaller models are there before anybody could read the bar. In bytes. */
const WORTH_A_BAR = 20_000_000;

/** The answer on standard output as it comes; tool calls, the usage and everything else as lines on standard error. */
export class TextRenderer implements Renderer {
  readonly #terminal: Terminal;
  readonly #bar: ProgressBar;
  readonly #now: () => number;
  readonly #quiet: boolean;
  /** On a terminal that shows styles. */
  readonly #markdown: MarkdownStream | undefined;
  readonly #wrap: WordWrap | undefined;
  /** Text was written after the last line feed. */
  #midLine = false;
  #pausing: ReturnType<typeof setTimeout> | undefined;
  #calls = 0;
  /** Characters of thinking in this step. */
  #thought = 0;
  #startedAt: number;
  /** What was said of models: they say it again in every turn. */
  readonly #warned = new Set<string>();

  /** `quiet` leaves out the tool calls and the usage. */
  constructor(terminal: Terminal, { quiet = false, now = performance.now.bind(performance) }: TextOptions = {}) {
    this.#terminal = terminal;
    this.#quiet = quiet;
    this.#bar = new ProgressBar(terminal, now);
    this.#now = now;
    this.#startedAt = now();
    if (terminal.out.isTTY && terminal.out.hasColors()) {
      const columns = () => width(terminal.out);
      const wrap = new WordWrap((text) => this.#write(text), columns);
      this.#wrap = wrap;
      this.#markdown = new MarkdownStream((text, whole) => (whole ? wrap.pushWhole(text) : wrap.push(text)), columns);
    }
  }

  model({ text }: ModelNotice): void {
    this.notice(text);
  }

  session(): void {}

  event(event: TurnEvent): void {
    switch (event.type) {
      case "text":
        this.#text(event.delta);
        return;
      case "thinking":
        this.#thought += event.delta.length;
        this.#say(`thinking ... (${this.#thought} characters)`);
        return;
      case "toolCall":
        this.#calls++;
        if (!this.#quiet) this.#dim(`-> ${toolCallLine(event.name, event.arguments, this.#room(3))}`);
        return;
      case "toolResult":
        this.#result(event);
        return;
      case "retract":
        this.#dim(`(the answer above does not count: ${event.reason})`);
        return;
      case "progress":
        this.#progress(event.progress);
        return;
      case "failed":
        if (event.usage.total > 0) this.#end(event.usage);
        return;
      case "done":
        this.#end(event.summary.usage);
        return;
    }
  }

  notice(text: string): void {
    this.#dim(this.#wrapped(printable(text)));
  }

  change(lines: readonly ChangeLine[]): void {
    const styles = { " ": "dim", "-": "red", "+": "green", "@": "bold" } as const;
    for (const { sign, text } of lines) {
      const line = printable(sign === "@" ? text : `${sign} ${text}`);
      // Whole: nobody should agree to what they could not see.
      for (const row of rowsOf(line, this.#room(4))) this.#line(`   ${styled(this.#terminal.err, styles[sign], row)}`);
    }
  }

  error(text: string): void {
    this.#line(styled(this.#terminal.err, "red", `answerme-agent: ${printable(text)}`));
  }

  failed(): void {}

  #text(delta: string): void {
    this.#bar.clear();
    const text = this.#terminal.out.isTTY ? printable(delta) : delta;
    if (text === "") return;
    this.#midLine = !text.endsWith("\n");
    if (this.#markdown === undefined) this.#write(text);
    else this.#markdown.push(text);
    // The last word of a model that thinks for a while is shown, too.
    clearTimeout(this.#pausing);
    this.#pausing = setTimeout(() => this.#wrap?.flush(), PAUSE_MS).unref();
  }

  #write(text: string): void {
    this.#terminal.out.write(text);
  }

  /** What a call came to, in a line; what the shed found is called next, or not. */
  #result({ name, content, errorDetail }: Extract<TurnEvent, { type: "toolResult" }>): void {
    if (this.#quiet || (errorDetail === undefined && name === "shed")) return;
    const mark = errorDetail === undefined ? "=" : `${name} failed:`;
    this.#dim(`   ${mark} ${toolResultLine(content, errorDetail, this.#room(4 + mark.length))}`);
  }

  #progress(progress: Extract<TurnEvent, { type: "progress" }>["progress"]): void {
    switch (progress.type) {
      case "initializing":
        this.#calls = 0;
        this.#startedAt = this.#now();
        return;
      case "generating":
        if (progress.tokensSoFar !== undefined) return;
        this.#thought = 0;
        this.#say("waiting for the model ...");
        return;
      case "toolCallRequested":
        this.#say(`preparing ${progress.name} ...`);
        return;
      case "modelWarning":
        this.#warn(progress);
        return;
      case "evaluatingPrompt":
        this.#evaluating(progress);
        return;
      case "loadingModel":
        this.#loading(progress);
    }
  }

  #loading({ what, why, bytesDone, bytesTotal = 0 }: Extract<AgentProgress, { type: "loadingModel" }>): void {
    if (bytesTotal < WORTH_A_BAR) return;
    if (why !== undefined && !this.#quiet) this.#dim(why);
    this.#bar.update(what === "download" ? "Downloading the model" : "Loading the model", bytesDone, bytesTotal);
  }

  /** A terminal alone is told: a line for every step would be in the way elsewhere. */
  #evaluating({ tokensDone, tokensTotal }: Extract<AgentProgress, { type: "evaluatingPrompt" }>): void {
    if (!this.#terminal.redraws || this.#midLine) return;
    if (tokensDone === 0) this.#bar.clear();
    this.#bar.update("Reading the conversation", tokensDone, tokensTotal, tokens);
  }

  /** A word on what goes on, where no half a line of the answer would be written over. */
  #say(text: string): void {
    if (!this.#midLine) this.#bar.say(printable(text));
  }

  #warn({ model, tool, message }: { model: string; tool?: string | undefined; message: string }): void {
    const text = printable(`${model}${tool === undefined ? "" : `, ${tool}`}: ${message}`).replace(/\s+/g, " ");
    if (this.#quiet || this.#warned.has(text)) return;
    this.#warned.add(text);
    this.#dim(clipped(text, this.#room(1)));
  }

  #end(usage: Usage): void {
    this.#bar.clear();
    this.#endLine();
    if (this.#quiet) return;
    const seconds = ((this.#now() - this.#startedAt) / 1000).toFixed(1);
    this.#dim(`${usageText(usage)}, ${count(this.#calls, "tool call")}, ${seconds} s`);
    this.#calls = 0;
    this.#startedAt = this.#now();
  }

  #dim(text: string): void {
    this.#line(styled(this.#terminal.err, "dim", text));
  }

  #line(text: string): void {
    this.#bar.clear();
    this.#endLine();
    this.#terminal.err.write(`${text}\n`);
  }

  #endLine(): void {
    clearTimeout(this.#pausing);
    this.#markdown?.end();
    this.#wrap?.end();
    if (this.#midLine) this.#write("\n");
    this.#midLine = false;
  }

  /** Lines broken between words, where the terminal would break them anywhere. */
  #wrapped(text: string): string {
    const { err } = this.#terminal;
    if (!err.isTTY) return text;
    let lines = "";
    const wrap = new WordWrap(
      (piece) => {
        lines += piece;
      },
      () => width(err),
    );
    wrap.push(text);
    wrap.end();
    return lines;
  }

  #room(taken: number): number {
    return width(this.#terminal.err) - taken;
  }
}

/** Tokens for people: `412 tokens in (380 cached), 9 out`. */
export function usageText(usage: Usage): string {
  const input = usage.input + usage.cacheRead + usage.cacheWrite;
  const cached = usage.cacheRead > 0 ? ` (${usage.cacheRead} cached)` : "";
  const cost = usage.costUsd === undefined ? "" : `, $${usage.costUsd.toFixed(4)}`;
  return `${count(input, "token")} in${cached}, ${usage.output} out${cost}`;
}

function count(n: number, what: string): string {
  return `${n} ${what}${n === 1 ? "" : "s"}`;
}
