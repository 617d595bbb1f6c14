import type { ToolCallManager } from "@shedkit/shed";
import { fullId, metadataOf, ToolError, type ToolImpl } from "@shedkit/tool";
import type { ToolConfig } from "@shedkit/toolset";
import { AgenticError, toolName } from "@shedkit/types";
import { Catalog } from "./catalog.js";
import type { McpServerSettings } from "./config.js";
import { Connection, type ConnectionOptions, type McpServerState } from "./connection.js";
import { type LinkOptions, loadSdk } from "./link.js";
import { listPrompts, type McpPrompt, type McpPromptMessage, readPrompt } from "./prompts.js";
import { shortData } from "./text.js";
import { type Sleep, sleep } from "./wait.js";

/** How servers are connected to. */
export interface McpOptions extends LinkOptions {
  /** How long one attempt to connect may take, in milliseconds. Default: 30,000. */
  connectTimeoutMs?: number | undefined;
  /**
   * What {@link McpServers.fingerprints} gave in an earlier session: a tool that is another one since is held. Default:
   * none.
   */
  approved?: { readonly [tool: string]: string } | undefined;
  /** How waiting is done. Default: the machine's clock. */
  sleep?: Sleep | undefined;
  /** Hears of all that happens, from the first attempt on; see {@link McpServers.onEvent}. */
  onEvent?: ((event: McpEvent) => void) | undefined;
}

/** What happened with a server. Texts of servers in it are cut and cleaned, and still theirs. */
export type McpEvent = { readonly server: string } & (
  | { readonly type: "state"; readonly state: McpServerState; readonly reason?: string | undefined }
  | { readonly type: "added" | "removed"; readonly tools: readonly string[] }
  /** `held`: it does not run until {@link McpServers.accept}. */
  | { readonly type: "changed"; readonly tool: string; readonly what: readonly string[]; readonly held: boolean }
  | { readonly type: "problem"; readonly tool?: string | undefined; readonly message: string }
);

/** How it stands with one server. */
export interface McpServerStatus {
  readonly name: string;
  readonly state: McpServerState;
  /** Why it is not `ready`. */
  readonly reason?: string | undefined;
  readonly tools: readonly string[];
  /** Tools that do not run until {@link McpServers.accept}. */
  readonly held: readonly string[];
  /** What the server wants models to be told. Nobody tells them by itself. */
  readonly instructions?: string | undefined;
}

interface Served {
  readonly connection: Connection;
  readonly catalog: Catalog;
  state: McpServerState;
  reason: string | undefined;
}

const MAX_INSTRUCTIONS = 8000;

/** MCP servers, connected: their tools, for any number of sessions. */
export class McpServers {
  readonly #servers = new Map<string, Served>();
  readonly #listeners = new Set<(event: McpEvent) => void>();
  readonly #followers = new Set<() => void>();

  private constructor() {}

