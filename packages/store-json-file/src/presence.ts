import { rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { LocalOwner, makeFolder } from "@shedkit/store/node";
import { fileName } from "./names.js";
import { isMissing } from "./write-file.js";

const BEAT_MS = 10_000;
/** After how long without a word a holder on another machine counts as dead. */
const DEAD_MS = 30_000;

/**
 * Who has a folder open. Processes of one machine look at each other; for those of others each one writes a file from
 * time to time, whose time both read from the same file system.
 */
export class Presence {
  readonly id: string;
  readonly #owner = new LocalOwner();
  readonly #folder: string;
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(folder: string) {
    this.#folder = folder;
    this.id = this.#owner.id;
  }

  async begin(): Promise<void> {
    await makeFolder(this.#folder);
    await this.#beat();
    this.#timer = setInterval(() => void this.#beat().catch(() => {}), BEAT_MS).unref();
  }

  async isAlive(id: string): Promise<boolean> {
    const told = this.#owner.isAlive(id);
    if (told === false) await rm(this.#fileOf(id), { force: true }).catch(() => {});
    if (told !== undefined) return told;
    try {
      const { mtimeMs } = await stat(this.#fileOf(id));
      await this.#beat();
      return (await stat(this.#fileOf(this.id))).mtimeMs - mtimeMs < DEAD_MS;
    } catch (error) {
      if (isMissing(error)) return false;
      throw error;
    }
  }

  async end(): Promise<void> {
    clearInterval(this.#timer);
    this.#owner.close();
    await rm(this.#fileOf(this.id), { force: true }).catch(() => {});
  }

  #beat(): Promise<void> {
    return writeFile(this.#fileOf(this.id), this.id); // writing takes the file system's clock, setting times ours
  }

  #fileOf(id: string): string {
    return join(this.#folder, fileName(id));
  }
}
