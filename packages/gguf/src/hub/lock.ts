import { randomUUID } from "node:crypto";
import { readdir, stat, unlink, utimes, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { cancelled, systemCode } from "../error.js";
import { cacheError, makeCacheFolder } from "./cache.js";

const HEARTBEAT_MS = 5_000;
/** A holder that was silent for so long is gone, though nobody can tell: it is on another machine, or was suspended. */
const SILENT_MS = 60_000;
const POLL_MS = 100;

/** What a lock needs. */
export interface LockOptions {
  cacheDir: string;
  signal?: AbortSignal | undefined;
  /** Called once, when somebody else has it. */
  onWait?: (() => void) | undefined;
}

/**
 * Runs `work` while no other process, and nobody else in this one, runs it under the same folder.
 *
 * Node has no lock that the system drops when a process dies, so: who wants the lock puts a file of its own into the
 * folder and then looks; it has the lock if it sees no file of another live one, else it takes its file away and waits.
 * Of two that come at once at least one sees the other. The files of the dead are nobody's and never come back under
 * their names, so anyone may remove them at any time.
 */
export async function withLock<T>(folder: string, options: LockOptions, work: () => Promise<T>): Promise<T> {
  const own = join(folder, `${process.pid}@${hostname().replace(/[^\w.-]/g, "_")}@${randomUUID()}`);
  await makeCacheFolder(options.cacheDir, folder);
  await acquire(folder, own, options);
  const heartbeat = setInterval(() => {
    const now = new Date();
    utimes(own, now, now).catch(() => undefined); // a missed beat is no loss, many are found by others
  }, HEARTBEAT_MS);
  heartbeat.unref();
  try {
    return await work();
  } finally {
    clearInterval(heartbeat);
    await unlink(own).catch(() => undefined);
  }
}

async function acquire(folder: string, own: string, { cacheDir, signal, onWait }: LockOptions): Promise<void> {
  for (let tries = 0; ; tries++) {
    if (!(await othersIn(folder, own))) {
      try {
        await writeFile(own, "", { flag: "wx" });
      } catch (error) {
        throw cacheError(cacheDir, error);
      }
      if (!(await othersIn(folder, own))) return;
      await unlink(own).catch(() => undefined);
    }
    if (tries === 0) onWait?.();
    // Uneven, so that two which collided do not collide again.
    await sleep(POLL_MS * (0.5 + Math.random()), undefined, signal ? { signal } : {}).catch(() => {
      throw cancelled(signal, "Waiting for another process's download was stopped.");
    });
  }
}

async function othersIn(folder: string, own: string): Promise<boolean> {
  for (const name of await readdir(folder)) {
    const file = join(folder, name);
    if (file === own) continue;
    if (await isLive(file, name)) return true;
    await unlink(file).catch(() => undefined);
  }
  return false;
}

async function isLive(file: string, name: string): Promise<boolean> {
  const found = await stat(file).catch(() => undefined);
  if (!found || Date.now() - found.mtimeMs > SILENT_MS) return false;
  const [pid, host] = name.split("@");
  return host !== hostname().replace(/[^\w.-]/g, "_") || isRunning(Number(pid));
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemCode(error) === "EPERM"; // somebody else's process
  }
}