  /**
   * Connects to all servers at once, and resolves when each was reached or was not: one that cannot be reached is tried
   * again in the background, and keeps no other from working. Throws AgenticError `toolShed` where a server is named
   * twice or is a process and none can be started here.
   */
  static async connect(settings: readonly McpServerSettings[], options: McpOptions = {}): Promise<McpServers> {
    const servers = new McpServers();
    if (options.onEvent) servers.onEvent(options.onEvent);
    const wanted = settings.filter(({ disabled }) => !disabled);
    const problems = problemsOf(wanted, options);
    if (problems.length > 0) throw new AgenticError("toolShed", `MCP servers: ${problems.join(" ")}`, { problems });
    if (wanted.length === 0) return servers;
    const full = { ...options, sleep: options.sleep ?? sleep, sdk: await loadSdk() };
    await Promise.all(wanted.map((each) => servers.#add(each, full, options.approved ?? {}).start()));
    return servers;
  }

  /** The tools of all servers, for `new ToolShed().tools(...)`. {@link McpServers.follow} brings those that come later. */
  tools(): ToolImpl[] {
    return [...this.#servers.values()].flatMap(({ catalog }) => catalog.tools());
  }

  /** The tools as entries of a configuration: the `external` source of `mergeConfigs`. */
  configs(): ToolConfig[] {
    return this.tools().map((tool) => ({ id: fullId(metadataOf(tool)), kind: metadataOf(tool).kind }));
  }

  /**
   * Keeps a session's tools as the servers list them: new ones are found by its searches at once, those that are gone
   * are removed. One that is active stays declared, so that the prompt's cache holds; its calls say that it is gone. What
   * the session's capability mode does not allow stays out. Returns the function that ends it.
   */
  follow(manager: ToolCallManager): () => void {
    const mine = new Set<ToolImpl>(this.tools());
    const refused = new Set<ToolImpl>();
    const update = (): void => {
      const now = this.tools();
      const names = new Set(now.map((tool) => toolName(tool.definition())));
      for (const tool of mine) {
        const name = toolName(tool.definition());
        if (manager.get(name) === tool && !names.has(name) && !manager.isActive(name)) manager.deregister(name);
      }
      for (const tool of now) {
        const name = toolName(tool.definition());
        const known = manager.get(name);
        if (known === tool || refused.has(tool)) continue;
        try {
          if (known !== undefined && mine.has(known)) manager.deregister(name);
          manager.register(tool);
          mine.add(tool);
        } catch (fault) {
          refused.add(tool);
          this.#tell({
            type: "problem",
            server: categoryOf(tool),
            tool: name,
            message: shortData(messageOf(fault), 1000),
          });
        }
      }
    };
    update();
    this.#followers.add(update);
    const stop = (): void => void this.#followers.delete(update);
    manager.resources.defer(stop); // at the session's end
    return stop;
  }

  /** Calls back with all that happens; returns the function that ends it. */
  onEvent(listener: (event: McpEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  status(): McpServerStatus[] {
    return Array.from(this.#servers, ([name, { connection, catalog, state, reason }]) => {
      const instructions = connection.client?.getInstructions();
      return {
        name,
        state,
        reason,
        tools: catalog.tools().map((tool) => toolName(tool.definition())),
        held: Array.from(catalog.entries()).flatMap(({ declared, standing }) => (standing.changed ? [declared] : [])),
        instructions: instructions === undefined ? undefined : shortData(instructions, MAX_INSTRUCTIONS),
      };
    });
  }

  /**
   * Lets tools run whose definition was changed, as they are defined now. Throws ToolError `unknownTool` where a tool is
   * not held; then none is let.
   */
  accept(...tools: readonly string[]): void {
    const held = new Set(this.status().flatMap((status) => status.held));
    for (const tool of tools)
      if (!held.has(tool)) throw new ToolError("unknownTool", tool, `No tool "${tool}" is held.`);
    for (const tool of tools) for (const { catalog } of this.#servers.values()) catalog.accept(tool);
    this.#changed();
  }

  /** What the tools are now, by name, so that a later session can tell whether they still are; held ones left out. */
  fingerprints(): { [tool: string]: string } {
    const prints = [...this.#servers.values()].flatMap(({ catalog }) =>
      Array.from(catalog.entries(), ({ declared, vetted, standing }) =>
        standing.changed ? [] : [[declared, vetted.fingerprint] as const],
      ).flat(),
    );
    return Object.fromEntries(prints);
  }

  /** The prompts that a server offers to its user. Throws ToolError. */
  prompts(server: string, options: { signal?: AbortSignal | undefined } = {}): Promise<McpPrompt[]> {
    return listPrompts(this.#require(server).connection, options.signal);
  }

  /** One prompt with its arguments filled in: a user chooses it, no model. Throws ToolError. */
  prompt(
    server: string,
    name: string,
    args: { readonly [name: string]: string } = {},
    options: { signal?: AbortSignal | undefined } = {},
  ): Promise<McpPromptMessage[]> {
    return readPrompt(this.#require(server).connection, name, args, options.signal);
  }

  /**
   * Ends the sign-in of a server that is `unauthorized`, with the parameters that its OAuth provider sent back. Compare
   * `state` before. Throws ToolError where the sign-in did not succeed; then it may be tried again.
   */
  async finishAuth(server: string, callback: URLSearchParams): Promise<void> {
    await this.#require(server).connection.finishAuth(callback);
  }

  /** Ends all connections and processes; calls in flight fail. */
  async close(): Promise<void> {
    this.#followers.clear();
    await Promise.all(Array.from(this.#servers.values(), ({ connection }) => connection.close()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #require(server: string): Served {
    const served = this.#servers.get(server);
    if (served !== undefined) return served;
    const there = [...this.#servers.keys()].map((name) => `"${name}"`).join(", ") || "none";
    throw new ToolError("notFound", server, `There is no MCP server "${server}"; there are: ${there}.`);
  }

  #add(
    settings: McpServerSettings,
    options: ConnectionOptions,
    approved: { readonly [tool: string]: string },
  ): Connection {
    const server = settings.name;
    const connection = new Connection(
      settings,
      {
        onTools: async (tools) => {
          const { added, removed, changed, refused } = await catalog.update(tools);
          for (const { name, why } of refused)
            this.#tell({ type: "problem", server, tool: name, message: `Not taken: ${why}.` });
          if (added.length > 0) this.#tell({ type: "added", server, tools: added });
          if (removed.length > 0) this.#tell({ type: "removed", server, tools: removed });
          for (const { name, what, held } of changed) this.#tell({ type: "changed", server, tool: name, what, held });
          this.#changed();
        },
        onState: (state, reason) => {
          served.state = state;
          served.reason = reason;
          this.#tell({ type: "state", server, state, ...(reason !== undefined && { reason }) });
        },
        onProblem: (message) => this.#tell({ type: "problem", server, message }),
      },
      options,
    );
    const catalog = new Catalog(connection, approved);
    const served: Served = { connection, catalog, state: "connecting", reason: undefined };
    this.#servers.set(server, served);
    return connection;
  }

  #changed(): void {
    for (const update of this.#followers) update();
  }

  #tell(event: McpEvent): void {
    for (const listener of this.#listeners) {
      try {
        listener(event);
      } catch {
        // A listener's fault is not the server's.
      }
    }
  }
}

function problemsOf(settings: readonly McpServerSettings[], { spawn, auth = {} }: McpOptions): string[] {
  const names = settings.map(({ name }) => name);
  return [
    ...names.filter((name, i) => names.indexOf(name) !== i).map((name) => `"${name}" is there twice.`),
    ...Object.keys(auth)
      .filter((name) => !settings.some((each) => each.name === name && each.reach.type === "http"))
      .map((name) => `auth.${name} belongs to no server with a url.`),
    ...settings
      .filter(({ reach }) => reach.type === "stdio" && spawn === undefined)
      .map(
        ({ name }) =>
          `mcpServers.${name}.command: no process can be started here; give spawn: spawnServer of "@shedkit/tools-mcp/node".`,
      ),
  ];
}

function categoryOf(tool: ToolImpl): string {
  const definition = tool.definition();
  return definition.type === "single" ? definition.definition.category : "";
}

function messageOf(fault: unknown): string {
  return fault instanceof Error ? fault.message : String(fault);
}
