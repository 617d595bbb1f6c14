export {
  type McpEndpoint,
  type McpHttpConfig,
  type McpProcess,
  type McpProcessConfig,
  type McpServerSettings,
  type McpServersConfig,
  type ParseMcpOptions,
  parseMcpServers,
} from "./config.js";
export type { McpServerState } from "./connection.js";
export type { LinkOptions, McpLink, SpawnServer } from "./link.js";
export type { McpPrompt, McpPromptMessage } from "./prompts.js";
export { type McpEvent, type McpOptions, type McpServerStatus, McpServers } from "./servers.js";
export type { Sleep } from "./wait.js";
