import type { FileSystem } from "@shedkit/fs";
import type { ToolImpl } from "@shedkit/tool";
import { type HashlineEditParams, hashlineEditTool } from "./edit.js";
import { type HashlineGrepOptions, hashlineGrepTool } from "./grep.js";
import { type HashlineReadParams, hashlineReadTool } from "./read.js";

/** Settings of the tools, by name; what is left out is as the tool's own default. */
export interface HashlineToolsOptions {
  /** How many letters the hashes have that they show: 2 to 8. Default: 3. */
  hashLength?: number | undefined;
  read?: Partial<HashlineReadParams> | undefined;
  grep?: HashlineGrepOptions | undefined;
  edit?: Partial<HashlineEditParams> | undefined;
}

/** `hashline_read`, `hashline_grep` and `hashline_edit` over one file system. */
export function hashlineTools(fs: FileSystem, options: HashlineToolsOptions = {}): ToolImpl[] {
  const all = options.hashLength === undefined ? {} : { hashLength: options.hashLength };
  return [
    hashlineReadTool(fs, { ...all, ...options.read }),
    hashlineGrepTool(fs, { ...all, ...options.grep }),
    hashlineEditTool(fs, { ...all, ...options.edit }),
  ];
}
