export type { FilesPresetOptions } from "./files-preset.js";
export { HuggingFaceGgufConfig } from "./gguf-config.js";
export { ggufProvider } from "./gguf-provider.js";
export { type ProviderSource, RouterMix } from "./router-mix.js";
export { RouterPreset } from "./router-preset.js";
export { ToolPreset } from "./tool-preset.js";
