import { type ChildProcess, spawn } from "node:child_process";
import { WATCHDOG_SCRIPT } from "./script.js";

/** A small process that ends what this one started, should this one go without doing so. */
export class Watchdog {
  readonly #child: ChildProcess;

  constructor(folder: string) {
    this.#child = spawn("/bin/sh", ["-c", WATCHDOG_SCRIPT, "sh", folder], {
      cwd: "/",
      detached: true,
      stdio: ["pipe", "ignore", "ignore"],
    });
    this.#child.on("error", () => {}); // then there is none
    this.#child.stdin?.on("error", () => {});
    this.#child.unref();
    (this.#child.stdin as unknown as { unref?: () => void } | null)?.unref?.();
  }

  add(group: number): void {
    this.#child.stdin?.write(`+ ${group}\n`);
  }

  remove(group: number): void {
    this.#child.stdin?.write(`- ${group}\n`);
  }

  /** Ends it; it removes the folder. */
  end(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#child.exitCode !== null || this.#child.pid === undefined) return resolve();
      this.#child.ref();
      this.#child.once("exit", () => resolve());
      this.#child.stdin?.end();
    });
  }
}
