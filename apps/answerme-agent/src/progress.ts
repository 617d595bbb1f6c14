import { clipped } from "./columns.js";
import { styled, type Terminal, width } from "./terminal.js";

/** Says how much there is, with its unit: `1.9 MB`. */
type Amount = (count: number) => string;

/**
 * A bar that follows a download, a load, or the reading of a prompt; it shows itself on a terminal only, else one line
 * says what goes on.
 */
export class ProgressBar {
  readonly #terminal: Terminal;
  readonly #now: () => number;
  #shown = false;
  #said = false;
  #drawnAt = Number.NEGATIVE_INFINITY;
  #startedAt: number | undefined;
  #startedWith = 0;

  constructor(terminal: Terminal, now: () => number = performance.now.bind(performance)) {
    this.#terminal = terminal;
    this.#now = now;
  }

  update(label: string, done: number, total: number | undefined, amount: Amount = bytes): void {
    const { err, redraws } = this.#terminal;
    if (!redraws) {
      if (!this.#said) err.write(`${label}${total === undefined ? "" : ` (${amount(total)})`} ...\n`);
      this.#said = true;
      return;
    }
    const now = this.#now();
    if (this.#startedAt === undefined) {
      this.#startedAt = now;
      this.#startedWith = done;
    }
    if (now - this.#drawnAt < 100 && done !== total) return;
    this.#drawnAt = now;
    const seconds = (now - this.#startedAt) / 1000;
    const rate = seconds > 0.5 ? ` ${amount((done - this.#startedWith) / seconds)}/s` : "";
    err.write(`\r${line(label, { done, total, rate, amount }, width(err) - 1)}\u001b[K`);
    this.#shown = true;
  }

  /** A word on what goes on, in the place of the bar; on a terminal only. */
  say(text: string): void {
    const { err, redraws } = this.#terminal;
    const now = this.#now();
    if (!redraws || now - this.#drawnAt < 100) return;
    this.#drawnAt = now;
    err.write(`\r${styled(err, "dim", clipped(text, width(err) - 1))}\u001b[K`);
    this.#shown = true;
  }

  /** Takes the bar away, so that other lines can be written. */
  clear(): void {
    if (this.#shown) this.#terminal.err.write("\r\u001b[K");
    this.#shown = false;
    this.#startedAt = undefined;
    this.#drawnAt = Number.NEGATIVE_INFINITY;
  }
}

interface Progress {
  done: number;
  total: number | undefined;
  rate: string;
  amount: Amount;
}

function line(label: string, { done, total, rate, amount }: Progress, columns: number): string {
  if (total === undefined || total <= 0) return `${label} ${amount(done)}${rate}`.slice(0, columns);
  const share = Math.min(1, done / total);
  const part = ` ${String(Math.floor(share * 100)).padStart(3)} % of ${amount(total)}`;
  const roomBeside = (figures: string) => Math.min(30, columns - label.length - figures.length - 3);
  const figures = roomBeside(part + rate) < 5 ? part : part + rate; // the bar says more than the rate
  const room = roomBeside(figures);
  if (room < 5) return `${label}${figures}`.slice(0, columns);
  const filled = Math.floor(share * room);
  return `${label} [${"#".repeat(filled)}${".".repeat(room - filled)}]${figures}`;
}

/** A size for people: `1.9 MB`. */
export function bytes(count: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let value = Math.max(0, count);
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

/** Tokens for people: `3,200 tokens`. */
export function tokens(count: number): string {
  return `${Math.round(count).toLocaleString("en")} tokens`;
}
