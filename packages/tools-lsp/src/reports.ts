import type { Diagnostic } from "vscode-languageserver-protocol/node";

/** How long a server must have been silent on a file to have said all of it: some say it piece by piece. */
const SETTLED_MS = 250;

interface Report {
  diagnostics: readonly Diagnostic[];
  /** Counts what was said, of any file. */
  count: number;
}

/** What a server says of files unasked, as it comes. */
export class Reports {
  readonly #reports = new Map<string, Report>();
  readonly #listeners = new Set<(uri: string) => void>();
  #count = 0;

  /** How much was said so far: what comes later has a higher number. */
  get count(): number {
    return this.#count;
  }

  receive(uri: string, diagnostics: readonly Diagnostic[]): void {
    this.#reports.set(uri, { diagnostics, count: ++this.#count });
    for (const listener of [...this.#listeners]) listener(uri);
  }

  forget(uri: string): void {
    this.#reports.delete(uri);
  }

  /** What was said last of a file, if it was said after `count`. */
  after(uri: string, count: number): readonly Diagnostic[] | undefined {
    const report = this.#reports.get(uri);
    return report && report.count > count ? report.diagnostics : undefined;
  }

  /** What was said last of each file after `count`. */
  since(count: number): [uri: string, diagnostics: readonly Diagnostic[]][] {
    return [...this.#reports].flatMap(([uri, report]) => (report.count > count ? [[uri, report.diagnostics]] : []));
  }

  /** Waits until something was said of a file after `count`, and nothing more for a moment; at most so long. */
  wait(uri: string, count: number, ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      let settled: ReturnType<typeof setTimeout> | undefined;
      const end = (): void => {
        clearTimeout(settled);
        clearTimeout(late);
        this.#listeners.delete(heard);
        signal.removeEventListener("abort", end);
        resolve();
      };
      const heard = (of: string): void => {
        if (of !== uri || this.after(uri, count) === undefined) return;
        clearTimeout(settled);
        settled = setTimeout(end, SETTLED_MS);
      };
      const late = setTimeout(end, ms);
      this.#listeners.add(heard);
      signal.addEventListener("abort", end);
      if (signal.aborted) end();
      else heard(uri);
    });
  }
}
