import type { FileSystem } from "@shedkit/fs";
import type { ToolConstructor } from "@shedkit/tool";
import { given, type Settings } from "./given.js";
import { optionalPeer } from "./optional-peer.js";
import { realFolder } from "./real-folder.js";

/** Settings of the tools, by tool, as `@shedkit/tools-hashline` describes them. What is absent is its default. */
export interface HashlinePresetOptions {
  /** How many letters the hashes have that are shown: 2 to 8. */
  hashLength?: number | undefined;
  read?: Settings<{ maxLines: number; maxTokens: number; images: boolean; gitignore: boolean }> | undefined;
  grep?: Settings<{ timeoutMs: number; maxFileBytes: number }> | undefined;
  edit?: Settings<{ readFirst: boolean; gitignore: boolean }> | undefined;
}

const tools = () => optionalPeer("@shedkit/tools-hashline", () => import("@shedkit/tools-hashline"));

/** The tools, as constructors that import their package; in a real folder with ripgrep, where that is installed. */
export function hashlineTools(
  fs: FileSystem,
  { hashLength, read, grep, edit }: HashlinePresetOptions,
): ToolConstructor[] {
  const all = given({ hashLength });
  return [
    {
      name: "hashline_read",
      needsSession: false,
      construct: async () => (await tools()).hashlineReadTool(fs, { ...all, ...given(read) }),
    },
    {
      name: "hashline_grep",
      needsSession: false,
      construct: async () => {
        const { hashlineGrepTool } = await tools();
        return hashlineGrepTool(fs, { ...all, ...given(grep), finder: await finderFor(fs) });
      },
    },
    {
      name: "hashline_edit",
      needsSession: false,
      construct: async () => (await tools()).hashlineEditTool(fs, { ...all, ...given(edit) }),
    },
  ];
}

/** `@shedkit/tools-search` comes with the tools. */
async function finderFor(fs: FileSystem) {
  const root = realFolder(fs);
  if (root === undefined) return undefined;
  const { ripgrep } = await optionalPeer("@shedkit/tools-search", () => import("@shedkit/tools-search/node"));
  return ripgrep(root);
}
