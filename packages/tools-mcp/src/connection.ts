import type { CallToolResult, Client, Progress, RequestOptions } from "@modelcontextprotocol/client";
import { ToolError } from "@shedkit/tool";
import type { McpServerSettings } from "./config.js";
import type { ListedTool } from "./definition.js";
import { callFault, connectFault, isSessionLost, needsSignIn, redact } from "./faults.js";
import { type LinkOptions, type McpLink, openLink, type Sdk } from "./link.js";
import { mendLists } from "./mend-lists.js";
import { listTools, MAX_TIMER_MS, newClient } from "./sdk-client.js";
import { oneLine } from "./text.js";
import { type Sleep, untilAborted } from "./wait.js";

/** How it stands with a server. */
export type McpServerState = "connecting" | "ready" | "waiting" | "unauthorized" | "failed" | "closed";

/** What a connection tells of itself. */
export interface ConnectionHooks {
  /** The tools, as the server lists them now: after each connect, and after each change. Awaited. */
  onTools(tools: readonly ListedTool[]): Promise<void>;
  onState(state: McpServerState, reason?: string): void;
  /** A list could not be read again; the one known holds on. */
  onProblem(message: string): void;
}

/** What a connection is made with. */
export interface ConnectionOptions extends LinkOptions {
  /** How long one attempt to connect may take, in milliseconds. Default: 30,000. */
  connectTimeoutMs?: number | undefined;
  sdk: Sdk;
  sleep: Sleep;
}

const CONNECT_TIMEOUT_MS = 30_000;
/** Attempts in a row that failed, after which nobody tries until the next call. */
const MAX_FAILURES = 6;
const FIRST_BACKOFF_MS = 1000;
const MAX_BACKOFF_MS = 30_000;
/** A server that says all the time that its list changed is asked ever less often. */
const FIRST_GAP_MS = 50;
const MAX_GAP_MS = 30_000;
const GOODBYE_MS = 2000;

interface Open {
  readonly client: Client;
  readonly link: McpLink;
  /** Requests that wait for their answers. */
  running: number;
}

/** One server: connected, and connected again when it is lost. */
export class Connection {
  readonly settings: McpServerSettings;
  readonly #hooks: ConnectionHooks;
  readonly #options: ConnectionOptions;
  readonly #ending = new AbortController();
  #open: Open | undefined;
  /** Another one has taken their place; each is closed when the last of its requests has ended. */
  readonly #replaced = new Set<Open>();
  /** The link of a server that asked for a sign-in. */
  #halfOpen: McpLink | undefined;
  #attempt: Promise<Open> | undefined;
  #hasResources = false;
  #retrying = false;
  #failures = 0;
  #refreshing = false;
  #again = false;
  #gap = FIRST_GAP_MS;

  constructor(settings: McpServerSettings, hooks: ConnectionHooks, options: ConnectionOptions) {
    this.settings = settings;
    this.#hooks = hooks;
    this.#options = options;
  }

  /** Connects; where that fails, goes on trying in the background. Never rejects. */
  async start(): Promise<void> {
    await this.#connect().catch(() => this.#later());
  }

  /**
   * Calls a tool. A server that is down is connected to first; only then may it be known to be held. Throws
   * ToolError.
   */
  call(
    tool: { name: string; declared: string; assertMayRun(): void },
    args: { [key: string]: unknown },
    { signal, onProgress }: { signal: AbortSignal; onProgress(progress: Progress): void },
  ): Promise<CallToolResult> {
    return this.request(tool.declared, signal, (client, options) => {
      tool.assertMayRun();
      return client.callTool({ name: tool.name, arguments: args }, { ...options, onprogress: onProgress });
    });
  }

