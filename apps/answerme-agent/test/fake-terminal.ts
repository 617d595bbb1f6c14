import { PassThrough } from "node:stream";
import type { Terminal } from "../src/terminal.js";

/** A terminal, or a pair of pipes, that keeps what was written: to each stream, and to both in order. */
export function fakeTerminal(isTTY: boolean) {
  const written = { out: "", err: "", both: "" };
  const waiting = new Set<() => void>();
  const stream = (name: "out" | "err") =>
    Object.assign(new PassThrough(), {
      isTTY,
      columns: 60,
      hasColors: () => isTTY,
      getColorDepth: () => (isTTY ? 8 : 1),
      write(text: string) {
        written[name] += text;
        written.both += text;
        for (const resolve of waiting) resolve();
        waiting.clear();
        return true;
      },
    }) as unknown as NodeJS.WriteStream;
  const terminal: Terminal = { out: stream("out"), err: stream("err"), redraws: isTTY };
  /** Resolves when `text` has been written behind what was awaited before. */
  let read = 0;
  const says = async (text: string) => {
    for (;;) {
      const at = written.both.indexOf(text, read);
      if (at >= 0) {
        read = at + text.length;
        return;
      }
      await new Promise<void>((resolve) => waiting.add(resolve));
    }
  };
  return { terminal, written, says };
}
