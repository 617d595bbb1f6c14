import { AsyncLocalStorage } from "node:async_hooks";
import console from "node:console";

const METHODS = ["error", "warn", "info", "log"] as const;

const muted = new AsyncLocalStorage<true>();
let running = 0;
let restore = (): void => undefined;

/**
 * Runs something whose console output goes nowhere; all else that writes meanwhile is heard.
 * For a library that writes to the console itself, past the logger it was given.
 */
export async function withQuietConsole<T>(run: () => Promise<T>): Promise<T> {
  if (running++ === 0) restore = muteConsole();
  try {
    return await muted.run(true, run);
  } finally {
    if (--running === 0) restore();
  }
}

function muteConsole(): () => void {
  const undo = METHODS.map((method) => {
    const original = console[method];
    const quiet = (...data: unknown[]): void => {
      if (muted.getStore() === undefined) original.apply(console, data);
    };
    console[method] = quiet;
    return () => {
      if (console[method] === quiet) console[method] = original; // else somebody put their own over it
    };
  });
  return () => {
    for (const step of undo) step();
  };
}
