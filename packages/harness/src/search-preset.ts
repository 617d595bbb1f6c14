import type { FileSystem } from "@shedkit/fs";
import { type ToolConstructor, toolFn } from "@shedkit/tool";
import type { FileFinder } from "@shedkit/tools-search";
import { given, type Settings } from "./given.js";
import { optionalPeer } from "./optional-peer.js";
import { realFolder } from "./real-folder.js";

/** Settings of `search_file`, as `@shedkit/tools-search` describes them. What is absent is its default. */
export type SearchFilesPresetOptions = Settings<{ timeoutMs: number; maxFileBytes: number; stream: boolean }>;

/** Settings of `glob`, as `@shedkit/tools-search` describes them. What is absent is its default. */
export type GlobPresetOptions = Settings<{ limit: number; hidden: boolean; timeoutMs: number }>;

const name = "@shedkit/tools-search";
const tools = () => optionalPeer(name, () => import("@shedkit/tools-search"));

/** `search_file`, as a constructor that imports its package; in a real folder with ripgrep, where that is installed. */
export function searchFileTools(fs: FileSystem, options: SearchFilesPresetOptions): ToolConstructor[] {
  const construct = async () => {
    const { searchFileTool } = await tools();
    return searchFileTool(fs, { ...given(options), ...(await finderIn(fs)) });
  };
  return [{ name: "search_file", needsSession: false, construct }];
}

/** `glob`, likewise. */
export function globTools(fs: FileSystem, options: GlobPresetOptions): ToolConstructor[] {
  const construct = async () => {
    const { globTool } = await tools();
    return globTool(fs, { ...given(options), ...(await finderIn(fs)) });
  };
  return [{ name: "glob", needsSession: false, construct }];
}

async function finderIn(fs: FileSystem): Promise<{ finder?: FileFinder | undefined }> {
  const root = realFolder(fs);
  if (root === undefined) return {};
  const { ripgrep } = await optionalPeer(name, () => import("@shedkit/tools-search/node"));
  return { finder: await ripgrep(root) };
}

/** `search_context` over the session's own context. */
export function searchContextTools(): ToolConstructor[] {
  return [toolFn("search_context", async ({ context }) => (await tools()).searchContextTool(context))];
}
