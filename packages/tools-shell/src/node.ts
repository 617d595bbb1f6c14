import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  mkdtempSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { realpath, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, isAbsolute, join, resolve } from "node:path";
import { ToolError } from "@shedkit/tool";
import { COMMAND, commandEnvironment, type Environment, type VariablePolicy } from "./node/environment.js";
import { ProcessGroup } from "./node/group.js";
import { NodeJob, type Patience } from "./node/job.js";
import { memoryKills } from "./node/memory-kills.js";
import { Sandbox, type SandboxOptions } from "./node/sandbox.js";
import { BASH_SCRIPT, SH_SCRIPT } from "./node/script.js";
import { secretsOf } from "./node/secrets.js";
import { readState } from "./node/state.js";
import { Watchdog } from "./node/watchdog.js";
import type { Secrets, StartOptions, Terminal } from "./terminal.js";

/** Settings of a terminal on this machine. */
export interface NodeTerminalOptions {
  /** The folder where commands begin. Default: the current one. */
  cwd?: string | undefined;
  /** The variables that commands see, secrets aside. Default: `process.env`. */
  env?: Environment | undefined;
  /** Names of variables that commands see although they look like secrets; patterns too. Default: none. */
  keepVariables?: readonly string[] | undefined;
  /** Which others of `env` commands see, and what besides. Default: all but secrets. */
  variables?: VariablePolicy | undefined;
  /** Path of the shell: bash, or one that knows what a POSIX `sh` does. Default: bash where it is, else `/bin/sh`. */
  shell?: string | undefined;
  /** The folder in which a private one for the logs is made. Default: the system's folder for temporary files. */
  logFolder?: string | undefined;
  /** A command whose log grows longer is ended, in bytes. Default: 5 GiB. */
  maxLogBytes?: number | undefined;
  /** How long a command that ended waits for what it left in the background, in milliseconds. Default: 1000. */
  graceMs?: number | undefined;
  /** How long a process has between being asked to end and being forced, in milliseconds. Default: 1000. */
  killMs?: number | undefined;
  /** Runs commands in bubblewrap: no network, nothing written outside some folders. Linux only. Default: none. */
  sandbox?: SandboxOptions | undefined;
}

export type { SandboxOptions, VariablePolicy };

const SHELLS = ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "/opt/homebrew/bin/bash", "/bin/sh"];
const OTHER_SHELLS = /^(?:zsh|fish|t?csh|nu|xonsh|elvish|pwsh|powershell|cmd)\b/i;
const MAX_COMMAND = 100_000; // the system takes 128 KiB for one variable
const WATCH_MS = 1000;
const MAX_STATE = 16 * 1024 * 1024; // of variables and functions, in bytes

/**
 * Commands on this machine. Each runs in a session of processes of its own, which is ended as a whole; what still runs
 * when this program goes is ended too, however it goes. Not on Windows: use WSL there.
 *
 * `await terminal.dispose()` ends all that runs and removes the logs.
 */
export class NodeTerminal implements Terminal {
  readonly cwd: string;
  readonly shell: string;
  readonly secrets: Secrets;
  readonly #shellPath: string;
  readonly #env: { [name: string]: string };
  readonly #patience: Patience;
  readonly #maxLogBytes: number;
  readonly #logParent: string;
  readonly #sandbox: Sandbox | undefined;
  readonly #jobs = new Set<NodeJob>();
  /** What commands left, by the name of their state: the folder, and a digest of the rest; none where there is no rest. */
  readonly #states = new Map<string, { cwd: string; digest: string }>();
  #folder: string | undefined;
  #watchdog: Watchdog | undefined;
  #watching: NodeJS.Timeout | undefined;
  #count = 0;
  /** Processes that the system had killed for want of memory when it was last looked. */
  #memoryKills: number | undefined;
  #disposed = false;

