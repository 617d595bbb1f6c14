import type { ChildProcess } from "node:child_process";
import process from "node:process";
import { StringDecoder } from "node:string_decoder";
import {
  deserializeMessage,
  type JSONRPCMessage,
  serializeMessage,
  type Transport,
} from "@modelcontextprotocol/client";
import spawn from "cross-spawn";
import type { McpProcess } from "../config.js";
import { Lines } from "./lines.js";

const GRACE_MS = 2000;
const LAST_WORDS_MS = 1000;
const MAX_STDERR = 4000;
/** Lines that are no message, in a row: a server that writes its log there has a few; one that floods is ended. */
const MAX_JUNK = 10_000;

/** What waits to be read by the server, in bytes: one that asks and asks and reads no answer is ended. */
const MAX_UNREAD = 64 * 1024 * 1024;

/** Speaks to a server over its standard input and output, one message a line. */
export class ProcessTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport["onmessage"];
  readonly #name: string;
  readonly #server: McpProcess;
  readonly #env: { readonly [name: string]: string };
  readonly #graceMs: number;
  #child: ChildProcess | undefined;
  #closed = false;
  #stderr = "";
  #junk = 0;
  #lastJunk = "";
  #end = "";

  constructor(name: string, server: McpProcess, env: { readonly [name: string]: string }, graceMs = GRACE_MS) {
    this.#name = name;
    this.#server = server;
    this.#env = env;
    this.#graceMs = graceMs;
  }

  start(): Promise<void> {
    const { command, args, cwd } = this.#server;
    // A group of its own: what the server starts ends with it. Windows has no such groups.
    const child = spawn(command, [...args], {
      env: { ...this.#env },
      cwd,
      stdio: ["pipe", "pipe", "pipe"],
      detached: process.platform !== "win32",
      windowsHide: true,
    });
    this.#child = child;
    const lines = new Lines((line) => this.#line(line));
    const decoder = new StringDecoder("utf8");
    child.stdout?.on("data", (chunk: Buffer) => {
      if (this.#closed) return;
      try {
        lines.push(chunk);
      } catch (fault) {
        this.#finish((fault as Error).message);
      }
    });
    child.stderr?.on("data", (chunk: Buffer) => {
      this.#stderr = (this.#stderr + decoder.write(chunk)).slice(-MAX_STDERR);
    });
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.on("error", () => {}); // its end tells
    child.once("exit", (code, signal) => {
      this.#end ||= signal === null ? `it ended with code ${code}` : `it was ended by ${signal}`;
      // What it wrote last is read first; something that it started may hold the pipes open for ever.
      const timer = setTimeout(() => this.#finish(this.#end), LAST_WORDS_MS);
      child.once("close", () => clearTimeout(timer));
    });
    child.once("close", () => this.#finish(this.#end));
    return new Promise((resolve, reject) => {
      child.once("spawn", () => resolve());
      child.once("error", (fault: NodeJS.ErrnoException) => {
        const why =
          fault.code === "ENOENT"
            ? `there is no program "${command}"${cwd ? `, or no folder "${cwd}"` : ""}`
            : fault.message;
        this.#finish(why);
        reject(new Error(why));
      });
    });
  }

  send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin;
    return new Promise((resolve, reject) => {
      if (this.#closed || !stdin?.writable) return reject(new Error(this.#end || "the server has ended"));
      stdin.write(serializeMessage(message), (fault) => (fault ? reject(fault) : resolve()));
      if (stdin.writableLength > MAX_UNREAD) this.#finish("it does not read what it is sent");
    });
  }

  /** Ends the server: its input closes; then it is asked to end; then it is killed with all it started. */
  async close(): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    this.#closed = true;
    child.stdin?.end();
    await this.#exit(child, this.#graceMs);
    if (isRunning(child)) {
      this.#kill(child, "SIGTERM");
      await this.#exit(child, this.#graceMs);
    }
    this.#kill(child, "SIGKILL"); // whatever is left of its group
    await this.#exit(child, this.#graceMs);
    this.#finish(this.#end || "it was closed");
  }

  /** Code or signal, and the last lines of its error output. */
  describeEnd(): string {
    const words = this.#stderr.trim();
    const said = words === "" ? this.#lastJunk.trim() : words;
    const parts = [this.#end, said === "" ? "" : `It last wrote: ${said.slice(-1000)}`];
    return parts.filter((part) => part !== "").join(". ");
  }

  #line(line: string): void {
    if (line.trim() === "") return;
    let message: JSONRPCMessage;
    try {
      message = deserializeMessage(line);
    } catch {
      this.#lastJunk = line.slice(0, 500);
      if (++this.#junk > MAX_JUNK) throw new Error(`"${this.#name}" writes lines that are no messages, without end`);
      return;
    }
    this.#junk = 0;
    this.onmessage?.(message);
  }

  /** Once. Whatever the server started ends too. */
  #finish(end: string): void {
    if (this.#end === "") this.#end = end;
    const child = this.#child;
    if (child === undefined) return;
    this.#child = undefined;
    this.#closed = true;
    this.#kill(child, "SIGKILL");
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy();
    this.onclose?.();
  }

  #kill(child: ChildProcess, signal: NodeJS.Signals): void {
    if (child.pid === undefined) return;
    try {
      if (process.platform === "win32") child.kill(signal);
      else process.kill(-child.pid, signal);
    } catch {
      // It is gone.
    }
  }

  #exit(child: ChildProcess, ms: number): Promise<void> {
    if (!isRunning(child)) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        child.off("exit", done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      child.once("exit", done);
    });
  }
}

function isRunning(child: ChildProcess): boolean {
  return child.pid !== undefined && child.exitCode === null && child.signalCode === null;
}
