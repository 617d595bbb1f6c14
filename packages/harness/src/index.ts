export type { AgentPresetOptions } from "./agent-preset.js";
export { Gemma4, type GgufFamily, Glm52, Qwen36 } from "./families.js";
export type { FileChangesPresetOptions, FilesPresetOptions } from "./files-preset.js";
export { HuggingFaceGgufConfig } from "./gguf-config.js";
export { ggufProvider } from "./gguf-provider.js";
export type { HashlinePresetOptions } from "./hashline-preset.js";
export type { LspPresetOptions, LspServer } from "./lsp-preset.js";
export type { ImageMaker, MediaPresetOptions, VideoMaker, VideoState } from "./media-preset.js";
export type { MemoryPresetOptions, NoteStore, NotesPresetOptions } from "./memory-preset.js";
export { registerFileTools, registerShellTool } from "./register-tools.js";
export { type ProviderSource, type RoleOptions, RouterMix } from "./router-mix.js";
export { RouterPreset } from "./router-preset.js";
export type { GlobPresetOptions, SearchFilesPresetOptions } from "./search-preset.js";
export type { ShellPresetOptions } from "./shell-preset.js";
export type { SkillFolder, SkillsPresetOptions } from "./skills-preset.js";
export type {
  AskUserPresetOptions,
  BackgroundPresetOptions,
  PlanModePresetOptions,
  SchedulesLike,
} from "./task-preset.js";
export { type StandardPresetOptions, type SubAgentPresetOptions, ToolPreset } from "./tool-preset.js";
export type { WebFetchPresetOptions, WebSearcher, WebSearchPresetOptions } from "./web-preset.js";
