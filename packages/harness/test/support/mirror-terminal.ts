import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { FileSystem } from "@shedkit/fs";
import type { StartOptions, Terminal, TerminalJob } from "@shedkit/tools-shell";
import type { NodeTerminal } from "@shedkit/tools-shell/node";

/**
 * Commands over a file system that is not on the disk: each begins in a folder that holds what stands there now. What
 * commands write does not go back.
 */
export class MirrorTerminal implements Terminal {
  readonly cwd: string;
  readonly shell: string;
  readonly #fs: FileSystem;
  readonly #terminal: NodeTerminal;

  constructor(fs: FileSystem, terminal: NodeTerminal) {
    this.cwd = terminal.cwd;
    this.shell = terminal.shell;
    this.#fs = fs;
    this.#terminal = terminal;
  }

  async start(command: string, options: StartOptions = {}): Promise<TerminalJob> {
    await this.#copy(".");
    return this.#terminal.start(command, options);
  }

  async #copy(folder: string): Promise<void> {
    await mkdir(join(this.cwd, folder), { recursive: true });
    for (const { name, type } of await this.#fs.readdir(folder)) {
      const path = join(folder, name);
      if (type === "directory") await this.#copy(path);
      else {
        await rm(join(this.cwd, path), { force: true });
        await writeFile(join(this.cwd, path), await this.#fs.readFile(path));
      }
    }
  }
}
