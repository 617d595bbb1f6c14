import { type Resource, resource } from "@shedkit/tool";

/** Where commands run: this machine (`@shedkit/tools-shell/node`), a container, another machine. */
export interface Terminal {
  /** The folder where commands begin, as an absolute path. */
  readonly cwd: string;
  /** Its shell, as a model knows it, e.g. `bash`. */
  readonly shell: string;
  /**
   * Starts a command. Rejects with ToolError where it cannot be started: `notFound` where the folder does not exist,
   * `serviceUnavailable` where there are no processes.
   */
  start(command: string, options?: StartOptions): Promise<TerminalJob>;
  /** What must not be seen in what commands write. Default: nothing. */
  readonly secrets?: Secrets | undefined;
}

/** Takes secrets out of texts. */
export interface Secrets {
  hide(text: string): string;
  /** How many characters at the end of a text may be the beginning of a secret. */
  begun(text: string): number;
}

/** How a command is started. */
export interface StartOptions {
  /** The folder to run in; a relative one is below the terminal's. Default: where `state` left off, or the terminal's. */
  cwd?: string | undefined;
  /** Commands with the same name here begin with the folder, variables and functions that the last one left. */
  state?: string | undefined;
  /** The command leaves its own folder, variables and functions for the next. Default: true; false for one that stays. */
  leaves?: boolean | undefined;
  /** Nobody waits for it: it must not keep the program alive. Default: false. */
  background?: boolean | undefined;
  /** Its standard input stays open, for {@link TerminalJob.send}. Default: false, it is empty. */
  input?: boolean | undefined;
}

/** A started command. What it writes goes to a log, standard output and errors in the order in which they came. */
export interface TerminalJob {
  readonly pid?: number | undefined;
  /** Where the log is, for other commands. */
  readonly logPath?: string | undefined;
  /** The folder named as the one to begin in was gone, so it began in the terminal's. */
  readonly folderGone?: string | undefined;
  /**
   * Resolves when the command itself has ended: from then on its time cannot run out. Never rejects. Default: with `exited`.
   */
  readonly ended?: Promise<void> | undefined;
  /** Resolves when it has ended, and what it left in the background has had a moment to end too. Never rejects. */
  readonly exited: Promise<JobExit>;
  /** Length of the log, in bytes. */
  size(): Promise<number>;
  /** Bytes of the log from `start` up to `end`. */
  read(start: number, end: number): Promise<Uint8Array>;
  /**
   * Sends text to its standard input, and closes that where `end` is true. Absent where it was not started with `input`.
   * `none`: the input is closed. `full`: it does not read, so nothing was sent.
   */
  readonly send?: ((text: string, end: boolean) => "sent" | "none" | "full") | undefined;
  /** Ends it with all that it started: asks, then forces. Resolves when all of it is gone. Never rejects. */
  kill(): Promise<void>;
  /** Ends it, and removes the log. */
  dispose(): Promise<void>;
}

/** How a command ended. */
export interface JobExit {
  /** Undefined where a signal ended it. */
  code?: number | undefined;
  /** e.g. `SIGKILL` */
  signal?: string | undefined;
  /** True where processes that it started in the background still run. */
  left: boolean;
  /**
   * Why it was ended from outside, where it was not `kill`. `outOfMemory`: it was forced to end while the system killed
   * processes for want of memory; then `code` may be 137.
   */
  reason?: "outputLimit" | "outOfMemory" | undefined;
  /** Where the next command with the same `state` begins. */
  cwd?: string | undefined;
}

/** Where the shell tools of a session find their terminal, unless they were given one. */
export const terminalResource: Resource<Terminal> = resource("terminal");
