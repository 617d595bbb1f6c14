import type { Secrets, TerminalJob } from "./terminal.js";
import { cleanOutput } from "./text.js";

/** Which lines of a log are wanted. */
export interface WantedLines {
  /** Those that hold this text, in upper or lower case. Default: all. */
  contains?: string | undefined;
  /** How many lines before and after each of those. Default: 0. */
  context?: number | undefined;
  /** The last ones of these. Default: all. */
  tail?: number | undefined;
}

/** Lines of a log, as a model is shown them. */
export interface ShownLines {
  text: string;
  /** True where wanted lines are left out, or one is cut. */
  cut: boolean;
}

const PIECE = 256 * 1024; // bytes
const MAX_OPEN = 1024 * 1024; // characters of a line that does not end
const MAX_LINE = 2000; // characters of a line that is shown
const BYTES_A_CHARACTER = 8; // with colours and the like

/**
 * Lines of what a job has written until now: the last ones that `limit` characters hold. Groups that do not follow each other
 * stand apart by `--`. Rejects with the reason of the signal when that is aborted.
 */
export async function linesOf(
  job: TerminalJob,
  wanted: WantedLines,
  limit: number,
  { secrets, signal }: { secrets: Secrets | undefined; signal: AbortSignal },
): Promise<ShownLines> {
  const { contains, context = 0, tail = Number.POSITIVE_INFINITY } = wanted;
  const size = await job.size();
  const kept = new LastLines(tail, limit);
  // Without a text to look for, the end is enough.
  const from = contains === undefined ? Math.max(0, size - limit * BYTES_A_CHARACTER - MAX_LINE) : 0;
  const sought = contains?.toLowerCase();
  let before: string[] = [];
  let after = 0;
  let skipped = false;
  for await (const lines of cleanLines(job, from, size, { secrets, signal })) {
    for (const line of lines) {
      const at = sought === undefined ? 0 : line.toLowerCase().indexOf(sought);
      if (at < 0 && after <= 0) {
        before.push(line);
        if (before.length <= context) continue;
        before.shift();
        skipped = true;
        continue;
      }
      if (at >= 0) {
        if (skipped && context > 0 && !kept.isEmpty) kept.push("--", 0);
        for (const one of before) kept.push(one, 0);
        before = [];
        skipped = false;
      }
      after = at >= 0 ? context : after - 1;
      kept.push(line, Math.max(0, at));
    }
  }
  return { text: kept.text, cut: kept.cut || from > 0 };
}

/** The last lines of many, as far as there is room. */
class LastLines {
  readonly #most: number;
  readonly #limit: number;
  #lines: string[] = [];
  #first = 0; // of those that are kept
  #length = 0;
  cut = false;

  constructor(most: number, limit: number) {
    this.#most = most;
    this.#limit = limit;
  }

  get isEmpty(): boolean {
    return this.#lines.length === this.#first;
  }

  get text(): string {
    return this.#lines.slice(this.#first).join("\n");
  }

  /** `at`: which part of a long line is to be seen. */
  push(line: string, at: number): void {
    const shown = partOf(line, at, Math.min(MAX_LINE, this.#limit));
    if (shown !== line) this.cut = true;
    this.#lines.push(shown);
    this.#length += shown.length + 1;
    while (this.#length > this.#limit + 1 || this.#lines.length - this.#first > this.#most) {
      this.#length -= (this.#lines[this.#first]?.length ?? 0) + 1;
      this.#first++;
      this.cut = true;
    }
    if (this.#first < 1000) return;
    this.#lines = this.#lines.slice(this.#first);
    this.#first = 0;
  }
}

function partOf(line: string, at: number, most: number): string {
  if (line.length <= most) return line;
  const start = Math.max(0, Math.min(at - Math.floor(most / 2), line.length - most));
  return line.slice(start, start + most).replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, "");
}

/** The lines of a part of a log, in pieces, without what is not to be seen. */
async function* cleanLines(
  job: TerminalJob,
  from: number,
  size: number,
  { secrets, signal }: { secrets: Secrets | undefined; signal: AbortSignal },
): AsyncGenerator<string[], void, void> {
  const decoder = new TextDecoder();
  let raw = "";
  let begun = from > 0; // the first line, whose beginning is not seen
  let clean = ""; // of a line that has not ended, or may hold the beginning of a secret
  for (let at = from; at < size; at += PIECE) {
    signal.throwIfAborted();
    const last = at + PIECE >= size;
    raw += decoder.decode(await job.read(at, Math.min(size, at + PIECE)), { stream: !last });
    if (begun) {
      const next = raw.indexOf("\n") + 1;
      if (next === 0 && !last && raw.length <= MAX_OPEN) continue;
      raw = raw.slice(next);
      begun = false;
    }
    const end = last || raw.length > MAX_OPEN ? raw.length : raw.lastIndexOf("\n") + 1;
    const text = clean + cleanOutput(raw.slice(0, end));
    raw = raw.slice(end);
    const whole = secrets?.hide(text) ?? text;
    const sure = whole.length - (last ? 0 : (secrets?.begun(whole) ?? 0));
    const line = whole.lastIndexOf("\n", sure - 1) + 1;
    const done = last || (line === 0 && sure > MAX_OPEN) ? sure : line;
    clean = whole.slice(done);
    if (done > 0) yield (whole[done - 1] === "\n" ? whole.slice(0, done - 1) : whole.slice(0, done)).split("\n");
  }
}
