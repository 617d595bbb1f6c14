import path from "node:path";
import type { AnyAgentSession } from "@shedkit/agent";
import type { KeyValueStore } from "@shedkit/store";
import { ToolError } from "@shedkit/tool";
import type { McpServerSettings, McpServers } from "@shedkit/tools-mcp";
import { explain } from "./exit.js";
import type { McpEntry } from "./settings.js";

export interface McpOptions {
  entries: readonly McpEntry[];
  /** Where servers that are processes begin. */
  root: string;
  /** What `${NAME}` in the settings stands for. */
  env: { readonly [name: string]: string | undefined };
  /** The names of those that may be used. */
  allowed: ReadonlySet<string>;
  /** Where it is kept what the tools were, so that one that is another since is held. Default: nowhere. */
  notes?: KeyValueStore | undefined;
  /** Default: 30,000. */
  connectTimeoutMs?: number | undefined;
}

/** How it stands with a server, for people. */
export interface McpLine {
  name: string;
  text: string;
  /** It does not work. */
  isProblem: boolean;
}

/**
 * The MCP servers of the settings, for all sessions of the program. They are started when a session is to use them, and
 * one that is wrong or cannot be reached keeps no other from working.
 */
export class Mcp {
  readonly #options: McpOptions;
  readonly #left = new Map<string, string>();
  #started: Promise<McpServers | undefined> | undefined;

  constructor(options: McpOptions) {
    this.#options = options;
  }

  /** Puts the servers' tools into a session, as they list them from now on; resolves when all were tried. */
  async serve(session: AnyAgentSession): Promise<void> {
    (await this.#start())?.follow(session.toolManager);
  }

  /** Starts the servers, where that was not done. */
  async lines(): Promise<McpLine[]> {
    const servers = await this.#start();
    const known = new Map(servers?.status().map((status) => [status.name, status]));
    return this.#options.entries.map(({ name }) => {
      const left = this.#left.get(name);
      if (left !== undefined) return { name, text: left, isProblem: true };
      const status = known.get(name);
      if (status === undefined) return { name, text: "switched off", isProblem: false };
      const { state, reason, tools, held } = status;
      if (state !== "ready") return { name, text: `${state}${reason ? `: ${reason}` : ""}`, isProblem: true };
      const changed =
        held.length === 0
          ? ""
          : `; not run, since they were changed: ${held.join(", ")} (/tools accept NAME at the prompt lets one run)`;
      return { name, text: `${tools.join(", ") || "no tools"}${changed}`, isProblem: held.length > 0 };
    });
  }

  /** Lets a tool run that was changed, as it is now. Throws ToolError `unknownTool` where it is not held. */
  async accept(tool: string): Promise<void> {
    const servers = await this.#start();
    if (servers === undefined) throw new ToolError("unknownTool", tool, `No tool "${tool}" is held.`);
    servers.accept(tool);
    await this.#note(servers);
  }

  async close(): Promise<void> {
    await (await this.#started?.catch(() => undefined))?.close();
  }

  #start(): Promise<McpServers | undefined> {
    this.#started ??= this.#connect();
    return this.#started;
  }

  async #connect(): Promise<McpServers | undefined> {
    const { entries, connectTimeoutMs } = this.#options;
    if (entries.length === 0) return undefined;
    try {
      const [{ McpServers, parseMcpServers }, { spawnServer }] = await Promise.all([
        import("@shedkit/tools-mcp"),
        import("@shedkit/tools-mcp/node"),
      ]);
      const settings: McpServerSettings[] = [];
      for (const entry of entries) {
        const one = this.#settingsOf(entry, parseMcpServers);
        if (one !== undefined) settings.push(one);
      }
      const approved = await this.#approved();
      const servers = await McpServers.connect(settings, { spawn: spawnServer, connectTimeoutMs, approved });
      await this.#note(servers);
      return servers;
    } catch (error) {
      for (const { name } of entries) if (!this.#left.has(name)) this.#left.set(name, explain(error));
      return undefined;
    }
  }

  /** What the tools were when they were last seen, or accepted, in this folder. */
  async #approved(): Promise<{ [tool: string]: string }> {
    return ((await this.#options.notes?.get(this.#key)) ?? {}) as { [tool: string]: string };
  }

  /** Those of servers that are not there today stay as they were, and so do those that are held. */
  async #note(servers: McpServers): Promise<void> {
    await this.#options.notes?.set(this.#key, { ...(await this.#approved()), ...servers.fingerprints() });
  }

  get #key(): string {
    return `answerme/mcp-tools/${this.#options.root}`;
  }

  #settingsOf(
    entry: McpEntry,
    parse: typeof import("@shedkit/tools-mcp").parseMcpServers,
  ): McpServerSettings | undefined {
    const { root, env, allowed } = this.#options;
    try {
      const [settings] = parse({ mcpServers: { [entry.name]: entry.config } }, { variables: env });
      if (settings === undefined || settings.disabled) return undefined;
      if (!allowed.has(entry.name)) {
        this.#left.set(entry.name, `left out: nobody allowed it, and it comes with the folder (${entry.from})`);
        return undefined;
      }
      const { reach } = settings;
      if (reach.type !== "stdio") return settings;
      return { ...settings, reach: { ...reach, cwd: path.resolve(root, reach.cwd ?? ".") } };
    } catch (error) {
      this.#left.set(entry.name, `left out: ${problemOf(error)} (${entry.from})`);
      return undefined;
    }
  }
}

/** What a server of the settings is, on one line, without the values of its variables and headers. */
export function mcpEntryText({ config }: McpEntry): string {
  const { command, args, url, disabled } = (config ?? {}) as { [name: string]: unknown };
  const list = Array.isArray(args) ? args : [];
  const what = typeof url === "string" ? url : [command, ...list].filter((part) => typeof part === "string").join(" ");
  return disabled === true ? `${what} (switched off)` : what;
}

function problemOf(error: unknown): string {
  const { problems } = (error as { details?: { problems?: unknown } }).details ?? {};
  return Array.isArray(problems) ? problems.join("; ") : explain(error);
}
