export type {
  ModelDescription,
  ModelEvent,
  ModelParams,
  ModelPrice,
  ModelProvider,
  ModelRequest,
  TokenRates,
} from "./contract.js";
export {
  cancelledFailure,
  type FailureContext,
  type FailureFacts,
  responseFailure,
  retryAfterMs,
  thrownFailure,
} from "./failure.js";
export { isOverflowText } from "./overflow.js";
export { delay, type RetryPolicy, retryDelay } from "./retry.js";
export { ProviderRouter, ProviderRouterBuilder, type Route } from "./router.js";
export { type Environment, Secret } from "./secret.js";
export type { ModelPreset, ModelSelection } from "./selection.js";
