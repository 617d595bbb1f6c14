export {
  newToken,
  type OpenRequest,
  type PageFiles,
  type ServedModel,
  type ServerLimits,
  type ServerOptions,
} from "./options.js";
export { type AgentServer, createServer } from "./server.js";
