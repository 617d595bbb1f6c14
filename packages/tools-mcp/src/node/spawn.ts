import process from "node:process";
import type { McpProcess } from "../config.js";
import type { McpLink, SpawnServer } from "../link.js";
import { ProcessTransport } from "./process-transport.js";

/** What a server's process is started with. */
export interface SpawnOptions {
  /** Where the few variables come from that a process gets anyway. Default: this process's own. */
  environment?: { readonly [name: string]: string | undefined } | undefined;
  /** How long a process is waited for at its end before it is killed, in milliseconds. Default: 2,000. */
  graceMs?: number | undefined;
}

/** What a program needs to run at all; no key is among it. */
const PASSED_ON =
  process.platform === "win32"
    ? [
        "APPDATA",
        "COMSPEC",
        "HOMEDRIVE",
        "HOMEPATH",
        "LOCALAPPDATA",
        "PATH",
        "PATHEXT",
        "PROGRAMDATA",
        "PROGRAMFILES",
        "SYSTEMDRIVE",
        "SYSTEMROOT",
        "TEMP",
        "TMP",
        "USERNAME",
        "USERPROFILE",
        "WINDIR",
      ]
    : ["HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER"];

/** Starts MCP servers as processes, each in a process group of its own, with nearly nothing of our environment. */
export const spawnServer: SpawnServer = spawnWith();

/** As {@link spawnServer}, with other settings. */
export function spawnWith({ environment = process.env, graceMs }: SpawnOptions = {}): SpawnServer {
  return (server, name): McpLink => {
    const transport = new ProcessTransport(name, server, environmentOf(server, environment), graceMs);
    return { transport, describeEnd: () => transport.describeEnd() };
  };
}

function environmentOf(
  { env }: McpProcess,
  outer: { readonly [name: string]: string | undefined },
): { [name: string]: string } {
  const passed = Object.entries(outer).flatMap(([key, value]): [string, string][] => {
    const known = PASSED_ON.includes(process.platform === "win32" ? key.toUpperCase() : key);
    // A shell function of an old bash.
    return known && value !== undefined && !value.startsWith("()") ? [[key, value]] : [];
  });
  const own = Object.entries(env).map(([key, value]): [string, string] => [key, value === "" ? "" : value.reveal()]);
  return Object.fromEntries([...passed, ...own]);
}
