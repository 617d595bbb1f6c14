import { Secret } from "@shedkit/provider";
import { AgenticError } from "@shedkit/types";

/** What any server may be given beside the way to reach it. */
interface ServerOptions {
  /** Leaves the server out. Default: false. */
  disabled?: boolean | undefined;
  /** How long one call may take, in milliseconds. Default: 120,000. */
  timeoutMs?: number | undefined;
  /**
   * Believes what the server says of its tools to their advantage: `readOnlyHint` and `idempotentHint`, and
   * `destructiveHint: false`. Default: false; then only what makes a tool more dangerous is believed.
   */
  trustAnnotations?: boolean | undefined;
  /** Takes over changed definitions of tools that are known already. Default: false; then such a tool is held. */
  acceptChanges?: boolean | undefined;
}

/** A server that is a process of its own, spoken to over its standard input and output. */
export interface McpProcessConfig extends ServerOptions {
  type?: "stdio" | undefined;
  command: string;
  args?: readonly string[] | undefined;
  /** Added to the few variables that a process gets anyway (PATH, HOME ...); nothing else is passed on. */
  env?: { readonly [name: string]: string } | undefined;
  cwd?: string | undefined;
}

/** A server reached over streamable HTTP. */
export interface McpHttpConfig extends ServerOptions {
  type?: "http" | "streamable-http" | undefined;
  url: string;
  /** Sent with every request, e.g. `Authorization`. Kept as secrets. */
  headers?: { readonly [name: string]: string } | undefined;
}

/** The form in which such servers are written down everywhere. */
export interface McpServersConfig {
  mcpServers: { readonly [name: string]: McpProcessConfig | McpHttpConfig };
}

/** A configuration that holds. {@link parseMcpServers} makes it. */
export interface McpServerSettings {
  readonly name: string;
  readonly reach: McpProcess | McpEndpoint;
  readonly disabled: boolean;
  readonly timeoutMs: number;
  readonly trustAnnotations: boolean;
  readonly acceptChanges: boolean;
}

/** How a process is started. */
export interface McpProcess {
  readonly type: "stdio";
  readonly command: string;
  readonly args: readonly string[];
  readonly env: { readonly [name: string]: Secret | "" };
  readonly cwd: string | undefined;
}

/** Where a server is. */
export interface McpEndpoint {
  readonly type: "http";
  readonly url: string;
  readonly headers: { readonly [name: string]: Secret };
}

/** How a configuration is read. */
export interface ParseMcpOptions {
  /**
   * What `${NAME}` in commands, arguments, variables, URLs and headers stands for, so that no key has to be written
   * down. Default: nothing; then such a text is refused.
   */
  variables?: { readonly [name: string]: string | undefined } | undefined;
}

const TIMEOUT_MS = 120_000;
const MAX_TIMEOUT_MS = 24 * 3_600_000;

/**
 * Reads `{ "mcpServers": { name: { command, args, env, cwd } | { url, headers } } }`. Throws AgenticError `toolShed`
 * whose message names every field that is not right, what was wanted and what came; no value of a variable or a header
 * is in it.
 */
export function parseMcpServers(config: unknown, options: ParseMcpOptions = {}): readonly McpServerSettings[] {
  const problems: string[] = [];
  const reader = new Reader(problems, options.variables ?? {});
  const root = reader.object(config, "the configuration") ?? {};
  const servers = reader.object(root.mcpServers, "mcpServers") ?? {};
  const settings = Object.entries(servers).flatMap(([name, entry]) => {
    const at = `mcpServers.${name}`;
    if (!NAME.test(name) || name.includes("__")) {
      problems.push(`${at}: a server's name has 1 to 32 letters, digits, "-", and single "_" between them`);
      return [];
    }
    return readServer(name, at, entry, reader) ?? [];
  });
  if (problems.length > 0) {
    throw new AgenticError(
      "toolShed",
      `The MCP servers cannot be used as they are given:\n- ${problems.join("\n- ")}`,
      {
        problems,
      },
    );
  }
  return settings;
}

/** So that of `server__tool` only one server can be meant. */
const NAME = /^(?!_)[A-Za-z0-9_-]{1,32}(?<!_)$/;
const HEADER = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const COMMON = ["type", "disabled", "timeoutMs", "trustAnnotations", "acceptChanges"];

function readServer(name: string, at: string, entry: unknown, reader: Reader): McpServerSettings | undefined {
  const fields = reader.object(entry, at);
  if (fields === undefined) return undefined;
  const isProcess = fields.command !== undefined;
  if (isProcess === (fields.url !== undefined)) {
    reader.fault(at, 'a "command" that starts it or a "url" that reaches it', isProcess ? "both" : "neither");
    return undefined;
  }
  const types = isProcess ? ["stdio"] : ["http", "streamable-http"];
  if (fields.type !== undefined && !types.includes(fields.type as string)) {
    const advice = fields.type === "sse" ? " (the older SSE transport is not spoken here)" : "";
    reader.fault(`${at}.type`, `${types.map((type) => `"${type}"`).join(" or ")}${advice}`, show(fields.type));
  }
  const known = [...COMMON, ...(isProcess ? ["command", "args", "env", "cwd"] : ["url", "headers"])];
  for (const key of Object.keys(fields))
    if (!known.includes(key)) reader.fault(`${at}.${key}`, `one of ${known.join(", ")}`, "a field that is not known");
  return {
    name,
    reach: isProcess ? readProcess(at, fields, reader) : readEndpoint(at, fields, reader),
    disabled: reader.flag(fields.disabled, `${at}.disabled`),
    timeoutMs: reader.milliseconds(fields.timeoutMs, `${at}.timeoutMs`),
    trustAnnotations: reader.flag(fields.trustAnnotations, `${at}.trustAnnotations`),
    acceptChanges: reader.flag(fields.acceptChanges, `${at}.acceptChanges`),
  };
}

