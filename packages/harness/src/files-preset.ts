import type { FileSystem } from "@shedkit/fs";
import type { ToolConstructor, ToolImpl } from "@shedkit/tool";
import { optionalPeer } from "./optional-peer.js";

/** Settings of the file tools, by tool, as `@shedkit/tools-files` describes them. What is absent is its default. */
export interface FilesPresetOptions {
  read?:
    | { lineNumbers?: boolean | undefined; maxLines?: number | undefined; maxTokens?: number | undefined }
    | undefined;
  edit?: { emptyOverwrites?: boolean | undefined } | undefined;
  list?: { maxChars?: number | undefined } | undefined;
}

type Package = typeof import("@shedkit/tools-files");

const makers: readonly (readonly [
  name: string,
  make: (tools: Package, fs: FileSystem, options: FilesPresetOptions) => ToolImpl,
])[] = [
  ["read", (tools, fs, { read }) => tools.readTool(fs, given(read))],
  ["write", (tools, fs) => tools.writeTool(fs)],
  ["edit", (tools, fs, { edit }) => tools.editTool(fs, given(edit))],
  ["list", (tools, fs, { list }) => tools.listTool(fs, given(list))],
];

/** The file tools as constructors that import their package when they are asked for a tool. */
export function fileTools(fs: FileSystem, options: FilesPresetOptions): ToolConstructor[] {
  const tools = () => optionalPeer("@shedkit/tools-files", () => import("@shedkit/tools-files"));
  return makers.map(([name, make]) => ({
    name,
    needsSession: false,
    construct: async () => make(await tools(), fs, options),
  }));
}

/** Only what is set: an `undefined` must not hide a default. */
function given<T extends object>(settings: T | undefined): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const set = Object.entries(settings ?? {}).filter(([, value]) => value !== undefined);
  return Object.fromEntries(set) as { [K in keyof T]?: Exclude<T[K], undefined> };
}
