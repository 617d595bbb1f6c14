export { DurableClient, DurableSession, DurableTurn, type DurableTurnOptions } from "./client.js";
export type { DurableDefinition, Workspace } from "./definition.js";
export { type DurableAgent, type DurableService, durable } from "./durable.js";
export { type DurableWorker, type ServeOptions, serveDurable } from "./serve.js";
