import type { ChildProcess } from "node:child_process";
import { open, rm, stat } from "node:fs/promises";
import type { Writable } from "node:stream";
import { ToolError } from "@shedkit/tool";
import type { JobExit, TerminalJob } from "../terminal.js";
import type { ProcessGroup } from "./group.js";

/** How long a command is waited for, in milliseconds. */
export interface Patience {
  /** For what a command left in the background to end too. */
  graceMs: number;
  /** Between asking a process to end and forcing it. */
  killMs: number;
}

const MAX_UNREAD = 1024 * 1024; // bytes of input that the command has not taken
const LOOK_MS = 20; // between two looks, after a few quick ones
const MAX_WAIT_MS = 5000; // for a process that even SIGKILL does not end (it waits for a disk)

/** A command on this machine. */
export class NodeJob implements TerminalJob {
  readonly pid: number;
  readonly logPath: string;
  readonly folderGone: string | undefined;
  readonly ended: Promise<void>;
  readonly exited: Promise<JobExit>;
  readonly group: ProcessGroup;
  readonly send: TerminalJob["send"];
  readonly #patience: Patience;
  #killing: Promise<void> | undefined;
  #reason: JobExit["reason"];
  #over = false;

  constructor(
    child: ChildProcess,
    parts: {
      group: ProcessGroup;
      logPath: string;
      folderGone: string | undefined;
      patience: Patience;
      /** Where the command left the state's folder. */
      cwd: () => string | undefined;
      /** Whether the system has killed processes for want of memory, as far as it tells. */
      outOfMemory: () => boolean;
    },
  ) {
    this.group = parts.group;
    this.pid = parts.group.id;
    this.logPath = parts.logPath;
    this.folderGone = parts.folderGone;
    this.#patience = parts.patience;
    this.send = child.stdin === null ? undefined : sender(child.stdin);
    const ended = new Promise<Pick<JobExit, "code" | "signal">>((resolve) => {
      child.once("exit", (code, signal) => resolve({ code: code ?? undefined, signal: signal ?? undefined }));
    });
    this.ended = ended.then(() => {});
    this.exited = ended.then(async (exit) => {
      this.#over = true;
      // 137: so shells and sandboxes say that their last command was killed.
      const forced = exit.signal === "SIGKILL" || exit.code === 137;
      if (forced && this.#killing === undefined && parts.outOfMemory()) this.#reason = "outOfMemory";
      await this.#untilGone(parts.patience.graceMs, () => this.#killing !== undefined);
      await this.#killing;
      return { ...exit, left: this.group.alive(), reason: this.#reason, cwd: parts.cwd() };
    });
  }

  /** Whether the command itself has ended; what it left in the background may live on. */
  get over(): boolean {
    return this.#over;
  }

  async size(): Promise<number> {
    return (await stat(this.logPath).catch(() => undefined))?.size ?? 0;
  }

  async read(start: number, end: number): Promise<Uint8Array> {
    if (end <= start) return new Uint8Array();
    const handle = await open(this.logPath, "r").catch((cause: unknown) => {
      throw new ToolError("execution", "terminal", `The log ${this.logPath} is gone.`, { cause });
    });
    try {
      const bytes = new Uint8Array(Math.max(0, end - start));
      let length = 0;
      while (length < bytes.length) {
        const { bytesRead } = await handle.read(bytes, length, bytes.length - length, start + length);
        if (bytesRead === 0) break;
        length += bytesRead;
      }
      return bytes.subarray(0, length);
    } finally {
      await handle.close();
    }
  }

  kill(reason?: JobExit["reason"]): Promise<void> {
    if (reason && this.group.alive()) this.#reason = reason;
    this.#killing ??= this.#kill();
    return this.#killing;
  }

  async dispose(): Promise<void> {
    await this.kill();
    await rm(this.logPath, { force: true });
  }

  async #kill(): Promise<void> {
    this.group.signal("SIGTERM");
    if (await this.#untilGone(this.#patience.killMs)) return;
    // Again and again: what is being started meanwhile must not get away.
    await this.#untilGone(MAX_WAIT_MS, () => {
      this.group.signal("SIGKILL");
      return false;
    });
  }

  /** False where some of it still lives after so long, or when `stop` says so. */
  async #untilGone(ms: number, stop: () => boolean = () => false): Promise<boolean> {
    let pause = 1;
    for (let waited = 0; this.group.alive(); waited += pause, pause = Math.min(2 * pause, LOOK_MS)) {
      if (waited >= ms || stop()) return false;
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
    return true;
  }
}

function sender(stdin: Writable): TerminalJob["send"] {
  stdin.on("error", () => {}); // it is closed: the next one who sends is told
  return (text, end) => {
    if (!stdin.writable) return "none";
    if (stdin.writableLength + Buffer.byteLength(text) > MAX_UNREAD) return "full";
    if (text !== "") stdin.write(text);
    if (end) stdin.end();
    return "sent";
  };
}
