export { DurableClient, DurableSession, type DurableTurnOptions, type FollowOptions } from "./client.js";
export type { DurableDefinition, Workspace } from "./definition.js";
export { type DurableAgent, type DurableService, durable, durableClient } from "./durable.js";
export { type DurableWorker, type ServeOptions, serveDurable } from "./serve.js";
export { DurableTurn } from "./turn.js";
