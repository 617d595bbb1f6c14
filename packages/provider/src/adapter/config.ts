import type { ModelDescription } from "../contract.js";
import type { RetryPolicy } from "../retry.js";
import type { Secret } from "../secret.js";
import type { RequestLimit } from "./limit.js";

/** How a cloud backend is reached. */
export interface CloudProviderConfig {
  apiKey: Secret;
  /** The name it has in a router and in messages. Default: the backend's own. */
  id?: string | undefined;
  /** Default: the provider's public API. */
  baseUrl?: string | undefined;
  /** Sent with every request. */
  headers?: { readonly [name: string]: string } | undefined;
  /** What requests go through: for a proxy, an own certificate authority, an edge runtime. Default: the global one. */
  fetch?: typeof fetch | undefined;
  /** How long a response's headers may take, in milliseconds. Default: 600,000. */
  timeoutMs?: number | undefined;
  /** How long a stream may say nothing, in milliseconds; pings do not count. Default: 90,000. */
  idleTimeoutMs?: number | undefined;
  /** Repetitions of a request that failed before its answer began. Default: 2. */
  maxRetries?: number | undefined;
  /** The other figures of the pauses between repetitions. */
  retry?: Omit<RetryPolicy, "maxRetries"> | undefined;
  /** Shared by all who are given the same object. Default: no limit. */
  limit?: RequestLimit | undefined;
  /** What is known of models, by name: over what the backend knows, or in its place. */
  models?: { readonly [model: string]: Partial<ModelDescription> } | undefined;
}
