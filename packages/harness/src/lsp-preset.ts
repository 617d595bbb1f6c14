import type { FileSystem } from "@shedkit/fs";
import type { ToolConstructor } from "@shedkit/tool";
import type { JsonValue } from "@shedkit/types";
import { given, type Settings } from "./given.js";
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

/** `lsp` over the language servers of a folder, as a constructor that imports its package. */
export function lspTools(
  fs: FileSystem,
  servers: { readonly [name: string]: LspServer },
  options: LspPresetOptions,
): ToolConstructor[] {
  const construct = async () => {
    const { LanguageServers, lspTool } = await optionalPeer("@shedkit/tools-lsp", () => import("@shedkit/tools-lsp"));
    return lspTool(new LanguageServers(fs, servers), given(options));
  };
  return [{ name: "lsp", needsSession: false, construct }];
}
