import type { FileSystem } from "@shedkit/fs";
import type { ToolConstructor, ToolImpl } from "@shedkit/tool";
import type { FileFormat } from "@shedkit/tools-files";
import { given, type Settings } from "./given.js";
import { optionalPeer } from "./optional-peer.js";

/** Settings of the file tools, by tool, as `@shedkit/tools-files` describes them. What is absent is its default. */
export interface FilesPresetOptions {
  read?:
    | Settings<{
        lineNumbers: boolean;
        maxLines: number;
        maxTokens: number;
        images: boolean;
        gitignore: boolean;
        ruleFiles: readonly string[];
        stream: boolean;
      }>
    | undefined;
  write?: Settings<{ readFirst: boolean; gitignore: boolean }> | undefined;
  edit?:
    | Settings<{
        emptyOverwrites: boolean;
        matchIndentation: boolean;
        matchLookalikes: boolean;
        snippet: boolean;
        readFirst: boolean;
        gitignore: boolean;
      }>
    | undefined;
  list?: Settings<{ maxChars: number; gitignore: boolean }> | undefined;
  /** `read` also reads PDFs, presentations and large images. Needs `@shedkit/tools-documents`. Default: false. */
  documents?: boolean | undefined;
}

/** Settings of the tools that change files in other ways, by tool. */
export interface FileChangesPresetOptions {
  multi_edit?:
    | Settings<{ matchIndentation: boolean; matchLookalikes: boolean; readFirst: boolean; gitignore: boolean }>
    | undefined;
  apply_patch?: Settings<{ matchIndentation: boolean; readFirst: boolean; gitignore: boolean }> | undefined;
  delete?: Settings<{ gitignore: boolean }> | undefined;
  move?: Settings<{ gitignore: boolean }> | undefined;
}

type Package = typeof import("@shedkit/tools-files");
type Maker<O> = readonly [
  name: string,
  make: (tools: Package, fs: FileSystem, options: O) => ToolImpl | Promise<ToolImpl>,
];

const files: readonly Maker<FilesPresetOptions>[] = [
  ["read", async (tools, fs, { read, documents }) => tools.readTool(fs, given(read), await formats(documents))],
  ["write", (tools, fs, { write }) => tools.writeTool(fs, given(write))],
  ["edit", (tools, fs, { edit }) => tools.editTool(fs, given(edit))],
  ["list", (tools, fs, { list }) => tools.listTool(fs, given(list))],
];

async function formats(documents = false): Promise<FileFormat[]> {
  if (!documents) return [];
  const { documentFormats } = await optionalPeer("@shedkit/tools-documents", () => import("@shedkit/tools-documents"));
  return documentFormats();
}

const changes: readonly Maker<FileChangesPresetOptions>[] = [
  ["multi_edit", (tools, fs, { multi_edit }) => tools.multiEditTool(fs, given(multi_edit))],
  ["apply_patch", (tools, fs, { apply_patch }) => tools.applyPatchTool(fs, given(apply_patch))],
  ["delete", (tools, fs, options) => tools.deleteTool(fs, given(options.delete))],
  ["move", (tools, fs, { move }) => tools.moveTool(fs, given(move))],
];

/** The file tools as constructors that import their package when they are asked for a tool. */
export function fileTools(fs: FileSystem, options: FilesPresetOptions): ToolConstructor[] {
  return constructors(files, fs, options);
}

/** The tools that change files in other ways than `write` and `edit`, likewise. */
export function fileChangeTools(fs: FileSystem, options: FileChangesPresetOptions): ToolConstructor[] {
  return constructors(changes, fs, options);
}

function constructors<O>(makers: readonly Maker<O>[], fs: FileSystem, options: O): ToolConstructor[] {
  const tools = () => optionalPeer("@shedkit/tools-files", () => import("@shedkit/tools-files"));
  return makers.map(([name, make]) => ({
    name,
    needsSession: false,
    construct: async () => make(await tools(), fs, options),
  }));
}