function readProcess(at: string, fields: Fields, reader: Reader): McpProcess {
  const args = fields.args ?? [];
  if (!Array.isArray(args)) reader.fault(`${at}.args`, "a list of strings", show(args));
  const cwd = fields.cwd === undefined ? undefined : reader.text(fields.cwd, `${at}.cwd`);
  return {
    type: "stdio",
    command: reader.text(fields.command, `${at}.command`),
    args: Array.isArray(args) ? args.map((arg, i) => reader.text(arg, `${at}.args[${i}]`, true)) : [],
    env: reader.variablesOf(fields.env, `${at}.env`),
    cwd,
  };
}

function readEndpoint(at: string, fields: Fields, reader: Reader): McpEndpoint {
  const text = reader.text(fields.url, `${at}.url`);
  const headers = reader.headers(fields.headers, `${at}.headers`);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (text !== "" && !/^https?:$/.test(url?.protocol ?? ""))
    reader.fault(`${at}.url`, "an http or https URL", "another text");
  if (url !== undefined) {
    if (url.username !== "" || url.password !== "")
      reader.fault(`${at}.url`, "a URL without user and password; put them into headers", "one with them");
    if (url.protocol === "http:" && Object.keys(headers).length > 0 && !isLoopback(url.hostname))
      reader.fault(`${at}.url`, "https, since headers are sent along", "http");
  }
  return { type: "http", url: url?.href ?? "", headers };
}

/** A name of this machine. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(host);
}

type Fields = { readonly [key: string]: unknown };

/** Reads fields, and notes what is not right with them. */
class Reader {
  constructor(
    readonly problems: string[],
    readonly variables: { readonly [name: string]: string | undefined },
  ) {}

  fault(at: string, wanted: string, got: string): void {
    this.problems.push(`${at}: wanted ${wanted}; got ${got}`);
  }

  object(value: unknown, at: string): Fields | undefined {
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Fields;
    this.fault(at, "an object", show(value));
    return undefined;
  }

  flag(value: unknown, at: string): boolean {
    if (value !== undefined && typeof value !== "boolean") this.fault(at, "true or false", show(value));
    return value === true;
  }

  milliseconds(value: unknown, at: string): number {
    if (value === undefined) return TIMEOUT_MS;
    if (typeof value === "number" && value >= 1 && value <= MAX_TIMEOUT_MS) return value;
    this.fault(at, `milliseconds from 1 to ${MAX_TIMEOUT_MS}`, show(value));
    return TIMEOUT_MS;
  }

  /** A text with its variables filled in; "" where it is not right. */
  text(value: unknown, at: string, mayBeEmpty = false): string {
    if (typeof value !== "string" || (value === "" && !mayBeEmpty)) {
      this.fault(at, mayBeEmpty ? "a string" : "a string that is not empty", show(value));
      return "";
    }
    if (value.includes("\0")) this.fault(at, "a string without NUL", "one with it");
    return value.replace(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (_, name: string) => {
      const filled = Object.hasOwn(this.variables, name) ? this.variables[name] : undefined;
      if (filled === undefined) this.fault(at, `a variable "${name}" to put in place of \${${name}}`, "none");
      return filled ?? "";
    });
  }

  variablesOf(value: unknown, at: string): { [name: string]: Secret | "" } {
    const found: { [name: string]: Secret | "" } = {};
    for (const [key, text] of this.#texts(value, at, (key) => key !== "" && !/[=\0]/.test(key)))
      found[key] = text.trim() === "" ? "" : new Secret(text);
    return found;
  }

  headers(value: unknown, at: string): { [name: string]: Secret } {
    const found: { [name: string]: Secret } = {};
    for (const [key, text] of this.#texts(value, at, (key) => HEADER.test(key))) {
      if (/[\r\n]/.test(text)) this.fault(`${at}.${key}`, "a text of one line", "several lines");
      else if (text.trim() === "") this.fault(`${at}.${key}`, "a text that is not empty", "an empty one");
      else found[key] = new Secret(text);
    }
    return found;
  }

  *#texts(value: unknown, at: string, isName: (key: string) => boolean): Generator<[string, string]> {
    if (value === undefined) return;
    for (const [key, one] of Object.entries(this.object(value, at) ?? {})) {
      const where = `${at}.${key}`;
      if (!isName(key)) this.fault(where, "a name that can be one", "another text");
      else if (typeof one !== "string") this.fault(where, "a string", typeName(one));
      else yield [key, this.text(one, where, true)];
    }
  }
}

/** Short; a long text may be a key that went to the wrong place. */
function show(value: unknown): string {
  if (value === undefined) return "nothing";
  if (typeof value === "string") return value.length <= 20 ? JSON.stringify(value) : "a long text";
  return typeof value === "object" ? typeName(value) : String(value);
}

function typeName(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