  /** Asks the server for something. Once more, where it has forgotten the session. Throws ToolError. */
  async request<T>(
    tool: string,
    signal: AbortSignal,
    ask: (client: Client, options: RequestOptions) => Promise<T>,
  ): Promise<T> {
    const { sdk } = this.#options;
    for (let attempt = 1; ; attempt++) {
      const open = await this.#ready(tool, signal);
      const options = { signal, timeout: MAX_TIMER_MS };
      open.running++;
      try {
        const result = await ask(open.client, options);
        this.#failures = 0;
        return result;
      } catch (fault) {
        if (signal.aborted) throw signal.reason instanceof ToolError ? signal.reason : cancelled(tool, signal);
        if (needsSignIn(sdk, fault)) this.#signedOut(open);
        if (isSessionLost(sdk, fault) && !this.#ending.signal.aborted) {
          this.#lose(open, "it has forgotten the session");
          if (attempt === 1) continue;
        }
        throw callFault(sdk, fault, tool, this.settings, this.#endOf(open.link));
      } finally {
        open.running--;
        if (open.running === 0 && this.#replaced.delete(open)) void open.client.close().catch(() => {});
      }
    }
  }

  get client(): Client | undefined {
    return this.#open?.client;
  }

  /** Whether the server has resources to read: known once it was reached. */
  get hasResources(): boolean {
    return this.#hasResources;
  }

  /** Ends the sign-in that the server asked for, and connects. Throws ToolError, `unauthorized` where none is due. */
  async finishAuth(callback: URLSearchParams): Promise<void> {
    const link = this.#halfOpen;
    if (link?.finishAuth === undefined) {
      const message = `The MCP server "${this.settings.name}" has not asked for a sign-in.`;
      throw new ToolError("unauthorized", this.settings.name, message);
    }
    try {
      await link.finishAuth(callback);
      this.#halfOpen = undefined;
      await this.#connect();
    } catch (fault) {
      throw callFault(this.#options.sdk, fault, this.settings.name, this.settings, "");
    }
  }

  async close(): Promise<void> {
    if (this.#ending.signal.aborted) return;
    this.#ending.abort();
    const open = this.#open;
    this.#open = undefined;
    await this.#attempt?.catch(() => {});
    if (open !== undefined) {
      const patience = AbortSignal.timeout(GOODBYE_MS);
      await untilAborted(open.link.sayGoodbye?.() ?? Promise.resolve(), patience).catch(() => {});
      await open.client.close().catch(() => {});
    }
    await Promise.all(Array.from(this.#replaced, ({ client }) => client.close().catch(() => {})));
    await this.#halfOpen?.transport.close().catch(() => {});
    this.#hooks.onState("closed");
  }

  /** The open connection; one that is being made is waited for, one that is not is begun. */
  async #ready(tool: string, signal: AbortSignal): Promise<Open> {
    if (this.#open !== undefined) return this.#open;
    const { name } = this.settings;
    if (this.#ending.signal.aborted)
      throw new ToolError("serviceUnavailable", tool, `The MCP server "${name}" was closed.`);
    // Each attempt would send the user to sign in once more.
    if (this.#halfOpen !== undefined && this.#options.auth?.[name] !== undefined) throw unauthorized(tool, name);
    try {
      return await untilAborted(this.#connect(), signal);
    } catch (fault) {
      if (signal.aborted) throw cancelled(tool, signal);
      const { message, signIn } = fault as Unreachable;
      if (signIn) throw unauthorized(tool, name);
      throw new ToolError("serviceUnavailable", tool, `The MCP server "${name}" cannot be reached: ${message}`);
    }
  }

  /** One attempt; callers share it. Rejects with Unreachable. */
  #connect(): Promise<Open> {
    this.#attempt ??= this.#tryOnce().finally(() => {
      this.#attempt = undefined;
    });
    return this.#attempt;
  }

  async #tryOnce(): Promise<Open> {
    this.#hooks.onState("connecting");
    const deadline = AbortSignal.timeout(this.#options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS);
    const signal = AbortSignal.any([this.#ending.signal, deadline]);
    let link: McpLink | undefined;
    let client: Client | undefined;
    let open: Open | undefined;
    let gone = false;
    try {
      link = openLink(this.#options.sdk, this.settings.name, this.settings.reach, this.#options);
      client = newClient(this.#options.sdk, this.settings, () => this.#listChanged());
      client.onclose = () => {
        gone = true;
        if (open) this.#lose(open, this.#endOf(link) || "the connection was closed");
      };
      mendLists(this.#options.sdk, link.transport);
      await untilAborted(client.connect(link.transport, { signal, timeout: MAX_TIMER_MS }), signal);
      this.#hasResources = client.getServerCapabilities()?.resources !== undefined;
      await this.#take(await untilAborted(listTools(client, signal), signal));
      signal.throwIfAborted();
      if (gone) throw new Error("the connection was closed");
      open = { client, link, running: 0 };
      this.#open = open;
      this.#halfOpen = undefined;
      this.#hooks.onState("ready");
      this.#watch(open);
      return open;
    } catch (fault) {
      const ended = this.#ending.signal.aborted;
      if (client) client.onclose = () => {};
      if (!ended && needsSignIn(this.#options.sdk, fault)) this.#halfOpen = link;
      else {
        await client?.close().catch(() => {});
        await link?.transport.close().catch(() => {});
      }
      this.#failures++;
      const end = this.#endOf(link);
      const late = deadline.aborted && fault === deadline.reason;
      const why = connectFault(late ? new Error("it did not answer in time.") : fault, this.settings, end);
      const failure = new Unreachable(why, needsSignIn(this.#options.sdk, fault));
      if (!ended) this.#hooks.onState(failure.signIn ? "unauthorized" : "failed", why);
      throw failure;
    }
  }

  /** Servers of 2026 say that something changed on a stream that may end: it is opened again. */
  #watch(open: Open): void {
    const subscription = open.client.autoOpenedSubscription;
    void subscription?.closed.then((why) => {
      if (why !== "local" && this.#open === open) this.#lose(open, "the stream of its notices ended", open.running > 0);
    });
  }

  /**
   * A connection that was there is gone: another is made, at once or after a while. `inUse`: requests that run on it
   * have streams of their own, and end by themselves.
   */
  #lose(open: Open, reason: string, inUse = false): void {
    if (this.#open !== open) return;
    this.#open = undefined;
    open.client.onclose = () => {};
    if (inUse) this.#replaced.add(open);
    else void open.client.close().catch(() => {});
    if (this.#ending.signal.aborted) return;
    this.#failures++;
    this.#hooks.onState(this.#failures < MAX_FAILURES ? "waiting" : "failed", reason);
    this.#later();
  }

  /** A connection that was there is not let in any more; the link knows of the sign-in that has begun. */
  #signedOut(open: Open): void {
    if (this.#open !== open) return;
    this.#open = undefined;
    this.#halfOpen = open.link;
    open.client.onclose = () => {};
    void open.client.close().catch(() => {});
    this.#hooks.onState("unauthorized", "its user has to sign in again");
  }

  /** Tries again, ever later, until it works or there is no point: then the next call does. */
  #later(): void {
    if (this.#retrying) return;
    this.#retrying = true;
    void (async () => {
      while (this.#isLost() && this.#failures < MAX_FAILURES) {
        const backoff = Math.min(FIRST_BACKOFF_MS * 2 ** (this.#failures - 1), MAX_BACKOFF_MS);
        await this.#options.sleep(backoff, this.#ending.signal);
        if (this.#isLost()) await this.#connect().catch(() => {});
      }
      this.#retrying = false;
    })();
  }

  #endOf(link: McpLink | undefined): string {
    return redact(oneLine(link?.describeEnd?.() ?? ""), this.settings);
  }

  #isLost(): boolean {
    return this.#open === undefined && this.#halfOpen === undefined && !this.#ending.signal.aborted;
  }

  /** Reads the list again, at most once at a time; told of another change meanwhile, once more after a pause. */
  #listChanged(): void {
    this.#again = true;
    if (this.#refreshing) return;
    this.#refreshing = true;
    void (async () => {
      while (this.#again && !this.#ending.signal.aborted) {
        await this.#options.sleep(this.#gap, this.#ending.signal);
        this.#again = false;
        await this.#refresh();
        this.#gap = this.#again ? Math.min(this.#gap * 2, MAX_GAP_MS) : Math.max(this.#gap / 2, FIRST_GAP_MS);
      }
      this.#refreshing = false;
    })();
  }

  async #take({ tools, left }: Awaited<ReturnType<typeof listTools>>): Promise<void> {
    await this.#hooks.onTools(tools);
    if (left > 0) this.#hooks.onProblem(`It lists ${tools.length + left} tools; the first ${tools.length} are taken.`);
  }

  async #refresh(): Promise<void> {
    const open = this.#open;
    if (open === undefined) return; // the next connection lists them anyway
    const signal = AbortSignal.any([this.#ending.signal, AbortSignal.timeout(CONNECT_TIMEOUT_MS)]);
    try {
      const listed = await untilAborted(listTools(open.client, signal), signal);
      if (this.#open === open) await this.#take(listed);
    } catch (fault) {
      if (this.#ending.signal.aborted || this.#open !== open) return;
      this.#hooks.onProblem(`Its tools could not be listed again: ${connectFault(fault, this.settings, "")}`);
    }
  }
}

/** No way to the server; the message says why. */
class Unreachable extends Error {
  constructor(
    message: string,
    readonly signIn: boolean,
  ) {
    super(message);
  }
}

function unauthorized(tool: string, server: string): ToolError {
  return new ToolError("unauthorized", tool, `The MCP server "${server}" cannot be reached: its user has to sign in.`);
}

function cancelled(tool: string, signal: AbortSignal): ToolError {
  return new ToolError("cancelled", tool, `${tool} was cancelled.`, { cause: signal.reason });
}
