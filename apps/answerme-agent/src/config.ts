import { readFile } from "node:fs/promises";
import path from "node:path";
import { UsageError } from "./exit.js";
import { lineAt, lineOf } from "./json-place.js";
import {
  type McpEntry,
  type PermissionLists,
  SETTINGS,
  type Settings,
  type Sourced,
  type ToolGroups,
} from "./settings.js";

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
 * user's file, the default. MCP servers are those of both files, by name, and so are rules; a group of tools is off where
 * one of them says so. Throws UsageError naming file, line, field and what was expected.
 */
export async function loadSettings({ flags, env, root, home }: ConfigSources): Promise<Sourced<Settings>> {
  const project = await readConfig(path.join(root, CONFIG_FILE));
  const user = await readConfig(path.join(userFolder(env, home), CONFIG_FILE));
  const loosened = project?.get("permission");
  if (loosened?.value === "allow") {
    throw new UsageError(
      `${loosened.from}: "permission": "allow" does not count in a project's file, since a project must not permit ` +
        "itself; put it into your own file, or use --yes",
    );
  }
  const allowed = (project?.get("permissions")?.value as PermissionLists | undefined)?.allow;
  if (allowed?.length) {
    throw new UsageError(
      `${project?.get("permissions")?.fromOf("allow")}: "permissions.allow" does not count in a project's file, since a project ` +
        "must not permit itself; put it into your own file",
    );
  }
  const services = project?.get("services");
  if (services !== undefined) {
    throw new UsageError(
      `${services.from}: "services" does not count in a project's file, since a project must not say where your keys go; ` +
        "put it into your own file",
    );
  }
  const of = async <K extends "model" | "permission" | "maxSteps" | "keepSessions" | "toolSet" | "services">(
    name: K,
    fallback: Settings[K],
  ): Promise<Found<Settings[K]>> => {
    const found: Found<Settings[K]> | undefined =
      flags[name] ?? (await fromEnv(env, name)) ?? valueIn(project, name) ?? valueIn(user, name);
    return found ?? { value: fallback, from: "default" };
  };
  return {
    model: await of("model", null),
    permission: await of("permission", "ask"),
    permissions: rulesOf(user, project),
    maxSteps: await of("maxSteps", null),
    keepSessions: await of("keepSessions", true),
    tools: toolsOf(project, user),
    toolSet: await of("toolSet", null),
    services: await of("services", {}),
    mcpServers: serversOf(project, user),
  };
}

/** Where a person's own settings, skills and notes are. */
export function userFolder(env: ConfigSources["env"], home: string): string {
  return path.join(env.XDG_CONFIG_HOME || (env.APPDATA ?? path.join(home, ".config")), "answerme");
}

interface Found<T> {
  value: T;
  from: string;
}

interface InFile extends Found<unknown> {
  /** Where a part of it stands. */
  fromOf(part: string): string;
}
type ConfigFile = ReadonlyMap<string, InFile>;

/** A value that its setting has accepted. */
function valueIn<K extends keyof Settings>(file: ConfigFile | undefined, name: K): Found<Settings[K]> | undefined {
  const found = file?.get(name);
  return found && { value: found.value as Settings[K], from: found.from };
}

/** What one file switches off, the other does not switch on: a project must not permit itself. */
function toolsOf(...files: readonly (ConfigFile | undefined)[]): Sourced<Settings>["tools"] {
  const found = files.flatMap((file) => file?.get("tools") ?? []);
  const off = found.flatMap(({ value }) =>
    Object.entries(value as ToolGroups).flatMap(([group, on]) => (on ? [] : [[group, false] as const])),
  );
  return { value: Object.fromEntries(off), from: fromAll(found) };
}

/** What both files say. */
function rulesOf(...files: readonly (ConfigFile | undefined)[]): Sourced<Settings>["permissions"] {
  const found = files.flatMap((file) => file?.get("permissions") ?? []);
  const lists = found.map(({ value }) => value as PermissionLists);
  const all = (name: keyof PermissionLists) => {
    const rules = lists.flatMap((list) => list[name] ?? []);
    return rules.length === 0 ? {} : { [name]: rules };
  };
  return { value: { ...all("allow"), ...all("ask"), ...all("deny") }, from: fromAll(found) };
}

function serversOf(project: ConfigFile | undefined, user: ConfigFile | undefined): Sourced<Settings>["mcpServers"] {
  const found = [user, project].flatMap((file) => file?.get("mcpServers") ?? []);
  const servers = new Map<string, McpEntry>();
  for (const { value, fromOf } of found) {
    const inProject = value === project?.get("mcpServers")?.value;
    for (const [name, config] of Object.entries(value as object)) {
      servers.set(name, { name, config, from: fromOf(name), inProject });
    }
  }
  return { value: [...servers.values()], from: fromAll(found) };
}

function fromAll(found: readonly InFile[]): string {
  return found.map(({ from }) => from).join(" and ") || "default";
}

async function fromEnv(env: ConfigSources["env"], name: keyof Settings) {
  const setting = SETTINGS[name];
  const text = setting.env === undefined ? undefined : env[setting.env]?.trim();
  if (setting.env === undefined || text === undefined || text === "") return undefined;
  const value = setting.parse === undefined ? text : setting.parse(text);
  const fault = await setting.fault(value);
  if (fault !== undefined) throw new UsageError(`${setting.env} is "${text}"; wanted: ${fault.wanted}`);
  return { value: value as never, from: setting.env };
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
  const settings = new Map<string, InFile>();
  for (const [name, value] of Object.entries(values)) {
    const from = (...parts: string[]) => `${file}:${lineOf(text, [name, ...parts])}`;
    if (name === "$schema") continue;
    if (!Object.hasOwn(SETTINGS, name)) {
      throw new UsageError(`${from()}: there is no setting "${name}"; there are ${Object.keys(SETTINGS).join(", ")}`);
    }
    const fault = await SETTINGS[name as keyof Settings].fault(value);
    if (fault !== undefined) {
      const field = [name, ...fault.path].join(".");
      const got = fault.got === undefined ? "not there" : JSON.stringify(fault.got);
      throw new UsageError(`${from(...fault.path)}: "${field}" is ${got}; wanted: ${fault.wanted}`);
    }
    settings.set(name, { value, from: from(), fromOf: (part) => from(part) });
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
