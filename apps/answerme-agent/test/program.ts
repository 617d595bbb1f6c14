import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";

const main = fileURLToPath(new URL("../dist/main.js", import.meta.url));
/** The example folder of the repository. */
export const tour = fileURLToPath(new URL("../../../examples/tour", import.meta.url));

export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
  /** Milliseconds from the start to the first output of each stream. */
  firstOut: number | undefined;
  firstErr: number | undefined;
}

export interface StartOptions {
  cwd?: string | undefined;
  env?: NodeJS.ProcessEnv | undefined;
  /** Piped in; absent: nothing at all. */
  stdin?: string | undefined;
  /** A file that standard input is connected to, as by `< file`. */
  stdinFile?: string | undefined;
  /** Leaves standard input open, as somebody does who has not typed yet. */
  openStdin?: boolean | undefined;
  /** In a terminal of its own, as far as `script` makes one: all that is shown comes as standard output. */
  terminal?: boolean | undefined;
}

/** The built program as a process of its own, with a home and caches of its own. */
export class Program {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  #stdout = "";
  #stderr = "";
  readonly #waiting = new Set<() => void>();
  /** How much of standard output `shows` has taken. */
  #seen = 0;

  constructor(args: readonly string[], options: StartOptions & { home: string }) {
    const inherited = Object.entries(process.env).filter(
      ([name]) => !/^(npm_|HF_|ANSWERME_|OPENAI_|ANTHROPIC_|XDG_|FORCE_COLOR|CI$)/.test(name),
    );
    const started = performance.now();
    const file = options.stdinFile === undefined ? undefined : openSync(options.stdinFile, "r");
    let firstOut: number | undefined;
    let firstErr: number | undefined;
    const [command = "", ...rest] = options.terminal ? inTerminal([main, ...args]) : [process.execPath, main, ...args];
    this.child = spawn(command, rest, {
      cwd: options.cwd ?? options.home,
      env: {
        ...Object.fromEntries(inherited),
        HOME: options.home,
        HF_HOME: path.join(options.home, "hf"),
        ...options.env,
      },
      stdio: [
        file ?? (options.stdin === undefined && !options.openStdin && !options.terminal ? "ignore" : "pipe"),
        "pipe",
        "pipe",
      ],
    });
    if (file !== undefined) closeSync(file);
    if (options.stdin !== undefined) this.child.stdin?.end(options.stdin);
    this.child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      firstOut ??= performance.now() - started;
      this.#stdout += text;
      this.#wake();
    });
    this.child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      firstErr ??= performance.now() - started;
      this.#stderr += text;
      this.#wake();
    });
    this.ended = new Promise((resolve, reject) => {
      this.child.on("error", reject);
      this.child.on("close", (code, signal) => {
        this.#wake();
        resolve({ code, signal, stdout: this.#stdout, stderr: this.#stderr, firstOut, firstErr });
      });
    });
  }

  /** Resolves when standard error (or output) has said it; rejects when the program ends first. */
  async says(text: string | RegExp, stream: "stdout" | "stderr" = "stderr"): Promise<void> {
    const said = () => {
      const all = stream === "stdout" ? this.#stdout : this.#stderr;
      return typeof text === "string" ? all.includes(text) : text.test(all);
    };
    while (!said()) {
      if (this.child.exitCode !== null || this.child.signalCode !== null) {
        throw new Error(`ended without saying ${text}: ${this.#stdout}${this.#stderr}`);
      }
      await new Promise<void>((resolve) => {
        this.#waiting.add(resolve);
      });
    }
  }

  /** Resolves when `text` is shown behind what was awaited before, styles left out; for a terminal. */
  async shows(text: string): Promise<void> {
    for (;;) {
      const shown = stripVTControlCharacters(this.#stdout);
      const at = shown.indexOf(text, this.#seen);
      if (at >= 0) {
        this.#seen = at + text.length;
        return;
      }
      if (this.child.exitCode !== null) throw new Error(`ended without showing ${text}: ${shown}`);
      await new Promise<void>((resolve) => {
        this.#waiting.add(resolve);
      });
    }
  }

  /** All of standard output so far. */
  get output(): string {
    return this.#stdout;
  }

  type(keys: string): void {
    this.child.stdin?.write(keys);
  }

  #wake(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }
}

const SCRIPT = "script";

/** util-linux's `script`: makes a terminal, and hands the exit code on. */
function inTerminal(args: readonly string[]): string[] {
  const command = [process.execPath, ...args].map((arg) => `'${arg.replaceAll("'", "'\\''")}'`).join(" ");
  return [SCRIPT, "--quiet", "--flush", "--return", "--command", command, "/dev/null"];
}

/** Whether there is a `script` that can. */
export const canMakeTerminals =
  process.platform === "linux" &&
  /util-linux/.test(spawnSync(SCRIPT, ["--version"], { encoding: "utf8" }).stdout ?? "");

/** Runs the program to its end. */
export async function run(args: readonly string[], options: StartOptions & { home?: string } = {}): Promise<Ended> {
  await using folder = await temporaryFolder();
  return await new Program(args, { home: folder.path, ...options }).ended;
}

/** A folder that goes away with its scope. */
export async function temporaryFolder(): Promise<{ path: string } & AsyncDisposable> {
  const folder = await mkdtemp(path.join(tmpdir(), "answerme-"));
  return { path: folder, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}
