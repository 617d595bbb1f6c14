import { isSecretVariable } from "@shedkit/tool";
import type { JsonValue } from "@shedkit/types";

/** A program that speaks the Language Server Protocol over its standard input and output. */
export interface LanguageServer {
  /** The program, e.g. `typescript-language-server`. */
  command: string;
  /** Default: none. Most servers want `--stdio`. */
  args?: readonly string[] | undefined;
  /** Which files are its: the endings of their names, and what the protocol calls the language, e.g. `{ ".rs": "rust" }`. */
  languages: { readonly [ending: string]: string };
  /** Variables for the process, beside those of {@link LanguageServersOptions.env}. Default: none. */
  env?: { readonly [name: string]: string } | undefined;
  /** What the server wants to know at its start; its documentation says what. Default: nothing. */
  initializationOptions?: JsonValue | undefined;
  /** What it is told when it asks for its configuration, by section. Default: nothing. */
  settings?: { readonly [section: string]: JsonValue } | undefined;
}

/** Settings of all language servers of one folder. */
export interface LanguageServersOptions {
  /** The variables that servers see; those that look like secrets, by their names or as URLs with passwords, are left out. Default: `process.env`. */
  env?: { readonly [name: string]: string | undefined } | undefined;
  /** How long a server may take to start, in milliseconds. Default: 15,000. */
  startTimeoutMs?: number | undefined;
  /** How long it may take to answer, in milliseconds. Default: 30,000. */
  requestTimeoutMs?: number | undefined;
  /** How long it is waited for at its end before it is killed, in milliseconds. Default: 2,000. */
  graceMs?: number | undefined;
  /** A clock in milliseconds, for the pauses after crashes. Default: the machine's. */
  now?: (() => number) | undefined;
}

/** The settings, whole. */
export type Settings = { readonly [name in keyof LanguageServersOptions]-?: NonNullable<LanguageServersOptions[name]> };

export function settingsOf(options: LanguageServersOptions): Settings {
  return {
    env: options.env ?? process.env,
    startTimeoutMs: options.startTimeoutMs ?? 15_000,
    requestTimeoutMs: options.requestTimeoutMs ?? 30_000,
    graceMs: options.graceMs ?? 2000,
    now: options.now ?? (() => performance.now()),
  };
}

/** A language server may run what a project brings (plugins, build scripts): it sees no secrets. */
export function environmentOf(server: LanguageServer, env: Settings["env"]): { [name: string]: string } {
  const seen = Object.entries(env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !isHidden(entry[0], entry[1]),
  );
  return { ...Object.fromEntries(seen), ...server.env };
}

/** Bash functions stand in the environment too, and may hold anything. */
function isHidden(name: string, value: string): boolean {
  return name.startsWith("BASH_FUNC_") || isSecretVariable(name, value);
}
