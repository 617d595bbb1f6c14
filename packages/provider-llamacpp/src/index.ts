export type { LlamaCppOptions, ModelResolver } from "./options.js";
export { LlamaCppProvider } from "./provider.js";
