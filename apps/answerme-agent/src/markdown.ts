import { isTable, tableText } from "./table.js";

/** Escape sequences; SGR only, so that a terminal without the style shows plain text. */
const SGR = { bold: "\u001b[1m", dim: "\u001b[2m", italic: "\u001b[3m", underline: "\u001b[4m", cyan: "\u001b[36m" };
const RESET = "\u001b[0m";

/** The start of a line that may yet become a list item, a heading or a fence. */
const UNDECIDED = /^ *(?:[*-] ?|#{1,6}[ \t]*|[`~]{1,2}|>)?$/;
/** A link, or the beginning of what may be one. */
const LINK = /^\[([^\]\n]{1,300})\]\(([^()\s]{1,2000})\)/;
const LINK_SO_FAR = /^\[(?:[^\]\n]{0,300}|[^\]\n]{1,300}\](?:\([^()\s]{0,2000})?)$/;

type Inline = "bold" | "italic" | "code";

/** Writes a piece; one that is `whole` consists of lines that must not be broken. */
type Write = (text: string, whole?: boolean) => void;

/**
 * Markdown for a terminal, as it streams: what is certain is written at once; only a marker whose meaning the next
 * characters decide is held back. The markers of headings, emphasis and code are replaced by styles; everything else
 * stays as it was written.
 */
export class MarkdownStream {
  readonly #write: Write;
  readonly #width: () => number;
  /** Not yet certain. */
  #held = "";
  #atLineStart = true;
  #inFence: string | undefined;
  #lineStyle = "";
  readonly #inline = new Set<Inline>();
  #before = "\n";

  /** `width`: the columns that a table may take. */
  constructor(write: Write, width: () => number = () => Number.POSITIVE_INFINITY) {
    this.#write = write;
    this.#width = width;
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
      if (step.whole) {
        if (out !== "") this.#write(out);
        out = "";
        if (step.out !== "") this.#write(step.out, true);
      } else out += step.out;
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
      const shown = `${SGR.dim}${whole}${RESET}${end === -1 ? "" : "\n"}`;
      return { taken: whole.length + (end === -1 ? 0 : 1), out: shown, whole: true };
    }
    if (this.#inFence === undefined && /^ {0,3}\|/.test(line)) return this.#table(final);
    if (!ended && UNDECIDED.test(line)) return undefined;
    this.#atLineStart = false;
    if (this.#inFence !== undefined) return { taken: 0, out: SGR.cyan, whole: true };
    const quote = /^ {0,3}> ?/.exec(line);
    if (quote) {
      this.#before = " ";
      return { taken: quote[0].length, out: `${SGR.dim}\u2502${RESET} ` };
    }
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

  /** All lines that begin with a bar; undefined while more of them may come. */
  #table(final: boolean): Step | undefined {
    const lines = /^(?: {0,3}\|[^\n]*\n)*/.exec(this.#held)?.[0] ?? "";
    const rest = this.#held.slice(lines.length);
    const last = /^ {0,3}\|[^\n]*$/.test(rest) ? rest : "";
    if (!final && (last !== "" || /^ {0,3}$/.test(rest))) return undefined;
    const rows = (lines + last).replace(/\n$/, "").split("\n");
    if (!isTable(rows)) {
      this.#atLineStart = false;
      return { taken: 0, out: "" };
    }
    const bold = (text: string) => `${SGR.bold}${text}${RESET}`;
    const table = tableText(rows, this.#width(), inlineText, bold);
    const out = last === "" ? table : table.replace(/\n$/, "");
    return { taken: lines.length + last.length, out, whole: true };
  }

  #text(final: boolean): Step | undefined {
    const [first = ""] = this.#held;
    if (first === "\n") return this.#newLine();
    if (first === "\\") {
      if (this.#held.length < 2 && !final) return undefined;
      const escaped = /^\\([\\`*_#[\]()])/.exec(this.#held);
      return this.#plain(escaped?.[1] ?? "\\", escaped ? 2 : 1);
    }
    if (first === "[" && !this.#inline.has("code")) return this.#link(final);
    if (first !== "*" && first !== "_" && first !== "`") {
      const end = this.#held.slice(1).search(/[\\*_`[\n]/) + 1 || -1;
      const text = end === -1 ? this.#held : this.#held.slice(0, end);
      return this.#plain(text, text.length);
    }
    const run = /^(\*+|_+|`+)/.exec(this.#held)?.[0] ?? first;
    const next = this.#held[run.length];
    if (next === undefined && !final) return undefined;
    return this.#marker(run, next ?? "\n");
  }

  /** A link is its text, and where it leads. */
  #link(final: boolean): Step | undefined {
    const [whole = "", text = "", url = ""] = LINK.exec(this.#held) ?? [];
    if (whole === "") {
      if (!final && LINK_SO_FAR.test(this.#held)) return undefined;
      return this.#plain("[", 1);
    }
    this.#before = ")";
    const styles = this.#style();
    const shown = inlineText(text);
    const end = RESET + styles;
    const target = shown === url ? "" : ` ${SGR.dim}(${url})${end}`;
    return { taken: whole.length, out: `${SGR.underline}${shown}${end}${target}` };
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
    if (end === -1) return { taken: this.#held.length, out: this.#held, whole: true };
    this.#atLineStart = true;
    return { taken: end + 1, out: `${this.#held.slice(0, end)}${RESET}\n`, whole: true };
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
  /** Lines that must not be broken. */
  readonly whole?: boolean;
}

/** The text of a cell or a link, in its styles. */
function inlineText(text: string): string {
  let out = "";
  const stream = new MarkdownStream((piece) => {
    out += piece;
  });
  stream.push(`\u200b${text}`); // no letter begins a line, so that nothing in it is a heading or a list
  stream.end();
  return out.slice(1);
}
