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

/** Settings of `lsp`. What is absent is its default. */
export type LspPresetOptions = Settings<{ maxResults: number; diagnosticsMs: number }>;

/** `lsp` over the language servers of a folder, as a constructor that imports its package and brings its reminder. */
export function lspTools(
  fs: FileSystem,
  servers: { readonly [name: string]: LspServer },
  options: LspPresetOptions,
): ToolConstructor[] {
  const tools = () => optionalPeer("@shedkit/tools-lsp", () => import("@shedkit/tools-lsp"));
  let made: Promise<LanguageServers> | undefined;
  // The tool and its reminder speak of the same servers.
  const all = () => {
    made ??= tools().then(({ LanguageServers }) => new LanguageServers(fs, servers));
    return made;
  };
  const construct = async () => (await tools()).lspTool(await all(), given(options));
  const told = { id: "lsp_diagnostics", requires: { kind: "lsp" } };
  const reminder = lazyReminder(told, async () => (await tools()).diagnosticsReminder(await all()));
  return [{ name: "lsp", needsSession: false, reminders: [reminder], construct }];
}
