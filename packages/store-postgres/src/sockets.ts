import { Socket } from "node:net";

/** How long a server may take to say good-bye. */
const GOODBYE_MS = 2000;

/** The connections of a storage, so that one to a server that answers no more can be let go of. */
export class Sockets {
  readonly #open = new Set<Socket>();

  /** For the driver: a connection to be. */
  readonly make = (): Socket => {
    const socket = new Socket();
    this.#open.add(socket);
    socket.once("close", () => this.#open.delete(socket));
    return socket;
  };

  /** Waits for a graceful end, not for long; then nothing is left open. */
  async close(ending: Promise<unknown>): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, GOODBYE_MS);
    });
    await Promise.race([ending.catch(() => {}), late]);
    clearTimeout(timer);
    for (const socket of this.#open) socket.destroy();
  }
}
