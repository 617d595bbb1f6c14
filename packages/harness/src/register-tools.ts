import type { FileSystem } from "@shedkit/fs";
import type { ToolCallManager } from "@shedkit/shed";
import type { FilesPresetOptions } from "./files-preset.js";
import type { ShellPresetOptions } from "./shell-preset.js";
import { ToolPreset } from "./tool-preset.js";

/** Adds `read`, `write`, `edit` and `list` over a file system to a running session. */
export function registerFileTools(
  manager: ToolCallManager,
  fs: FileSystem,
  options: FilesPresetOptions = {},
): Promise<void> {
  return ToolPreset.files(fs, options).registerAll(manager);
}

/** Adds `bash`, with what looks after its background tasks, to a running session. */
export function registerShellTool(manager: ToolCallManager, options: ShellPresetOptions = {}): Promise<void> {
  return ToolPreset.shell(options).registerAll(manager);
}
