import { readFile } from "node:fs/promises";
import path from "node:path";
import { UsageError } from "./exit.js";

/** What can be set, other than by asking. */
export interface Settings {
  /** A Hugging Face GGUF repo or a path; null: the demonstration model. */
  model: string | null;
  /** Whether files may be changed: after asking, without, or never. */
  permission: "ask" | "allow" | "readOnly";
  /** How many rounds of tool calls a question may take; null: the agent's own limit. */
  maxSteps: number | null;
  /** Whether sessions are kept, to be gone on with later. */
  keepSessions: boolean;
}

/** A setting and where it came from, for people: `--model`, `ANSWERME_MODEL`, `answerme.json:2`, `default`. */
export type Sourced<T> = { readonly [K in keyof T]: { readonly value: T[K]; readonly from: string } };

interface Setting<T> {
  readonly default: T;
  readonly env: string;
  /** What is accepted, as it stands in an error. */
  readonly wanted: string;
  accepts(value: unknown): value is T;
  /** From an environment variable. */
  parse(text: string): unknown;
}

const PERMISSIONS = ["ask", "allow", "readOnly"] as const;

const SETTINGS: { readonly [K in keyof Settings]: Setting<Settings[K]> } = {
  model: {
    default: null,
    env: "ANSWERME_MODEL",
    wanted:
      "a Hugging Face GGUF repo (owner/repo, owner/repo:Q4_K_M), the path of a .gguf file, openai:MODEL, anthropic:MODEL, or null",
    accepts: (value): value is string | null => value === null || (typeof value === "string" && value.trim() !== ""),
    parse: (text) => text,
  },
  permission: {
    default: "ask",
    env: "ANSWERME_PERMISSION",
    wanted: '"ask", "allow" or "readOnly"',
    accepts: (value): value is Settings["permission"] => PERMISSIONS.some((permission) => permission === value),
    parse: (text) => text,
  },
  maxSteps: {
    default: null,
    env: "ANSWERME_MAX_STEPS",
    wanted: "a whole number from 1 to 1000, or null",
    accepts: (value): value is number | null =>
      value === null || (Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 1000),
    parse: (text) => Number(text),
  },
  keepSessions: {
    default: true,
    env: "ANSWERME_KEEP_SESSIONS",
    wanted: "true or false",
    accepts: (value): value is boolean => typeof value === "boolean",
    parse: (text) => ({ true: true, "1": true, false: false, "0": false })[text],
  },
};

const CONFIG_FILE = "answerme.json";

export interface ConfigSources {
  /** From the command line. */
  flags: { readonly [K in keyof Settings]?: { value: Settings[K]; from: string } | undefined };
  env: { readonly [name: string]: string | undefined };
  /** The folder that is asked about: its file is the project's. */
  root: string;
  home: string;
}

/**
 * Every setting, from the first of these that has it: the command line, the environment, the project's file, the
 * user's file, the default. Throws UsageError naming file, line, field and what was expected.
 */
export async function loadSettings({ flags, env, root, home }: ConfigSources): Promise<Sourced<Settings>> {
  const project = await readConfig(path.join(root, CONFIG_FILE));
  const user = await readConfig(userConfigFile(env, home));
  const loosened = project?.get("permission");
  if (loosened?.value === "allow") {
    throw new UsageError(
      `${loosened.from}: "permission": "allow" does not count in a project's file, since a project must not permit ` +
        "itself; put it into your own file, or use --yes",
    );
  }
  const of = <K extends keyof Settings>(name: K) => {
    const found = flags[name] ?? fromEnv(env, name) ?? valueIn(project, name) ?? valueIn(user, name);
    return found ?? { value: SETTINGS[name].default, from: "default" };
  };
  return {
    model: of("model"),
    permission: of("permission"),
    maxSteps: of("maxSteps"),
    keepSessions: of("keepSessions"),
  };
}

/** Where a person's own settings are. */
function userConfigFile(env: ConfigSources["env"], home: string): string {
  const folder = env.XDG_CONFIG_HOME || (env.APPDATA ?? path.join(home, ".config"));
  return path.join(folder, "answerme", CONFIG_FILE);
}

type ConfigFile = ReadonlyMap<string, { value: unknown; from: string }>;

function valueIn<K extends keyof Settings>(file: ConfigFile | undefined, name: K) {
  return file?.get(name) as { value: Settings[K]; from: string } | undefined;
}

function fromEnv<K extends keyof Settings>(env: ConfigSources["env"], name: K) {
  const setting = SETTINGS[name];
  const text = env[setting.env]?.trim();
  if (text === undefined || text === "") return undefined;
  const value = setting.parse(text);
  if (!setting.accepts(value)) throw new UsageError(`${setting.env} is "${text}"; wanted: ${setting.wanted}`);
  return { value, from: setting.env };
}

/** Undefined where there is no such file. */
async function readConfig(file: string): Promise<ConfigFile | undefined> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw new UsageError(`${file} cannot be read (${code})`);
  }
  const values = parsed(file, text);
  if (typeof values !== "object" || values === null || Array.isArray(values)) {
    throw new UsageError(`${file}:1: wanted an object, e.g. { "model": "owner/repo" }`);
  }
  const settings = new Map<string, { value: unknown; from: string }>();
  for (const [name, value] of Object.entries(values)) {
    const from = `${file}:${lineOf(text, name)}`;
    if (name === "$schema") continue;
    if (!Object.hasOwn(SETTINGS, name)) {
      throw new UsageError(`${from}: there is no setting "${name}"; there are ${Object.keys(SETTINGS).join(", ")}`);
    }
    const setting = SETTINGS[name as keyof Settings];
    if (!setting.accepts(value)) {
      throw new UsageError(`${from}: "${name}" is ${JSON.stringify(value)}; wanted: ${setting.wanted}`);
    }
    settings.set(name, { value, from });
  }
  return settings;
}

function parsed(file: string, text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\ufeff/, ""));
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const position = Number(/position (\d+)/.exec(message)?.[1] ?? text.length);
    const what = message.replace(/ in JSON at position.*$| \(line .*$/s, "").replace(/, .* is not valid JSON$/s, "");
    throw new UsageError(`${file}:${lineAt(text, position)}: not valid JSON: ${what}`);
  }
}

function lineOf(text: string, name: string): number {
  return lineAt(text, Math.max(0, text.search(new RegExp(`"${name.replace(/[^\w]/g, "\\$&")}"\\s*:`))));
}

function lineAt(text: string, position: number): number {
  return text.slice(0, position).split("\n").length;
}
