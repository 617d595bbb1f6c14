import { link, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { makeFolder } from "@shedkit/store/node";
import { newId } from "@shedkit/types";
import type { Presence } from "./presence.js";
import { isMissing } from "./write-file.js";

interface Entry {
  name: string;
  fence: number;
  free: boolean;
}

/**
 * A lock in a folder, which outlives nobody: `lock.7` holds the name of who took it as the seventh, `free.7` says that
 * it was given back. Whoever makes `lock.8` has the lock; a dead holder's `lock.7` is no hindrance. So the fence is
 * never lost, and of two who try one finds the name taken.
 */
export class FileLock {
  readonly #folder: string;
  readonly #presence: Presence;

  constructor(folder: string, presence: Presence) {
    this.#folder = folder;
    this.#presence = presence;
  }

  /** The fence of the lock, or undefined while someone else has it. */
  async tryTake(): Promise<number | undefined> {
    await makeFolder(this.#folder);
    const newest = (await this.#entries()).at(-1);
    if (newest !== undefined && !newest.free && (await this.#isHeld(newest.name))) return undefined;
    const fence = (newest?.fence ?? 0) + 1;
    const mine = `lock.${fence}`;
    if (!(await this.#make(mine))) return undefined;
    // Someone may have taken that number and given it back between our look and our making.
    const others = (await this.#entries()).filter(({ name }) => name !== mine);
    if (others.some((other) => other.fence >= fence)) {
      await rm(join(this.#folder, mine), { force: true });
      return undefined;
    }
    for (const { name } of others) await rm(join(this.#folder, name), { force: true });
    return fence;
  }

  /** Whether the lock of that fence is still ours. */
  async isMine(fence: number): Promise<boolean> {
    return (await this.#holderOf(`lock.${fence}`)) === this.#presence.id;
  }

  async release(fence: number): Promise<void> {
    if (!(await this.isMine(fence))) return;
    await rename(join(this.#folder, `lock.${fence}`), join(this.#folder, `free.${fence}`)).catch((error: unknown) => {
      if (!isMissing(error)) throw error;
    });
  }

  async #isHeld(name: string): Promise<boolean> {
    const holder = await this.#holderOf(name);
    return holder === undefined || (await this.#presence.isAlive(holder)); // gone: it is changing hands
  }

  async #holderOf(name: string): Promise<string | undefined> {
    try {
      return await readFile(join(this.#folder, name), "utf8");
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  /** False where it is there already. It appears with its content, so that nobody sees a lock without a holder. */
  async #make(name: string): Promise<boolean> {
    const draft = join(this.#folder, `draft.${newId()}`);
    await writeFile(draft, this.#presence.id);
    try {
      await link(draft, join(this.#folder, name));
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
      throw error;
    } finally {
      await rm(draft, { force: true });
    }
  }

  async #entries(): Promise<Entry[]> {
    const entries: Entry[] = [];
    for (const name of await readdir(this.#folder)) {
      const [, kind, fence] = /^(lock|free)\.(\d+)$/.exec(name) ?? [];
      if (kind !== undefined) entries.push({ name, fence: Number(fence), free: kind === "free" });
    }
    return entries.sort((a, b) => a.fence - b.fence);
  }
}
