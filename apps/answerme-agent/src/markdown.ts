/** Escape sequences; SGR only, so that a terminal without the style shows plain text. */
const SGR = { bold: "\u001b[1m", dim: "\u001b[2m", italic: "\u001b[3m", underline: "\u001b[4m", cyan: "\u001b[36m" };
const RESET = "\u001b[0m";

/** The start of a line that may yet become a list item, a heading or a fence. */
const UNDECIDED = /^ *(?:[*-] ?|#{1,6}[ \t]*|[`~]{1,2})?$/;

type Inline = "bold" | "italic" | "code";

/**
 * Markdown for a terminal, as it streams: what is certain is written at once; only a marker whose meaning the next
 * characters decide is held back. The markers of headings, emphasis and code are replaced by styles; everything else
 * stays as it was written.
 */
export class MarkdownStream {
  readonly #write: (text: string) => void;
  /** Not yet certain. */
  #held = "";
  #atLineStart = true;
  #inFence: string | undefined;
  #lineStyle = "";
  readonly #inline = new Set<Inline>();
  #before = "\n";

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  push(delta: string): void {
    this.#held += delta;
    this.#drain(false);
  }

  /** The text is complete: writes what was held back and ends every style. */
  end(): void {
    this.#drain(true);
    if (this.#styled()) this.#write(RESET);
    this.#inline.clear();
    this.#lineStyle = "";
    this.#inFence = undefined;
    this.#atLineStart = true;
    this.#before = "\n";
  }

  #drain(final: boolean): void {
    let out = "";
    while (this.#held !== "") {
      const step = this.#atLineStart
        ? this.#lineStart(final)
        : this.#inFence === undefined
          ? this.#text(final)
          : this.#code();
      if (step === undefined) break;
      this.#held = this.#held.slice(step.taken);
      out += step.out;
    }
    if (out !== "") this.#write(out);
  }

  /** What a line is shows in its first characters. */
  #lineStart(final: boolean): Step | undefined {
    const line = this.#held;
    const ended = final || line.includes("\n");
    const fence = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (fence !== undefined && (this.#inFence === undefined || fence.startsWith(this.#inFence))) {
      if (!ended) return undefined;
      const end = line.indexOf("\n");
      const whole = end === -1 ? line : line.slice(0, end);
      this.#inFence = this.#inFence === undefined ? fence : undefined;
      return { taken: whole.length + (end === -1 ? 0 : 1), out: `${SGR.dim}${whole}${RESET}${end === -1 ? "" : "\n"}` };
    }
    if (!ended && UNDECIDED.test(line)) return undefined;
    this.#atLineStart = false;
    if (this.#inFence !== undefined) return { taken: 0, out: SGR.cyan };
    const heading = /^ {0,3}#{1,6}[ \t]+(?=\S)/.exec(line);
    if (heading) {
      this.#lineStyle = SGR.bold + SGR.underline;
      return { taken: heading[0].length, out: this.#lineStyle };
    }
    const bullet = /^( *)[*-] (?=\S)/.exec(line);
    if (bullet) {
      this.#before = " ";
      return { taken: bullet[0].length, out: `${bullet[1] ?? ""}- ` };
    }
    return { taken: 0, out: "" };
  }

  #text(final: boolean): Step | undefined {
    const [first = ""] = this.#held;
    if (first === "\n") return this.#newLine();
    if (first === "\\") {
      if (this.#held.length < 2 && !final) return undefined;
      const escaped = /^\\([\\`*_#[\]()])/.exec(this.#held);
      return this.#plain(escaped?.[1] ?? "\\", escaped ? 2 : 1);
    }
    if (first !== "*" && first !== "_" && first !== "`") {
      const end = this.#held.search(/[\\*_`\n]/);
      const text = end === -1 ? this.#held : this.#held.slice(0, end);
      return this.#plain(text, text.length);
    }
    const run = /^(\*+|_+|`+)/.exec(this.#held)?.[0] ?? first;
    const next = this.#held[run.length];
    if (next === undefined && !final) return undefined;
    return this.#marker(run, next ?? "\n");
  }

  #marker(run: string, next: string): Step {
    if (run.startsWith("`")) return this.#toggle("code", run);
    if (this.#inline.has("code") || run.length > 3) return this.#plain(run, run.length);
    const opens = !/\s/.test(next) && (run.startsWith("*") || !/\w/.test(this.#before));
    const closes = !/\s/.test(this.#before) && (run.startsWith("*") || !/\w/.test(next));
    const names: Inline[] = run.length === 1 ? ["italic"] : run.length === 2 ? ["bold"] : ["bold", "italic"];
    const open = names.every((name) => this.#inline.has(name));
    if (open ? !closes : !opens) return this.#plain(run, run.length);
    for (const name of names) {
      if (open) this.#inline.delete(name);
      else this.#inline.add(name);
    }
    return { taken: run.length, out: RESET + this.#style() };
  }

  #toggle(name: Inline, run: string): Step {
    if (this.#inline.has(name)) this.#inline.delete(name);
    else this.#inline.add(name);
    this.#before = "`";
    return { taken: run.length, out: RESET + this.#style() };
  }

  #plain(text: string, taken: number): Step {
    this.#before = text.at(-1) ?? this.#before;
    return { taken, out: text };
  }

  #code(): Step {
    const end = this.#held.indexOf("\n");
    if (end === -1) return { taken: this.#held.length, out: this.#held };
    this.#atLineStart = true;
    return { taken: end + 1, out: `${this.#held.slice(0, end)}${RESET}\n` };
  }

  /** Styles do not outlive their line: a marker that never closed must not colour the rest. */
  #newLine(): Step {
    const out = this.#styled() ? `${RESET}\n` : "\n";
    this.#inline.clear();
    this.#lineStyle = "";
    this.#atLineStart = true;
    this.#before = "\n";
    return { taken: 1, out };
  }

  #styled(): boolean {
    return this.#inline.size > 0 || this.#lineStyle !== "" || this.#inFence !== undefined;
  }

  #style(): string {
    const styles = { bold: SGR.bold, italic: SGR.italic, code: SGR.cyan };
    return this.#lineStyle + [...this.#inline].map((name) => styles[name]).join("");
  }
}

interface Step {
  readonly taken: number;
  readonly out: string;
}
