import type { FileSystem } from "@shedkit/fs";
import type { LanguageServer, LanguageServersOptions } from "./config.js";
import { ServerPool } from "./pool.js";

/** For this package's own tools. */
export let poolOf: (servers: LanguageServers) => ServerPool;

/**
 * The language servers of one folder. Each starts when it is first needed, and again after a crash: at once, then after
 * pauses of 1 to 30 seconds. They end with the sessions that use them, or by {@link close}; they keep no program from
 * ending, and end with it.
 */
export class LanguageServers {
  readonly #pool: ServerPool;

  /**
   * `fs` stands for a folder of this machine. `servers` by a name for messages; of two that speak for one ending, the first is
   * asked.
   */
  constructor(
    fs: FileSystem,
    servers: { readonly [name: string]: LanguageServer },
    options: LanguageServersOptions = {},
  ) {
    this.#pool = new ServerPool(fs, servers, options);
  }

  static {
    poolOf = (servers) => servers.#pool;
  }

  /** The process of a server; undefined where it does not run. */
  pidOf(name: string): number | undefined {
    return this.#pool.running(name)?.pid;
  }

  /** Ends the servers. One that is needed later starts anew. */
  close(): Promise<void> {
    return this.#pool.close();
  }
}
