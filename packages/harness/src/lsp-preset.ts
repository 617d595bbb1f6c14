import type { FileSystem } from "@shedkit/fs";
import type { ToolConstructor } from "@shedkit/tool";
import type { LanguageServers } from "@shedkit/tools-lsp";
import type { JsonValue } from "@shedkit/types";
import { given, type Settings } from "./given.js";
import { lazyReminder } from "./lazy-reminder.js";
import { optionalPeer } from "./optional-peer.js";

/** A language server, as `@shedkit/tools-lsp` describes it. */
export interface LspServer {
  command: string;
  args?: readonly string[] | undefined;
  /** Endings of file names, and what the protocol calls the language: `{ ".rs": "rust" }`. */
  languages: { readonly [ending: string]: string };
  env?: { readonly [name: string]: string } | undefined;
  initializationOptions?: JsonValue | undefined;
  settings?: { readonly [section: string]: JsonValue } | undefined;
}

/** Settings of `lsp` and its servers, likewise. What is absent is its default. */
export interface LspPresetOptions extends Settings<{ maxResults: number; diagnosticsMs: number }> {
  /** The variables that servers see; those that look like secrets are left out. Default: `process.env`. */
  env?: { readonly [name: string]: string | undefined } | undefined;
  /** How long a server may take to start, in milliseconds. Default: 15,000. */
  startTimeoutMs?: number | undefined;
  /** How long it may take to answer, in milliseconds. Default: 30,000. */
  requestTimeoutMs?: number | undefined;
  /** How long it is waited for at its end before it is killed, in milliseconds. Default: 2,000. */
  graceMs?: number | undefined;
}

/** `lsp` over the language servers of a folder, as a constructor that imports its package and brings its reminder. */
export function lspTools(
  fs: FileSystem,
  servers: { readonly [name: string]: LspServer },
  { maxResults, diagnosticsMs, ...process }: LspPresetOptions,
): ToolConstructor[] {
  const tools = () => optionalPeer("@shedkit/tools-lsp", () => import("@shedkit/tools-lsp"));
  let made: Promise<LanguageServers> | undefined;
  // The tool and its reminder speak of the same servers.
  const all = () => {
    made ??= tools().then(({ LanguageServers }) => new LanguageServers(fs, servers, process));
    return made;
  };
  const construct = async () => (await tools()).lspTool(await all(), given({ maxResults, diagnosticsMs }));
  const told = { id: "lsp_diagnostics", requires: { kind: "lsp" } };
  const reminder = lazyReminder(told, async () => (await tools()).diagnosticsReminder(await all()));
  return [{ name: "lsp", needsSession: false, reminders: [reminder], construct }];
}
