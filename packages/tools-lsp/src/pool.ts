import type { FileSystem } from "@shedkit/fs";
import { type Resources, resource } from "@shedkit/tool";
import { type LanguageServer, type LanguageServersOptions, type Settings, settingsOf } from "./config.js";
import { languageOf } from "./documents.js";
import { Failure, ServerEnded } from "./failure.js";
import { ServerSession } from "./session.js";
import { unlessAborted } from "./wait.js";

const MANY = 100;
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 30_000;

interface Slot {
  readonly server: LanguageServer;
  /** Running, or starting. */
  session?: Promise<ServerSession> | undefined;
  /** The one that runs. */
  running?: ServerSession | undefined;
  /** How often it ended by itself, or could not start, since it last answered. */
  crashes: number;
  /** Why it did. */
  fault: string;
  notBefore: number;
}

/** The servers of one folder: who speaks for which file, which of them run, and for whom. */
export class ServerPool {
  readonly fs: FileSystem;
  readonly #settings: Settings;
  readonly #slots = new Map<string, Slot>();
  /** Weak: who calls a tool alone may never dispose of what he called it with. */
  readonly #holders = new Set<WeakRef<Resources>>();
  readonly #closing = new Set<Promise<void>>();
  #life = new AbortController();

  constructor(
    fs: FileSystem,
    servers: { readonly [name: string]: LanguageServer },
    options: LanguageServersOptions = {},
  ) {
    this.fs = fs;
    this.#settings = settingsOf(options);
    for (const [name, server] of Object.entries(servers)) {
      this.#slots.set(name, { server, crashes: 0, fault: "", notBefore: 0 });
    }
  }

  /** The name of the server for a file; undefined where there is none. */
  nameFor(path: string): string | undefined {
    for (const [name, { server }] of this.#slots) {
      if (languageOf(server.languages, path) !== undefined) return name;
    }
    return undefined;
  }

  /** All endings that a server speaks for. */
  get endings(): string[] {
    return [...new Set([...this.#slots.values()].flatMap(({ server }) => Object.keys(server.languages)))];
  }

  get names(): string[] {
    return [...this.#slots.keys()];
  }

  /** Has the servers end when these resources are disposed of, unless others hold them too. */
  hold(resources: Resources): void {
    if (resources.has(HELD) && resources.get(HELD)?.has(this)) return;
    resources.getOrDefault(HELD, () => new Set()).add(this);
    const holder = new WeakRef(resources);
    if (this.#holders.size >= MANY) this.#forget();
    this.#holders.add(holder);
    resources.defer(async () => {
      this.#holders.delete(holder);
      this.#forget();
      if (this.#holders.size === 0) await this.close();
    });
  }

  /** The one that runs; undefined where it does not. */
  running(name: string): ServerSession | undefined {
    return this.#slots.get(name)?.running;
  }

  /**
   * Does something with a server, which is started where it does not run. Where it ends meanwhile, once more with a new one.
   * Rejects with Failure, FsError, or the reason of the signal.
   */
  async use<T>(name: string, signal: AbortSignal, work: (session: ServerSession) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      const session = await this.start(name, signal);
      try {
        const value = await work(session);
        this.#slot(name).crashes = 0;
        return value;
      } catch (error) {
        if (!(error instanceof ServerEnded) || attempt > 1) throw error;
        await session.ended;
      }
    }
  }

  /** Starts a server where it does not run. Rejects with Failure, or with the reason of the signal. */
  async start(name: string, signal: AbortSignal): Promise<ServerSession> {
    const slot = this.#slot(name);
    if (slot.session === undefined) {
      const pause = slot.notBefore - this.#settings.now();
      if (pause > 0) {
        const s = Math.ceil(pause / 1000);
        throw new Failure(
          "the server is down",
          `${slot.fault} It is started again in ${s} s; do without it until then.`,
        );
      }
      slot.session = this.#start(name, slot, this.#life.signal);
      slot.session.catch(() => {});
    }
    return await unlessAborted(slot.session, signal);
  }

  /** Ends the servers. One that is needed later starts anew. */
  async close(): Promise<void> {
    this.#life.abort(new Failure("closed", "The language servers were closed."));
    this.#life = new AbortController();
    for (const slot of this.#slots.values()) {
      const { session } = slot;
      slot.session = undefined;
      slot.running = undefined;
      if (session === undefined) continue;
      const closing = session.then(
        (started) => started.close(),
        () => {},
      );
      this.#closing.add(closing);
      closing.finally(() => this.#closing.delete(closing));
    }
    await Promise.all(this.#closing);
  }

  /** Those that are gone without a word. */
  #forget(): void {
    for (const holder of this.#holders) if (holder.deref() === undefined) this.#holders.delete(holder);
  }

  #slot(name: string): Slot {
    const slot = this.#slots.get(name);
    if (slot === undefined) throw new Error(`there is no language server "${name}"`);
    return slot;
  }

  async #start(name: string, slot: Slot, life: AbortSignal): Promise<ServerSession> {
    try {
      const session = await ServerSession.start(this.fs, name, slot.server, this.#settings, life);
      if (life.aborted) {
        await session.close();
        throw life.reason;
      }
      slot.running = session;
      session.ended.then((how) => {
        if (slot.running !== session) return; // it was closed
        slot.running = undefined;
        this.#crashed(slot, `The language server "${name}" has ended: ${how}.`);
      });
      return session;
    } catch (error) {
      if (!life.aborted) this.#crashed(slot, error instanceof Error ? error.message : String(error));
      throw error;
    }
  }

  /** The first time it is started again at once. */
  #crashed(slot: Slot, fault: string): void {
    slot.session = undefined;
    slot.fault = fault;
    const pause = slot.crashes === 0 ? 0 : Math.min(FIRST_PAUSE_MS * 2 ** (slot.crashes - 1), LONGEST_PAUSE_MS);
    slot.notBefore = this.#settings.now() + pause;
    slot.crashes++;
  }
}

const HELD = resource<Set<ServerPool>>("language servers held");
