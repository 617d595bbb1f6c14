export type { LanguageServer, LanguageServersOptions } from "./config.js";
export { type LspInput, type LspOutput, type LspParams, lspTool } from "./lsp.js";
export { diagnosticsReminder } from "./reminder.js";
export { LanguageServers } from "./servers.js";