  /**
   * Throws ToolError: `notFound` where a folder does not exist, `serviceUnavailable` where there is no sandbox,
   * `invalidArguments` where the shell is one like zsh, or the variables are to be inherited in no known way.
   */
  constructor(options: NodeTerminalOptions = {}) {
    const cwd = resolve(options.cwd ?? ".");
    if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory())
      throw new ToolError("notFound", "terminal", `The folder ${JSON.stringify(cwd)} does not exist.`);
    this.cwd = realpathSync(cwd);
    const shell = options.shell ?? SHELLS.find((path) => existsSync(path)) ?? "/bin/sh";
    this.#shellPath = shell;
    this.shell = basename(shell);
    if (OTHER_SHELLS.test(this.shell)) {
      const text = `The shell ${JSON.stringify(shell)} reads commands otherwise than bash and sh do, so that permissions would not be those for what it runs. Use bash or sh.`;
      throw new ToolError("invalidArguments", "terminal", text);
    }
    const { seen, secrets } = commandEnvironment(
      options.env ?? process.env,
      options.keepVariables ?? [],
      options.variables,
    );
    this.#env = seen;
    this.secrets = secretsOf(secrets);
    this.#patience = { graceMs: options.graceMs ?? 1000, killMs: options.killMs ?? 1000 };
    this.#maxLogBytes = options.maxLogBytes ?? 5 * 1024 ** 3;
    this.#logParent = options.logFolder ?? tmpdir();
    this.#sandbox = options.sandbox && new Sandbox(options.sandbox, this.cwd);
  }

  async start(command: string, options: StartOptions = {}): Promise<NodeJob> {
    this.#check(command);
    await this.#sandbox?.ready();
    const folder = this.#logs();
    const before = options.state === undefined ? undefined : this.#states.get(options.state);
    const { cwd, gone } = await this.#folderFor(options.cwd, before?.cwd);
    if (this.#disposed) throw ended(); // nothing waits from here on until the job is watched
    const number = ++this.#count;
    const logPath = join(folder, `${number}.log`);
    let log: number | undefined;
    try {
      // Append only: what several processes write stands in the order in which it came.
      log = openSync(logPath, "ax", 0o600);
      const left = options.state !== undefined && (options.leaves ?? true) ? join(folder, `left-${number}`) : "";
      const [program, args] = this.#sandbox?.command(cwd, folder, left) ?? [this.#shellPath, []];
      if (this.#sandbox) args.push(this.#shellPath);
      const script = this.shell === "bash" ? BASH_SCRIPT : SH_SCRIPT;
      const state = (before?.digest ?? "") === "" ? "" : stateFile(folder, options.state);
      const leaves = left === "" || !this.#sandbox ? left : join(left, "state");
      // With input from a pipe of ours, which is a socket, bash takes itself for one of a remote login, and runs ~/.bashrc.
      const startup = this.shell === "bash" ? ["--norc"] : [];
      const child = spawn(program, [...args, ...startup, "-c", script, this.shell, state, leaves], {
        cwd: this.#sandbox ? "/" : cwd,
        env: { ...this.#env, PWD: cwd, [COMMAND]: command },
        detached: true,
        stdio: [options.input ? "pipe" : "ignore", log, log],
      });
      const failed = new Promise<never>((_, reject) => child.once("error", reject));
      failed.catch(() => {});
      if (child.pid === undefined) await failed;
      const group = new ProcessGroup(child.pid ?? 0);
      if (options.background) {
        child.unref();
        (child.stdin as unknown as { unref?: () => void } | null)?.unref?.();
      }
      const lastFolder = () => (left === "" ? undefined : this.#takeState(options.state, left, leaves));
      const outOfMemory = this.#memoryWatch();
      const parts = { group, logPath, folderGone: gone, patience: this.#patience, cwd: lastFolder, outOfMemory };
      const job = new NodeJob(child, parts);
      this.#watch(job);
      return job;
    } catch (cause) {
      if (cause instanceof ToolError) throw cause;
      if (this.#disposed) throw ended(); // the folder is gone
      const text = `The shell ${this.#shellPath} could not be started: ${cause instanceof Error ? cause.message : cause}.`;
      throw new ToolError("execution", "terminal", text, { cause });
    } finally {
      if (log !== undefined) closeSync(log);
    }
  }

  /** Ends all that was started here, and removes the logs. Nothing can be started afterwards. */
  async dispose(): Promise<void> {
    this.#disposed = true;
    // A job that has just ended still reads what its command left in the folder, which goes with the watchdog.
    await Promise.all(
      [...this.#jobs].map(async (job) => {
        await job.kill();
        if (!job.group.alive()) await job.exited;
      }),
    );
    clearInterval(this.#watching);
    await this.#watchdog?.end();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.dispose();
  }

  #check(command: string): void {
    if (process.platform === "win32") {
      const text = "There is no POSIX shell here: on Windows, run this program in WSL.";
      throw new ToolError("serviceUnavailable", "terminal", text);
    }
    if (this.#disposed) throw ended();
    if (command.includes("\0")) {
      throw new ToolError("invalidArguments", "terminal", "The command has a NUL character in it. Leave it out.");
    }
    const bytes = Buffer.byteLength(command);
    if (bytes > MAX_COMMAND) {
      const text = `The command has ${bytes} bytes; ${MAX_COMMAND} are the most. Write it to a file and run that.`;
      throw new ToolError("invalidArguments", "terminal", text);
    }
  }

  /** The private folder for logs, made on first use. */
  #logs(): string {
    if (this.#folder === undefined) this.#memoryKills = memoryKills(); // it takes too long to be asked each time
    this.#folder ??= mkdtempSync(join(this.#logParent, "shedkit-terminal-"));
    this.#watchdog ??= new Watchdog(this.#folder);
    return this.#folder;
  }

  async #folderFor(
    asked: string | undefined,
    left: string | undefined,
  ): Promise<{ cwd: string; gone?: string | undefined }> {
    if (this.#sandbox) await this.#first(); // it is mounted, wherever a command runs
    if (asked !== undefined) {
      const path = isAbsolute(asked) ? asked : join(this.cwd, asked);
      const real = this.#sandbox?.outside(path, this.#logs()) ?? path;
      if (await isFolder(real)) return { cwd: this.#sandbox ? path : await realpath(path) };
      throw new ToolError("notFound", "terminal", `There is no folder ${JSON.stringify(path)} to run in.`);
    }
    if (left === undefined) return { cwd: await this.#first() };
    const real = this.#sandbox?.outside(left, this.#logs()) ?? left;
    return (await isFolder(real)) ? { cwd: left } : { cwd: await this.#first(), gone: left };
  }

  /** The folder where commands begin. Rejects with ToolError `notFound` where it is gone. */
  async #first(): Promise<string> {
    if (await isFolder(this.cwd)) return this.cwd;
    const text = `The folder ${JSON.stringify(this.cwd)}, where commands begin, does not exist any more. It must be made again.`;
    throw new ToolError("notFound", "terminal", text);
  }

  /** Tells of a job that starts now whether the system has killed processes for want of memory since it was last looked. */
  #memoryWatch(): () => boolean {
    const before = this.#memoryKills;
    return () => {
      this.#memoryKills = memoryKills();
      return (this.#memoryKills ?? 0) > (before ?? Number.POSITIVE_INFINITY);
    };
  }

  /** Looks after a job until all of it is gone. */
  #watch(job: NodeJob): void {
    this.#jobs.add(job);
    this.#watchdog?.add(job.pid);
    this.#watching ??= setInterval(() => void this.#look(), WATCH_MS).unref();
    void job.exited.then(() => this.#forget(job));
  }

  #forget(job: NodeJob): void {
    if (job.group.alive() || !this.#jobs.delete(job)) return;
    this.#watchdog?.remove(job.pid);
    if (this.#jobs.size > 0) return;
    clearInterval(this.#watching);
    this.#watching = undefined;
  }

  /** Makes what a command left the state for the next, if it was written to its end; returns the folder. */
  #takeState(name = "", left: string, file: string): string | undefined {
    try {
      const found = readState(contentOf(file) ?? "", this.#env);
      if (!found) return undefined;
      const digest = found.script === "" ? "" : createHash("sha256").update(found.script).digest("hex");
      if (digest !== "" && digest !== this.#states.get(name)?.digest) {
        writeFileSync(`${left}.new`, found.script, { mode: 0o600 });
        renameSync(`${left}.new`, stateFile(this.#logs(), name)); // a shell may be reading the old one
      }
      this.#states.set(name, { cwd: found.cwd, digest });
      return found.cwd;
    } catch {
      return undefined; // the folder was cleared away meanwhile
    } finally {
      rmSync(left, { recursive: true, force: true });
    }
  }

  async #look(): Promise<void> {
    for (const job of this.#jobs) {
      if ((await job.size()) > this.#maxLogBytes) void job.kill("outputLimit");
      if (job.over) this.#forget(job);
    }
  }
}

function ended(): ToolError {
  return new ToolError("serviceUnavailable", "terminal", "The terminal has been ended: no command can be run.");
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() ?? false;
}

/** What a plain file holds. A command may have put anything in its place: a pipe, a link, something endless. */
function contentOf(path: string): string | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const info = fstatSync(file);
    return info.isFile() && info.size <= MAX_STATE ? readFileSync(file, "utf8") : undefined;
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function stateFile(folder: string, name = ""): string {
  return join(folder, `state-${Buffer.from(name).toString("hex")}`);
}
