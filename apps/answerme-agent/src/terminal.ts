import type { WriteStream } from "node:tty";
import { styleText } from "node:util";

/** Where the program writes: `out` gets the answer alone, so that it can be piped; `err` all the rest. */
export interface Terminal {
  readonly out: NodeJS.WriteStream;
  readonly err: NodeJS.WriteStream;
  /** Whether what is on `err` can be written over: a terminal, and none that calls itself dumb. */
  readonly redraws: boolean;
}

export const processTerminal: Terminal = {
  out: process.stdout,
  err: process.stderr,
  redraws: process.stderr.isTTY === true && process.env.TERM !== "dumb",
};

/** In a style where the stream shows styles; NO_COLOR and dumb terminals are respected. */
export function styled(stream: NodeJS.WriteStream, style: "dim" | "red" | "green" | "bold", text: string): string {
  return styleText(style, text, { stream });
}

/** Columns to write in; a stream that is no terminal has no edge, so a round figure. */
export function width(stream: NodeJS.WriteStream): number {
  return stream.isTTY ? Math.max(20, (stream as WriteStream).columns || 80) : 200;
}

/**
 * Control characters made visible, and those that turn the direction of what follows: neither a model nor a file must drive
 * the terminal, or show a person another text than the one that is meant.
 */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, (c) =>
    c === "\n" || c === "\t" ? c : c === "\r" ? "" : "\ufffd",
  );
}

/** All that was written is out when this resolves. */
export async function flush(terminal: Terminal): Promise<void> {
  const drained = (stream: NodeJS.WriteStream) =>
    new Promise<void>((resolve) => {
      if (stream.writableEnded || stream.destroyed) resolve();
      else stream.write("", () => resolve());
    });
  await Promise.all([drained(terminal.out), drained(terminal.err)]);
}
