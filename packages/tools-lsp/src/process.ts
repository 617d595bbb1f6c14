import type { ChildProcess } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import spawn from "cross-spawn";

const MAX_STDERR = 2000;
const LAST_WORDS_MS = 1000;

/** The process of a server, in a group of its own: what it starts ends with it. Keeps no program from ending. */
export class ServerProcess {
  readonly output: Readable;
  readonly input: Writable;
  /** Settles when it has ended, with how; never rejects. */
  readonly ended: Promise<string>;
  readonly #child: ChildProcess;
  #stderr = "";

  constructor(command: string, args: readonly string[], cwd: string, env: { readonly [name: string]: string }) {
    const child = spawn(command, [...args], {
      cwd,
      env: { ...env },
      stdio: ["pipe", "pipe", "pipe"],
      detached: process.platform !== "win32",
      windowsHide: true,
    });
    const { stdin, stdout, stderr } = child;
    if (stdin === null || stdout === null || stderr === null) throw new Error("a process without pipes");
    this.#child = child;
    this.input = stdin;
    this.output = stdout;
    for (const stream of [stdin, stdout, stderr]) {
      stream.on("error", () => {}); // its end tells
      (stream as unknown as { unref?: () => void }).unref?.();
    }
    child.unref();
    stderr.on("data", (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString("utf8")).slice(-MAX_STDERR);
    });
    const killAtExit = (): void => this.kill();
    process.once("exit", killAtExit);
    this.ended = new Promise((resolve) => {
      let ended = false;
      const end = (how: string): void => {
        if (ended) return;
        ended = true;
        process.off("exit", killAtExit);
        for (const stream of [stdin, stdout, stderr]) stream.destroy();
        resolve(how + this.#lastWords());
      };
      child.once("error", (fault: NodeJS.ErrnoException) => {
        end(fault.code === "ENOENT" ? `there is no program "${command}"` : fault.message);
      });
      child.once("exit", (code, signal) => {
        this.kill(); // whatever is left of its group
        const how = signal === null ? `it ended with code ${code}` : `it was ended by ${signal}`;
        // What it wrote last is read first; something that it started may hold the pipes open for ever.
        const late = setTimeout(() => end(how), LAST_WORDS_MS);
        child.once("close", () => {
          clearTimeout(late);
          end(how);
        });
      });
    });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  kill(): void {
    const { pid } = this.#child;
    if (pid === undefined) return;
    try {
      if (process.platform === "win32") this.#child.kill("SIGKILL");
      else process.kill(-pid, "SIGKILL");
    } catch {
      // It is gone.
    }
  }

  #lastWords(): string {
    const words = this.#stderr.trim();
    return words === "" ? "" : `. It last wrote: ${words.slice(-500)}`;
  }
}
